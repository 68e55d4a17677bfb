package conductor_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// rows are those before and after a step.
func (f *flow) rows(t *testing.T, i int) (before, after tables) {
	t.Helper()
	if f.steps[i].Rows != nil {
		return f.reportRows(i)
	}
	after = f.requestRows(i)
	if i > 0 {
		before = f.requestRows(i - 1)
	} else {
		before = f.requestRows(0)
		before["extended_accelerator_requests"] = nil
		for _, h := range before["attach_handles"] {
			h["in_use"] = 0
		}
		if f.steps[i].Profiles != nil {
			before["device_profiles"] = nil
		}
	}
	if f.steps[i].Profiles == nil && f.file != "arq_flow" {
		before["device_profiles"] = after["device_profiles"]
	}
	if again := regexp.MustCompile("agent_error|not_found|dashes"); again.MatchString(f.steps[i].Step) {
		for _, ts := range []tables{before, after} { // the recorder had cleared it
			for _, p := range ts["deployables"] {
				p["bitstream_id"] = nil
			}
		}
	}
	if !strings.HasPrefix(f.steps[i].Step, "arq_create") {
		f.unbound(before, after)
	}
	return before, after
}

// unbound adds to before the requests that a step created itself before it bound them.
func (f *flow) unbound(before, after tables) {
	const table = "extended_accelerator_requests"
	for _, q := range after[table] {
		if slices.ContainsFunc(before[table], func(p map[string]any) bool { return p["uuid"] == q["uuid"] }) {
			continue
		}
		fresh := maps.Clone(q)
		fresh["state"] = "Initial"
		for _, column := range []string{"hostname", "device_rp_uuid", "instance_uuid", "attach_handle_id", "deployable_id", "updated_at"} {
			fresh[column] = nil
		}
		before[table] = append(before[table], fresh)
	}
}

// requestRows completes what a step recorded: devices and deployables are known by a few columns only.
func (f *flow) requestRows(i int) tables {
	s := &f.steps[i]
	at := func(id any) string { return fmt.Sprintf("00000000-0000-4000-8000-%012v", plain(id)) }
	ts := tables{"extended_accelerator_requests": cloneRows(s.Requests), "attach_handles": cloneRows(s.Handles), "deployables": f.offers(i)}
	for _, d := range s.Devices {
		ts["devices"] = append(ts["devices"], map[string]any{
			"id": d["id"], "uuid": at(d["id"]), "type": "FPGA", "vendor": "0xABCD", "model": "m1", "std_board_info": "{}", "vendor_board_info": "vb",
			"hostname": "h4host", "status": "enabled", "device_state": d["device_state"], "created_at": recordedAt,
		})
	}
	for _, p := range ts["deployables"] {
		id, bus := p["id"], ""
		for _, h := range ts["attach_handles"] {
			if plain(h["deployable_id"]) == plain(id) {
				h["cpid_id"] = p["device_id"]
				bus = busOf.FindStringSubmatch(plain(h["attach_info"]))[1]
			}
		}
		ts["controlpath_ids"] = append(ts["controlpath_ids"], map[string]any{
			"id": p["device_id"], "uuid": at("1" + plain(p["device_id"])), "device_id": p["device_id"], "cpid_type": "PCI",
			"cpid_info": `{"bus": "` + bus + `", "device": "00", "domain": "0000", "function": "0"}`, "created_at": recordedAt,
		})
		for k, a := range attributesOf[f.file] {
			n := plain(id) + fmt.Sprint(k)
			ts["attributes"] = append(ts["attributes"], map[string]any{
				"id": n, "uuid": at("2" + n), "deployable_id": id, "key": a[0], "value": a[1], "created_at": recordedAt,
			})
		}
	}
	ts["device_profiles"] = f.profiles(i)
	return ts
}

const recordedAt = "2026-11-29 13:00:00"

var (
	busOf        = regexp.MustCompile(`"bus": "(\w+)"`)
	attributesOf = map[string][][2]string{
		"arq_flow":  {{"trait0", "CUSTOM_A"}, {"trait1", "CUSTOM_B"}, {"rc", "CUSTOM_TEST"}},
		"fpga_flow": {{"trait0", "CUSTOM_A"}, {"rc", "FPGA"}},
		"mdev_flow": {{"trait0", "CUSTOM_A"}, {"rc", "VGPU"}},
	}
)

func cloneRows(rows []map[string]any) (out []map[string]any) {
	for _, r := range rows {
		out = append(out, maps.Clone(r))
	}
	return out
}

