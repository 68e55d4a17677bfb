package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

const host = "compute-1"

// world is a host with a database and a Placement that knows it.
type world struct {
	store     *reconciletest.Store
	placement *reconciletest.Placement
	root      string
	runner    *reconcile.Runner
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{store: &reconciletest.Store{}, placement: &reconciletest.Placement{}}
	root, err := w.placement.CreateProvider("", host, "")
	if err != nil {
		tb.Fatal(err)
	}
	w.root = root.UUID
	w.runner = &reconcile.Runner{Store: w.store, Placement: w.placement}
	return w
}

// report runs one report that must not fail as a whole.
func (w *world) report(tb testing.TB, ds ...reconcile.Device) reconcile.Result {
	tb.Helper()
	res, err := w.runner.Run(context.Background(), host, ds)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func (w *world) inventory(tb testing.TB) reconcile.Inventory {
	tb.Helper()
	inv, err := w.store.Inventory(context.Background(), host)
	if err != nil {
		tb.Fatal(err)
	}
	return inv
}

// vf is a reported PCI function as the generic driver reports it.
func vf(n int) reconcile.Device {
	info := fmt.Sprintf(`{"bus": "%02x", "device": "00", "domain": "0000", "function": "%d"}`, n/8, n%8)
	board := `{"product_id": "25b6", "controller": null}`
	driver := "NVIDIA"
	return reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6", StdBoardInfo: &board,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: info},
		Deployables: []reconcile.Deployable{{
			Name: fmt.Sprintf("%s_0000:%02x:00.%d", host, n/8, n%8), NumAccelerators: 1, DriverName: &driver,
			Attributes: []reconcile.Attribute{
				{Key: "rc", Value: "CUSTOM_PCI"},
				{Key: "trait0", Value: "OWNER_CYBORG"},
				{Key: "trait1", Value: "CUSTOM_PCI_NVIDIA"},
				{Key: "trait2", Value: "CUSTOM_PCI_PRODUCT_ID_25B6"},
			},
			Handles: []reconcile.Handle{{Type: arq.HandlePCI, Info: info}},
		}},
	}
}

func TestRunFirstReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res := w.report(t, vf(0), vf(1), vf(2))
	if len(res.Problems) > 0 {
		t.Fatalf("problems: %v", res.Problems)
	}
	for _, d := range w.inventory(t).Devices {
		p := d.Deployables[0]
		if want := reconcile.ProviderUUID(p.Name); p.Offer != want {
			t.Errorf("%s: offer %q, want %q", p.Name, p.Offer, want)
		}
		inv, _, err := w.placement.Inventories(p.Offer)
		if err != nil || inv["CUSTOM_PCI"].Total != 1 || inv["CUSTOM_PCI"].MaxUnit != 1 || inv["CUSTOM_PCI"].Reserved != 0 {
			t.Errorf("%s: inventory %+v, %v", p.Name, inv, err)
		}
	}
	res = w.report(t, vf(0), vf(1), vf(2))
	if res.Unchanged != 3 || len(res.Devices) != 0 {
		t.Errorf("second report: %d unchanged, outcomes %v", res.Unchanged, res.Devices)
	}
}

// reserved reads what Placement holds for the n-th function.
func (w *world) reserved(tb testing.TB, n int) (total, reserved int) {
	tb.Helper()
	inventories, _, err := w.placement.Inventories(reconcile.ProviderUUID(vf(n).Deployables[0].Name))
	if err != nil {
		tb.Fatal(err)
	}
	return inventories["CUSTOM_PCI"].Total, inventories["CUSTOM_PCI"].Reserved
}

func reasons(res reconcile.Result) []reconcile.ProblemReason {
	var all []reconcile.ProblemReason
	for _, p := range res.Problems {
		all = append(all, p.Reason)
	}
	return all
}

