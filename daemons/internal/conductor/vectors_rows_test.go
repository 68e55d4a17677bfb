package conductor_test

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tables are rows by table, as recorded or as read from SQLite.
type tables map[string][]map[string]any

// tableOrder is that of the foreign keys.
var tableOrder = []string{"devices", "controlpath_ids", "deployables", "attributes", "attach_handles", "device_profiles", "extended_accelerator_requests"}

func (ts tables) clone() tables {
	out := tables{}
	for name, rows := range ts {
		for _, r := range rows {
			out[name] = append(out[name], maps.Clone(r))
		}
	}
	return out
}

func (ts tables) load(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range tableOrder {
		for _, row := range ts[table] {
			names := slices.Sorted(maps.Keys(row))
			args := make([]any, len(names))
			for i, n := range names {
				if args[i] = row[n]; strings.HasSuffix(n, "_at") && row[n] != nil {
					args[i] = fmt.Sprint(row[n]) + ".000000"
				}
			}
			q := "INSERT INTO `" + table + "` (`" + strings.Join(names, "`, `") + "`) VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
			if _, err := db.ExecContext(t.Context(), q, args...); err != nil {
				t.Fatalf("%s: %v: %v", table, row, err)
			}
		}
	}
}

func dumpRows(t *testing.T, db *sql.DB) tables {
	t.Helper()
	out := tables{}
	for _, table := range tableOrder {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM `"+table+"` ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			row := map[string]any{}
			for i, n := range names {
				row[n] = values[i]
			}
			out[table] = append(out[table], row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// plain writes a column's value so that a recorded number and a scanned one are the same.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		return fmt.Sprint(int64(v))
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// uuids are all of the rows.
func (ts tables) uuids() map[string]bool {
	known := map[string]bool{}
	for _, rows := range ts {
		for _, r := range rows {
			known[plain(r["uuid"])] = true
		}
	}
	return known
}

// lines writes one line for each row, without ids and times; a UUID that was not there before is "new".
func (ts tables) lines(before map[string]bool) (lines []string) {
	uuid := func(r map[string]any) string {
		if id := plain(r["uuid"]); before[id] {
			return id
		}
		return "new"
	}
	columns := func(r map[string]any, names ...string) string {
		parts := make([]string, len(names))
		for i, n := range names {
			parts[i] = n + "=" + plain(r[n])
		}
		return strings.Join(parts, " ")
	}
	hosts, names, infos, profiles := map[string]string{}, map[string]string{"NULL": "NULL"}, map[string]string{"NULL": "NULL"}, map[string]string{}
	for _, d := range ts["devices"] {
		hosts[plain(d["id"])] = plain(d["hostname"])
	}
	for _, p := range ts["deployables"] {
		names[plain(p["id"])] = plain(p["name"]) + "@" + hosts[plain(p["device_id"])]
	}
	for _, p := range ts["device_profiles"] {
		profiles[plain(p["id"])] = plain(p["name"])
		lines = append(lines, fmt.Sprintf("profile %s: %s uuid=%s", plain(p["name"]), columns(p, "profile_json", "description"), uuid(p)))
	}
	devices := map[string]string{}
	for _, d := range ts["devices"] {
		devices[plain(d["id"])] = columns(d, "type", "vendor", "model", "std_board_info", "vendor_board_info", "status", "device_state") + " uuid=" + uuid(d)
	}
	for _, c := range ts["controlpath_ids"] {
		id := plain(c["device_id"])
		lines = append(lines, fmt.Sprintf("device %s %s: %s; control path %s uuid=%s", hosts[id], plain(c["cpid_info"]), devices[id], plain(c["cpid_type"]), uuid(c)))
	}
	for _, p := range ts["deployables"] {
		lines = append(lines, fmt.Sprintf("deployable %s: %s uuid=%s", names[plain(p["id"])],
			columns(p, "num_accelerators", "rp_uuid", "driver_name", "bitstream_id", "parent_id", "root_id"), uuid(p)))
	}
	for _, a := range ts["attributes"] {
		lines = append(lines, fmt.Sprintf("attribute %s %s: %s uuid=%s", names[plain(a["deployable_id"])], plain(a["key"]), plain(a["value"]), uuid(a)))
	}
	for _, h := range ts["attach_handles"] {
		infos[plain(h["id"])] = plain(h["attach_info"])
		lines = append(lines, fmt.Sprintf("handle %s %s: %s uuid=%s", names[plain(h["deployable_id"])], plain(h["attach_info"]), columns(h, "attach_type", "in_use"), uuid(h)))
	}
	for _, q := range ts["extended_accelerator_requests"] {
		lines = append(lines, fmt.Sprintf("arq %s: %s profile=%s deployable=%s handle=%s", uuid(q),
			columns(q, "state", "hostname", "device_rp_uuid", "instance_uuid", "project_id", "device_profile_group_id", "substate"),
			profiles[plain(q["device_profile_id"])], names[plain(q["deployable_id"])], infos[plain(q["attach_handle_id"])]))
	}
	slices.Sort(lines)
	return lines
}

// sameChoice renames handles in got so that a bind took those that the peer took, and the first free ones beyond: which
// of several free handles a bind takes is nobody's promise.
func sameChoice(before, want, got tables) {
	inUse := func(ts tables) map[string]bool {
		taken := map[string]bool{}
		for _, h := range ts["attach_handles"] {
			taken[plain(h["id"])] = plain(h["in_use"]) == "1"
		}
		return taken
	}
	theirs, ours := inUse(want), inUse(got)
	free := map[string][]string{}
	for _, h := range before["attach_handles"] {
		if plain(h["in_use"]) != "1" {
			free[plain(h["deployable_id"])] = append(free[plain(h["deployable_id"])], plain(h["id"]))
		}
	}
	swap := map[string]string{}
	for _, ids := range free {
		var taken []string
		for _, id := range ids {
			if ours[id] {
				taken = append(taken, id)
			}
		}
		slices.SortStableFunc(ids, func(a, b string) int {
			switch {
			case theirs[a] == theirs[b]:
				return 0
			case theirs[a]:
				return -1
			}
			return 1
		})
		chosen := ids[:len(taken)]
		wrong := slices.DeleteFunc(slices.Clone(taken), func(id string) bool { return slices.Contains(chosen, id) })
		right := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(taken, id) })
		for i := range wrong {
			swap[wrong[i]], swap[right[i]] = right[i], wrong[i]
		}
	}
	for _, h := range got["attach_handles"] {
		if other, ok := swap[plain(h["id"])]; ok {
			h["in_use"] = ours[other]
		}
	}
	for _, q := range got["extended_accelerator_requests"] {
		if other, ok := swap[plain(q["attach_handle_id"])]; ok {
			q["attach_handle_id"] = other
		}
	}
}
