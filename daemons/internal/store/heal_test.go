package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
)

// healStep is one step of heal_flow.json.
type healStep struct {
	Step      string
	Return    json.RawMessage
	NovaCalls []struct {
		Path   string
		Status int
	} `json:"nova_calls"`
	ARQs    []map[string]any `json:"arq_rows"`
	Handles []map[string]any `json:"attach_handles"`
	Devices []map[string]any `json:"devices"`
}

// recordedNova answers as the recorded Nova did.
type recordedNova struct {
	status int
	asked  []string
}

func (n *recordedNova) ProjectOf(_ context.Context, instance string) (string, error) {
	n.asked = append(n.asked, "/v2.1/servers/"+instance)
	if n.status == 404 {
		return "", dbsync.ErrNoServer
	}
	return "proj-of-" + instance[:8], nil
}

// TestHealVectors repeats the peer's recorded data migrations.
func TestHealVectors(t *testing.T) {
	t.Parallel()
	var steps []healStep
	vector(t, "heal_flow.json", &steps)
	var count tally
	for i, step := range steps {
		count.run(t, step.Step, func(t *testing.T) { healLike(t, steps, i) })
	}
	count.print("heal")
}

func healLike(t *testing.T, steps []healStep, i int) {
	step := steps[i]
	if step.Step == "device_load_heals_null_state" {
		t.Skip("a read never writes here; the conductor runs the backfill at its start")
	}
	s := connect(t, "sqlite://")
	upgrade(t, s)
	ctx := context.Background()
	// What the steps before left; an owner or a state that the step itself
	// fills in is missing.
	before := steps[max(i-1, 0)]
	if step.Step != "heal_again_nothing_to_do" {
		before = step
	}
	fill(t, s.Raw(), before, step.Step)
	var got any
	var calls []string
	if strings.HasPrefix(step.Step, "heal") {
		nova := &recordedNova{status: 200}
		if len(step.NovaCalls) > 0 {
			nova.status = step.NovaCalls[0].Status
		}
		n, err := dbsync.HealProjects(ctx, s, func(context.Context) (dbsync.Servers, error) { return nova, nil }, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		got, calls = n, nova.asked
	} else {
		found, done, err := s.BackfillDeviceStates(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = []int{found, done}
	}
	answer, _ := json.Marshal(got)
	if want := strings.Join(strings.Fields(string(step.Return)), ""); string(answer) != want {
		t.Errorf("returned %s, want %s", answer, want)
	}
	var want []string
	for _, c := range step.NovaCalls {
		want = append(want, c.Path)
	}
	if !slices.Equal(calls, want) {
		t.Errorf("asked %v, want %v", calls, want)
	}
	for _, a := range step.ARQs {
		if got := query(t, s.Raw(), fmt.Sprintf("SELECT project_id FROM extended_accelerator_requests WHERE id = %v", a["id"]))[0][0]; !cmp.Equal(text(got), a["project_id"]) {
			t.Errorf("ARQ %v: project %v, want %v", a["id"], text(got), a["project_id"])
		}
	}
	for _, d := range step.Devices {
		if got := query(t, s.Raw(), fmt.Sprintf("SELECT device_state FROM devices WHERE id = %v", d["id"]))[0][0]; !cmp.Equal(text(got), d["device_state"]) {
			t.Errorf("device %v: %v, want %v", d["id"], text(got), d["device_state"])
		}
	}
}

// fill writes the rows of a step as they were before it.
func fill(t *testing.T, db *sql.DB, s healStep, step string) {
	t.Helper()
	exec := func(format string, args ...any) {
		t.Helper()
		if _, err := db.Exec(fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	literal := func(v any) string {
		if v == nil {
			return "NULL"
		}
		return fmt.Sprintf("'%v'", v)
	}
	for _, d := range s.Devices {
		state := literal(d["device_state"])
		if step == "backfill_device_state" {
			state = "NULL"
		}
		exec("INSERT INTO devices (id, uuid, type, vendor, model, hostname, status, device_state) VALUES (%v, 'd%v', 'FPGA', 'v', 'm', 'h', 'enabled', %s)",
			d["id"], d["id"], state)
		exec("INSERT INTO controlpath_ids (id, uuid, device_id, cpid_type, cpid_info) VALUES (%v, 'c%v', %v, 'PCI', '{}')", d["id"], d["id"], d["id"])
	}
	// The flow's hosts have one deployable for each device, in the same order.
	var deployables []float64
	for _, h := range s.Handles {
		if id := h["deployable_id"].(float64); !slices.Contains(deployables, id) {
			deployables = append(deployables, id)
		}
	}
	slices.Sort(deployables)
	for i, id := range deployables {
		exec("INSERT INTO deployables (id, uuid, name, num_accelerators, device_id) VALUES (%v, 'p%v', 'n', 1, %v)", id, id, s.Devices[i]["id"])
	}
	for _, h := range s.Handles {
		exec("INSERT INTO attach_handles (id, uuid, deployable_id, cpid_id, in_use, attach_type, attach_info) VALUES (%v, '%v', %v, %v, %v, '%v', '%v')",
			h["id"], h["uuid"], h["deployable_id"], s.Devices[slices.Index(deployables, h["deployable_id"].(float64))]["id"], h["in_use"], h["attach_type"], h["attach_info"])
	}
	exec("INSERT INTO device_profiles (id, uuid, name, profile_json) VALUES (11, 'dp', 'dp', '{\"groups\": []}')")
	for _, a := range s.ARQs {
		project := literal(a["project_id"])
		if step == "heal_arq_project_ids" {
			project = "NULL"
		}
		exec("INSERT INTO extended_accelerator_requests (id, uuid, project_id, state, device_profile_id, device_profile_group_id, substate, instance_uuid,"+
			" attach_handle_id, deployable_id) VALUES (%v, '%v', %s, '%v', 11, 0, 'Initial', %s, %s, %s)",
			a["id"], a["uuid"], project, a["state"], literal(a["instance_uuid"]), orNull(a["attach_handle_id"]), orNull(a["deployable_id"]))
	}
}

func orNull(v any) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprint(v)
}