// TestMissingWhileBound is LP cyborg 2017513: a device that a guest holds goes
// missing beside a free one.
func TestMissingWhileBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, vf(0), vf(1), vf(2))
	id := reconcile.ProviderUUID(vf(0).Deployables[0].Name)
	before, _ := w.store.Bind(id, "arq")
	w.allocate(id, "CUSTOM_PCI", "instance")

	res := w.report(t, vf(2))
	if got := reasons(res); len(got) != 1 || got[0] != reconcile.ReasonMissing || res.Retained != 1 || res.Unchanged != 1 {
		t.Errorf("retained %d, unchanged %d, problems %v", res.Retained, res.Unchanged, res.Problems)
	}
	if total, reserved := w.reserved(t, 0); total != 1 || reserved != 1 {
		t.Errorf("total %d, reserved %d", total, reserved)
	}
	if _, err := w.placement.Provider(reconcile.ProviderUUID(vf(1).Deployables[0].Name)); err == nil {
		t.Error("the free device's provider is still there")
	}
	if n := len(w.inventory(t).Devices); n != 2 {
		t.Errorf("%d devices are left", n)
	}
	if _, ok := w.store.Bind(id, "other"); ok {
		t.Error("a missing device was handed out")
	}
	w.store.Unbind("arq")
	if _, ok := w.store.Bind(id, "other"); ok {
		t.Error("a freed, missing device was handed out")
	}

	w.report(t, vf(0), vf(2)) // allocation still there: reserved again as its row says
	if total, reserved := w.reserved(t, 0); total != 1 || reserved != 0 {
		t.Errorf("back: total %d, reserved %d", total, reserved)
	}
	if after := w.inventory(t).Devices[0].Deployables[0]; after.Handles[0].UUID != before.UUID || after.Offer != id {
		t.Errorf("back with handle %s, offer %q", after.Handles[0].UUID, after.Offer)
	}
}

// TestAllocatedWithoutHandle: Placement refuses to delete a provider whose
// device nobody holds; the whole device is retained.
func TestAllocatedWithoutHandle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, vf(0), vf(1))
	w.allocate(reconcile.ProviderUUID(vf(0).Deployables[0].Name), "CUSTOM_PCI", "instance")
	for range 2 {
		res := w.report(t)
		if len(res.Problems) != 1 || res.Problems[0].Reason != reconcile.ReasonAllocated || res.Retained != 1 {
			t.Errorf("%d retained, problems %v", res.Retained, res.Problems)
		}
		if total, reserved := w.reserved(t, 0); total != 1 || reserved != 1 {
			t.Errorf("total %d, reserved %d", total, reserved)
		}
		if d := w.inventory(t).Devices; len(d) != 1 || d[0].Deployables[0].Offer != "" {
			t.Errorf("rows %+v", d)
		}
	}
	if err := w.placement.DeleteAllocations("instance"); err != nil {
		t.Fatal(err)
	}
	if res := w.report(t); len(res.Problems) != 0 || len(w.inventory(t).Devices) != 0 {
		t.Errorf("problems %v", res.Problems)
	}
}

// TestBoundAtTheLastMoment: a device that is bound while it is being removed is retained, and counted.
func TestBoundAtTheLastMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, vf(0), vf(1))
	w.runner.Store = brokenStore{Store: w.store, remove: func(ctx context.Context, d *reconcile.Device) error {
		if d.ControlPath.Info == vf(0).ControlPath.Info {
			w.store.Bind(d.Deployables[0].Offer, "guest")
		}
		return w.store.Remove(ctx, d)
	}}
	res := w.report(t)
	if d := w.inventory(t).Devices; len(d) != 1 || !d[0].Held() || d[0].Deployables[0].Offer != "" {
		t.Errorf("rows %+v", d)
	}
	if got := reasons(res); res.Retained != 1 || len(got) != 1 || got[0] != reconcile.ReasonMissing {
		t.Errorf("%d retained, problems %v", res.Retained, res.Problems)
	}
}