// offers are the deployables at a step: as recorded there or later, and by the handles and requests that name them
// where no step recorded them.
func (f *flow) offers(i int) (out []map[string]any) {
	recorded := map[string]map[string]any{}
	for j := range f.steps {
		for _, p := range f.steps[j].Offers {
			p = maps.Clone(p)
			if j > i {
				p["bitstream_id"] = nil
			}
			if _, known := recorded[plain(p["id"])]; !known || j <= i {
				recorded[plain(p["id"])] = p
			}
		}
	}
	var ids []string
	count := map[string]int{}
	for _, h := range f.steps[i].Handles {
		id := plain(h["deployable_id"])
		if count[id]++; count[id] == 1 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for n, id := range ids {
		p := recorded[id]
		if p == nil {
			p = map[string]any{
				"id": id, "uuid": fmt.Sprintf("00000000-0000-4000-9000-%012s", id), "name": "h4host_" + id, "num_accelerators": count[id],
				"device_id": f.steps[i].Devices[n]["id"], "rp_uuid": f.provider(id), "driver_name": "fake", "created_at": recordedAt,
			}
		}
		out = append(out, p)
	}
	return out
}

// provider is the offer of a deployable by the requests bound to it.
func (f *flow) provider(id string) any {
	for j := range f.steps {
		for _, q := range f.steps[j].Requests {
			if plain(q["deployable_id"]) == id && q["device_rp_uuid"] != nil {
				return q["device_rp_uuid"]
			}
		}
	}
	return nil
}

// profiles are the device profiles at a step. Only one flow recorded the row; of the others the step says what was
// asked for.
func (f *flow) profiles(i int) (out []map[string]any) {
	step := f.steps[i].Step
	if f.file == "arq_flow" {
		if step == "device_profile_delete" {
			return nil
		}
		return cloneRows(f.steps[0].Profiles)
	}
	groups := `{"resources:FPGA": "1", "accel:bitstream_id": "b5f0e0a0-0000-0000-0000-000000000001"}`
	switch {
	case strings.Contains(step, "no_programming"):
		groups = `{"resources:FPGA": "1"}`
	case strings.Contains(step, "both_ids"):
		groups = `{"resources:FPGA": "1", "accel:bitstream_id": "b", "accel:function_id": "f"}`
	case strings.Contains(step, "no_resources"):
		groups = `{"trait:CUSTOM_A": "required"}`
	case strings.HasPrefix(step, "mdev"):
		groups = `{"resources:VGPU": "1"}`
	}
	seen := map[string]bool{}
	for j := range f.steps {
		for _, q := range f.steps[j].Requests {
			if id := plain(q["device_profile_id"]); !seen[id] {
				seen[id] = true
				out = append(out, map[string]any{
					"id": id, "uuid": fmt.Sprintf("00000000-0000-4000-a000-%012s", id), "name": "p" + id,
					"profile_json": `{"groups": [` + groups + `]}`, "created_at": recordedAt,
				})
			}
		}
	}
	return out
}

// offerAll puts the deployables into Placement.
func offerAll(t *testing.T, h *placementtest.Handler, ts tables) {
	t.Helper()
	for _, p := range ts["deployables"] {
		id, class, traits := plain(p["rp_uuid"]), "", []string{}
		if p["rp_uuid"] == nil || id == reconcile.ProviderUUID("h4hostb_FakeDevice") {
			continue // another host's
		}
		for _, a := range ts["attributes"] {
			switch {
			case plain(a["deployable_id"]) != plain(p["id"]):
			case plain(a["key"]) == "rc":
				class = plain(a["value"])
			default:
				traits = append(traits, plain(a["value"]))
			}
		}
		inventory := reconciletest.NewResourceInventory()
		if _, err := fmt.Sscan(plain(p["num_accelerators"]), &inventory.Total); err != nil {
			t.Fatal(err)
		}
		inventory.MaxUnit = inventory.Total
		for _, trait := range traits {
			if _, err := h.Placement.EnsureTrait(trait); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasPrefix(class, "CUSTOM_") {
			if _, err := h.Placement.EnsureClass(class); err != nil {
				t.Fatal(err)
			}
		}
		_, err := h.Placement.CreateProvider(id, plain(p["name"]), vectorRoots["h4host"])
		if err == nil {
			_, err = h.Placement.PutInventories(id, 0, map[string]reconciletest.ResourceInventory{class: inventory}, true)
		}
		if err == nil {
			_, err = h.Placement.PutTraits(id, 1, traits)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
