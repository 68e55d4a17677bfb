package conductor_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

var uuidText = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// call finds out what a step did: its name says which method, its rows and its error for which requests.
func (f *flow) call(i int, before, after tables) vectorCall {
	s := &f.steps[i]
	if s.Rows != nil {
		return reportCall(s, after)
	}
	changed, gone := f.touched(before, after)
	if len(changed) == 0 && s.Error != nil {
		changed = uuidText.FindAllString(*s.Error, -1)
	}
	has := func(part string) bool { return strings.Contains(s.Step, part) }
	switch {
	case has("profile"):
		return profileCall(s, before)
	case has("arq_create"):
		return createCall
	case has("missing"):
		return f.arqReport(nil)
	case has("device_back"):
		return f.arqReport(reportedBy(before, "h4host"))
	case has("by_instance"):
		return instanceCall(before, gone)
	case has("delete"), has("cleanup"):
		project := has("other_project")
		if s.Error != nil {
			gone = append(gone, uuidText.FindAllString(*s.Error, -1)...)
		}
		return func(t *testing.T, v *vectorWorld) error {
			return v.conductor.ARQDeleteByUUID(as(t, !project, "other"), gone)
		}
	case has("unbind"), has("other_project"):
		if len(changed) == 0 {
			changed = uuidsOf(before, "Bound")
		}
		return func(t *testing.T, v *vectorWorld) error {
			return v.conductor.ARQApplyPatch(as(t, !has("other_project"), "other"), patches(changed, cyborgrpc.OpRemove), nil)
		}
	case has("bind"), has("fpga"), has("no_resources"):
		if len(changed) == 0 || has("no_resources") {
			changed = uuidsOf(before, "Initial")
		}
		return f.bindCall(i, changed, after)
	}
	return nil
}

func uuidsOf(ts tables, state string) (out []string) {
	for _, q := range ts["extended_accelerator_requests"] {
		if plain(q["state"]) == state {
			out = append(out, plain(q["uuid"]))
		}
	}
	return out
}

func (f *flow) touched(before, after tables) (changed, gone []string) {
	now := map[string]map[string]any{}
	for _, q := range after["extended_accelerator_requests"] {
		now[plain(q["uuid"])] = q
	}
	for _, q := range before["extended_accelerator_requests"] {
		id := plain(q["uuid"])
		switch {
		case now[id] == nil:
			gone = append(gone, id)
		case plain(now[id]["state"]) != plain(q["state"]):
			changed = append(changed, id)
		}
	}
	return changed, gone
}

func (f *flow) arqReport(devices []vectorDevice) vectorCall {
	return func(t *testing.T, v *vectorWorld) error {
		objects := make([]*cyborg.DriverDevice, len(devices))
		for i, d := range devices {
			objects[i] = d.object()
		}
		return v.conductor.ReportData(as(t, true, ""), "h4host", objects)
	}
}

// bindCall binds requests as their rows show it afterwards, or as some other row of the flow does.
func (f *flow) bindCall(i int, uuids []string, after tables) vectorCall {
	valid := map[string]cyborgrpc.ARQFields{}
	text := func(q map[string]any, column string) *string {
		s := plain(q[column])
		return &s
	}
	for _, id := range uuids {
		for _, row := range slices.Concat(after["extended_accelerator_requests"], f.bound()) {
			if row["hostname"] != nil && (plain(row["uuid"]) == id || valid[id].Hostname == nil) {
				valid[id] = cyborgrpc.ARQFields{
					Hostname: text(row, "hostname"), DeviceRPUUID: text(row, "device_rp_uuid"),
					InstanceUUID: text(row, "instance_uuid"), ProjectID: text(row, "project_id"),
				}
			}
			if plain(row["uuid"]) == id && row["hostname"] != nil {
				break
			}
		}
	}
	return func(t *testing.T, v *vectorWorld) error {
		return v.conductor.ARQApplyPatch(as(t, true, ""), patches(uuids, cyborgrpc.OpAdd), valid)
	}
}

// bound are all rows of the flow that show a bind.
func (f *flow) bound() (out []map[string]any) {
	for j := range f.steps {
		out = append(out, f.steps[j].Requests...)
	}
	return out
}

func createCall(t *testing.T, v *vectorWorld) error {
	_, err := v.conductor.ARQCreate(as(t, true, ""), &cyborg.ExtARQ{ARQ: ovo.Of(&cyborg.ARQ{
		DeviceProfileGroupID: ovo.Of[int64](0), DeviceProfileName: ovo.Of("dp1"),
	})}, 0)
	return err
}

func instanceCall(before tables, gone []string) vectorCall {
	instance := ""
	for _, q := range before["extended_accelerator_requests"] {
		if slices.Contains(gone, plain(q["uuid"])) {
			instance = plain(q["instance_uuid"])
		}
	}
	return func(t *testing.T, v *vectorWorld) error {
		return v.conductor.ARQDeleteByInstance(as(t, true, ""), instance)
	}
}

func profileCall(s *vectorStep, before tables) vectorCall {
	if s.Profiles == nil {
		return func(t *testing.T, v *vectorWorld) error {
			p := before["device_profiles"][0]
			return v.conductor.DeviceProfileDelete(as(t, true, ""), &cyborg.DeviceProfile{UUID: ovo.Of(plain(p["uuid"])), Name: ovo.Of(plain(p["name"]))})
		}
	}
	return func(t *testing.T, v *vectorWorld) error {
		p := s.Profiles[0]
		list := strings.TrimSuffix(strings.TrimPrefix(plain(p["profile_json"]), `{"groups": `), "}")
		groups, err := arq.ParseGroups([]byte(list))
		if err != nil {
			return err
		}
		dicts, err := cyborgrpc.GroupDicts(groups)
		if err != nil {
			return err
		}
		description := plain(p["description"])
		_, err = v.conductor.DeviceProfileCreate(as(t, true, ""), &cyborg.DeviceProfile{
			UUID: ovo.Of(plain(p["uuid"])), Name: ovo.Of(plain(p["name"])), Groups: ovo.Of(dicts), Description: ovo.NullOf(description),
		})
		return err
	}
}