// TestClassInUse: Placement refuses another class; traits and count follow.
func TestClassInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, vf(0))
	id := reconcile.ProviderUUID(vf(0).Deployables[0].Name)
	w.allocate(id, "CUSTOM_PCI", "instance")
	next := reported(0, attribute("rc", "PGPU"), attribute("trait2", "CUSTOM_NEW"))
	res := w.report(t, next)
	if got := reasons(res); len(got) != 1 || got[0] != reconcile.ReasonClassHeld {
		t.Errorf("problems %v", res.Problems)
	}
	p := w.inventory(t).Devices[0].Deployables[0]
	if p.Class() != "CUSTOM_PCI" || p.Offer != id || p.Traits()[2] != "CUSTOM_NEW" {
		t.Errorf("row %+v", p)
	}
	if err := w.safe(); err != nil {
		t.Error(err)
	}
}

// failing is a Placement that cannot be reached for some providers.
type failing struct {
	*reconciletest.Placement
	mu    sync.Mutex
	names map[string]bool // nil: all
	calls int
}

func (f *failing) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	f.mu.Lock()
	f.calls++
	fails := f.names == nil || f.names[s.Name]
	f.mu.Unlock()
	if fails {
		return 0, &reconcile.TransportError{Op: "POST", Err: errors.New("connection refused")}
	}
	return f.Placement.Sync(ctx, s)
}

func TestFailuresAreIsolated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := &failing{Placement: w.placement, names: map[string]bool{vf(1).Deployables[0].Name: true}}
	w.runner.Placement = f
	res := w.report(t, vf(0), vf(1), vf(2))
	if got := reasons(res); len(got) != 1 || got[0] != reconcile.ReasonUnreachable || res.Devices[1].Err == nil {
		t.Errorf("outcomes %v, problems %v", res.Devices, res.Problems)
	}
	for i, d := range w.inventory(t).Devices {
		if (d.Deployables[0].Offer == "") != (i == 1) {
			t.Errorf("device %d: offer %q", i, d.Deployables[0].Offer)
		}
	}
	f.names = map[string]bool{}
	if res := w.report(t, vf(0), vf(1), vf(2)); len(res.Problems) > 0 || res.Unchanged != 2 {
		t.Errorf("unchanged %d, problems %v", res.Unchanged, res.Problems)
	}
}

// TestCircuit: after five failures in a row Placement is left alone, and the
// rows are there all the same.
func TestCircuit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := &failing{Placement: w.placement}
	w.runner.Placement, w.runner.Parallel = f, 1
	var ds []reconcile.Device
	for n := range 40 {
		ds = append(ds, vf(n))
	}
	res := w.report(t, ds...)
	if f.calls != 5 || len(res.Problems) != 40 || len(w.inventory(t).Devices) != 40 {
		t.Errorf("%d calls, %d problems, %d rows", f.calls, len(res.Problems), len(w.inventory(t).Devices))
	}
}

// TestRootVanishes: the host's own provider goes while a report is carried out.
func TestRootVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan, err := w.runner.Plan(context.Background(), host, []reconcile.Device{vf(0), vf(1), vf(2)})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	sync := func(context.Context, reconcile.ProviderState) (int, error) {
		calls++
		return 0, &reconcile.NoRootError{Host: host}
	}
	w.runner.Placement, w.runner.Parallel = brokenPlacement{Placement: w.placement, sync: sync}, 1
	res := w.runner.Apply(context.Background(), plan)
	if calls != 1 || len(res.Problems) != 3 || res.Problems[0].Reason != reconcile.ReasonUnreachable {
		t.Errorf("%d calls, problems %v", calls, res.Problems)
	}
}

// TestInsertIsolatesTheDeviceAtFault: one value that the database refuses does
// not keep the others of its chunk out.
func TestInsertIsolatesTheDeviceAtFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := vf(300).ControlPath.Info
	insert := func(ctx context.Context, h string, ds []reconcile.Device) ([]reconcile.Device, error) {
		for _, d := range ds {
			if d.ControlPath.Info == bad {
				return nil, &reconcile.FieldError{Table: "devices", Field: "model", Err: errors.New("incorrect value")}
			}
		}
		return w.store.Insert(ctx, h, ds)
	}
	w.runner.Store = brokenStore{Store: w.store, insert: insert}
	var ds []reconcile.Device
	for n := range 600 {
		ds = append(ds, vf(n))
	}
	res := w.report(t, ds...)
	if n := len(w.inventory(t).Devices); n != 599 {
		t.Errorf("%d devices", n)
	}
	if got := reasons(res); len(got) != 1 || got[0] != reconcile.ReasonDatabase || res.Problems[0].Device != bad {
		t.Errorf("problems %v", res.Problems)
	}
}

// TestCancelled: a run that is told to stop leaves nothing half written on
// offer, and the next one completes it.
func TestCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	writes := 0
	w.placement.Fault = func(string) error {
		if writes++; writes == 5 {
			cancel()
		}
		return nil
	}
	plan, err := w.runner.Plan(ctx, host, []reconcile.Device{vf(0), vf(1), vf(2), vf(3)})
	if err != nil {
		t.Fatal(err)
	}
	res := w.runner.Apply(ctx, plan)
	if len(res.Problems) != 0 {
		t.Errorf("a stop is no problem: %v", res.Problems)
	}
	if err := w.safe(); err != nil {
		t.Error(err)
	}
	w.placement.Fault = nil
	if res := w.report(t, vf(0), vf(1), vf(2), vf(3)); len(res.Problems) != 0 {
		t.Errorf("problems %v", res.Problems)
	}
	for _, d := range w.inventory(t).Devices {
		if d.Deployables[0].Offer == "" {
			t.Errorf("%s is not on offer", d.Deployables[0].Name)
		}
	}
}

func TestNoRoot(t *testing.T) {
	t.Parallel()
	r := &reconcile.Runner{Store: &reconciletest.Store{}, Placement: &reconciletest.Placement{}}
	_, err := r.Run(context.Background(), host, nil)
	if missing := new(reconcile.NoRootError); !errors.As(err, &missing) || missing.Host != host {
		t.Errorf("error %v", err)
	}
}

func TestPlanJSON(t *testing.T) {
	t.Parallel()
	p := reconcile.Diff(reconcile.Inventory{Host: host}, []reconcile.Device{vf(0)}, reconcile.Tree{Root: "root"})
	text, err := json.Marshal(p)
	var back struct {
		Host    string
		Devices []struct {
			Verdict, Device string
			Steps           []map[string]any
		}
	}
	if err != nil || json.Unmarshal(text, &back) != nil {
		t.Fatalf("%s, %v", text, err)
	}
	if d := back.Devices[0]; d.Verdict != "add" || d.Steps[0]["step"] != "InsertDevice" || d.Steps[1]["step"] != "SyncProvider" || d.Steps[1]["total"] != 1.0 {
		t.Errorf("%s", text)
	}
}

// TestRefusedOutlastAnotherLook: what was unreadable in a report is a problem of it also when a device had to be
// looked at again.
func TestRefusedOutlastAnotherLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, vf(0))
	stale := true
	w.runner.Store = brokenStore{Store: w.store, commit: func(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
		if stale {
			stale = false
			return reconcile.Device{}, reconcile.ErrStale
		}
		return w.store.Commit(ctx, p)
	}}
	plan, err := w.runner.Plan(t.Context(), host, []reconcile.Device{reported(0, attribute("note", "x"))})
	if err != nil {
		t.Fatal(err)
	}
	unreadable := reconcile.Problem{Host: host, Reason: reconcile.ReasonInvalid, Detail: "device 1 of the report"}
	plan.Refuse(unreadable)
	res := w.runner.Apply(t.Context(), plan)
	if stale || len(res.Problems) != 1 || res.Problems[0] != unreadable || len(res.Devices) != 1 || res.Devices[0].Err != nil {
		t.Errorf("problems %v, outcomes %v", res.Problems, res.Devices)
	}
}
