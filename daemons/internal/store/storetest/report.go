package storetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

var withoutIDs = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(reconcile.Device{}, "ID", "UUID"),
	cmpopts.IgnoreFields(reconcile.ControlPath{}, "ID", "UUID"),
	cmpopts.IgnoreFields(reconcile.Deployable{}, "ID", "UUID", "UpdatedAt"),
	cmpopts.IgnoreFields(reconcile.Attribute{}, "ID", "UUID"),
	cmpopts.IgnoreFields(reconcile.Handle{}, "ID", "UUID"),
}

func insertAndRead(f *rows) {
	t := f.TB
	driver := "fake"
	a, b := f.device(1, 3), f.device(2, 0)
	a.Deployables[0].DriverName = &driver
	b.Type, b.StdBoardInfo, b.VendorBoardInfo = "QAT", nil, &driver
	out, err := f.Insert(f.ctx, f.host, []reconcile.Device{a, b})
	f.ok(err)
	want := []reconcile.Device{a, b}
	for i := range want {
		want[i].Status, want[i].State = reconcile.StatusEnabled, reconcile.StateAvailable
	}
	if diff := cmp.Diff(want, out, withoutIDs); diff != "" {
		t.Errorf("returned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(out, f.inventory(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read (-returned +read):\n%s", diff)
	}
	inv, err := f.Inventory(f.ctx, "no-such-"+f.host)
	if err != nil || len(inv.Devices) != 0 || inv.Host != "no-such-"+f.host {
		t.Errorf("unknown host: %v, %v", inv, err)
	}
}

func nullInUse(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.insert(f.device(1, 1))[0]
	f.raw("UPDATE attach_handles SET in_use = NULL WHERE uuid = '%s'", d.Deployables[0].Handles[0].UUID)
	if f.inventory()[0].Deployables[0].Handles[0].InUse {
		t.Error("a NULL in_use reads as in use")
	}
}

func insertTwice(f *rows) {
	t := f.TB
	d := f.device(1, 1)
	d.UUID = reconcile.DeviceUUID(f.host, d.ControlPath)
	_, err := f.Insert(f.ctx, f.host, []reconcile.Device{d})
	f.ok(err)
	if _, err := f.Insert(f.ctx, f.host, []reconcile.Device{f.device(2, 1), d}); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("second insert: %v", err)
	}
	if n := len(f.inventory()); n != 1 {
		t.Errorf("%d devices, want 1", n)
	}
}

func insertRefused(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	f.insert(f.device(2, 1))
	if _, err := f.Insert(f.ctx, f.host, []reconcile.Device{f.device(3, 1), f.device(2, 1)}); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("a device under the uuid that its host and control path give: %v", err)
	}
	if n := len(f.inventory()); n != 1 {
		t.Errorf("%d devices, want 1", n)
	}
	d := f.device(1, 0)
	d.Type = "TOASTER"
	var refused *reconcile.FieldError
	if _, err := f.Insert(f.ctx, f.host, []reconcile.Device{d}); target.Engine != "sqlite" && !errors.As(err, &refused) {
		t.Errorf("unknown type: %v", err)
	}
}

func offerClaims(f *rows) {
	t := f.TB
	ds, err := f.Insert(f.ctx, f.host, []reconcile.Device{f.device(1, 1), f.device(2, 1)})
	f.ok(err)
	fresh := ds[0].Deployables[0]
	// A run that saw the fresh rows claims them; the inserter's claim is lost.
	claims, err := f.Withdraw(f.ctx, []reconcile.Version{{ID: fresh.ID}})
	f.ok(err)
	lost, err := f.Offer(f.ctx, []reconcile.Claim{
		{ID: fresh.ID, Offer: provider(fresh.Name)}, {ID: ds[1].Deployables[0].ID, Offer: provider(ds[1].Deployables[0].Name)},
	})
	f.ok(err)
	if len(lost) != 1 || lost[0].ID != fresh.ID {
		t.Errorf("lost %v, want the withdrawn one", lost)
	}
	claims[0].Offer = provider(fresh.Name)
	f.ok2(f.Offer(f.ctx, claims))
	now := f.inventory()
	if now[0].Deployables[0].Offer != provider(fresh.Name) || now[1].Deployables[0].Offer == "" {
		t.Errorf("offers %q, %q", now[0].Deployables[0].Offer, now[1].Deployables[0].Offer)
	}
	// Withdrawing what was seen earlier is stale, and takes nothing along.
	seen := func(d reconcile.Device) reconcile.Version {
		return reconcile.Version{ID: d.Deployables[0].ID, UpdatedAt: d.Deployables[0].UpdatedAt}
	}
	if _, err := f.Withdraw(f.ctx, []reconcile.Version{seen(now[1]), {ID: fresh.ID}}); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("stale withdrawal: %v", err)
	}
	if f.inventory()[1].Deployables[0].Offer == "" {
		t.Error("a stale withdrawal wrote")
	}
	// Claims of one row differ, however fast they follow one another.
	versions := map[string]bool{}
	v := seen(now[0])
	for range 5 {
		cs, err := f.Withdraw(f.ctx, []reconcile.Version{v})
		f.ok(err)
		v = reconcile.Version{ID: cs[0].ID, UpdatedAt: cs[0].UpdatedAt}
		versions[v.UpdatedAt.String()] = true
	}
	if len(versions) != 5 {
		t.Errorf("%d different claims of 5", len(versions))
	}
	missing, err := f.Offer(f.ctx, []reconcile.Claim{{ID: 1 << 30, Offer: provider("x")}})
	if f.ok(err); len(missing) != 1 {
		t.Error("the claim on a missing row is not lost")
	}
}

func (f *rows) ok2(lost []reconcile.Claim, err error) {
	f.Helper()
	f.ok(err)
	if len(lost) > 0 {
		f.Fatalf("lost claims: %v", lost)
	}
}

func commitSteps(f *rows) {
	t := f.TB
	have := f.insert(f.device(1, 2))[0]
	p := have.Deployables[0]
	info := "text"
	added := f.device(9, 1).Deployables[0]
	plan := reconcile.DevicePlan{Verdict: reconcile.Update, Have: &have, Steps: []reconcile.Step{
		reconcile.SetBoard{Type: "FPGA", Vendor: "v", Model: "m", VendorBoardInfo: &info},
		reconcile.InsertDeployable{Deployable: &added},
		reconcile.SetNumAccelerators{Deployable: p.ID, From: 2, To: 7},
		reconcile.SetDriverName{Deployable: p.ID, To: "drv"},
		reconcile.SetAttribute{Deployable: p.ID, Attribute: p.Attributes[0].ID, Key: "rc", To: "FPGA"},
		reconcile.DeleteAttribute{Deployable: p.ID, Attribute: p.Attributes[1].ID},
		reconcile.InsertAttribute{Deployable: p.ID, Key: "trait1", Value: "CUSTOM_NEW"},
		reconcile.SetHandleInfo{Deployable: p.ID, Handle: p.Handles[0].ID, From: p.Handles[0].Info, To: pciInfo(1, 1, 7), Free: true},
		reconcile.SetHandleType{Deployable: p.ID, Handle: p.Handles[0].ID, To: arq.HandleTestPCI},
		reconcile.DeleteHandle{Deployable: p.ID, Handle: p.Handles[1].ID},
		reconcile.InsertHandle{Deployable: p.ID, Type: arq.HandleMDEV, Info: `{"a": 1}`},
	}}
	after, err := f.Commit(f.ctx, plan)
	f.ok(err)
	driver := "drv"
	want := have
	want.Type, want.Vendor, want.Model, want.StdBoardInfo, want.VendorBoardInfo = "FPGA", "v", "m", nil, &info
	want.Deployables = []reconcile.Deployable{p, added}
	want.Deployables[0].NumAccelerators, want.Deployables[0].DriverName = 7, &driver
	want.Deployables[0].Attributes = []reconcile.Attribute{{Key: "rc", Value: "FPGA"}, {Key: "trait1", Value: "CUSTOM_NEW"}}
	want.Deployables[0].Handles = []reconcile.Handle{{Type: arq.HandleTestPCI, Info: pciInfo(1, 1, 7)}, {Type: arq.HandleMDEV, Info: `{"a": 1}`}}
	if diff := cmp.Diff(want, after, withoutIDs); diff != "" {
		t.Errorf("returned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(after, f.inventory()[0]); diff != "" {
		t.Errorf("read (-returned +read):\n%s", diff)
	}
	if after.Deployables[0].Handles[0].UUID != p.Handles[0].UUID {
		t.Error("a handle changed in place has a new uuid")
	}
	if _, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &after, Steps: []reconcile.Step{
		reconcile.DeleteDeployable{Deployable: after.Deployables[1].ID},
	}}); err != nil {
		t.Fatal(err)
	}
	if n := len(f.inventory()[0].Deployables); n != 1 {
		t.Errorf("%d deployables, want 1", n)
	}
}

func commitStale(f *rows) {
	t := f.TB
	have := f.insert(f.device(1, 1))[0]
	changes := map[string]func(*reconcile.Device){
		"text":    func(d *reconcile.Device) { d.Deployables[0].Handles[0].Info += " " },
		"offer":   func(d *reconcile.Device) { d.Deployables[0].Offer = "" },
		"value":   func(d *reconcile.Device) { d.Deployables[0].Attributes[0].Value = "x" },
		"handles": func(d *reconcile.Device) { d.Deployables[0].Handles = nil },
		"gone":    func(d *reconcile.Device) { d.ID = 1 << 30 },
	}
	for name, change := range changes {
		d := clone(have)
		change(&d)
		_, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &d, Steps: []reconcile.Step{reconcile.SetBoard{Type: "FPGA"}}})
		if !errors.Is(err, reconcile.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Remove(f.ctx, &d); !errors.Is(err, reconcile.ErrStale) {
			t.Errorf("remove, %s: %v", name, err)
		}
	}
	// The version counts where another run may hold the claim, and only there.
	claims, err := f.Withdraw(f.ctx, []reconcile.Version{{ID: have.Deployables[0].ID, UpdatedAt: have.Deployables[0].UpdatedAt}})
	f.ok(err)
	d := clone(have)
	d.Deployables[0].Offer = ""
	if _, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &d}); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("another run's claim: %v", err)
	}
	d.Deployables[0].UpdatedAt = claims[0].UpdatedAt
	after, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &d, Steps: []reconcile.Step{
		reconcile.SetNumAccelerators{Deployable: d.Deployables[0].ID, To: 3},
	}})
	f.ok(err)
	// What was planned before the commit must not claim or offer what it changed.
	claims[0].Offer = provider(d.Deployables[0].Name)
	if lost, err := f.Offer(f.ctx, claims); err != nil || len(lost) != 1 {
		t.Errorf("a claim from before the commit: lost %v, %v", lost, err)
	}
	claims[0].UpdatedAt = after.Deployables[0].UpdatedAt
	f.ok2(f.Offer(f.ctx, claims))
}

func clone(d reconcile.Device) reconcile.Device {
	d.Deployables = append([]reconcile.Deployable(nil), d.Deployables...)
	for i := range d.Deployables {
		p := &d.Deployables[i]
		p.Attributes = append([]reconcile.Attribute(nil), p.Attributes...)
		p.Handles = append([]reconcile.Handle(nil), p.Handles...)
	}
	return d
}

func commitHeld(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	have := f.insert(f.device(1, 1))[0]
	p := have.Deployables[0]
	f.bind(f.requests(1)[0], p)
	for name, step := range map[string]reconcile.Step{
		"delete handle":     reconcile.DeleteHandle{Deployable: p.ID, Handle: p.Handles[0].ID},
		"rewrite":           reconcile.SetHandleInfo{Deployable: p.ID, Handle: p.Handles[0].ID, To: "{}", Free: true},
		"delete deployable": reconcile.DeleteDeployable{Deployable: p.ID},
	} {
		if _, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &have, Steps: []reconcile.Step{step}}); !errors.Is(err, reconcile.ErrHeld) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := f.Commit(f.ctx, reconcile.DevicePlan{Have: &have, Steps: []reconcile.Step{
		reconcile.SetHandleInfo{Deployable: p.ID, Handle: p.Handles[0].ID, To: `{"numa_node": 1}`},
	}})
	if err != nil || f.inventory()[0].Deployables[0].Handles[0].Info != `{"numa_node": 1}` {
		t.Errorf("a rewrite that held handles allow: %v", err)
	}
}

// bind binds a request and expects it to be Bound.
func (f *fixture) bind(q arq.Request, p reconcile.Deployable) arq.Request {
	f.Helper()
	q, err := f.Begin(f.ctx, f.bindTo(q, p))
	f.ok(err)
	if q.State != arq.Bound {
		f.Fatalf("state %s", q.State)
	}
	return q
}

func removeDevice(f *rows) {
	t := f.TB
	d := f.device(1, 2)
	d.Deployables = append(d.Deployables, f.device(2, 1).Deployables...)
	ds := f.insert(d, f.device(3, 1))
	f.ok(f.Remove(f.ctx, &ds[0]))
	left := f.inventory()
	if diff := cmp.Diff(ds[1:], left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if err := f.Remove(f.ctx, &ds[0]); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("second removal: %v", err)
	}
}

func removeTree(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.device(1, 2)
	d.Deployables = append(d.Deployables, f.device(2, 1).Deployables...)
	ds := f.insert(d)
	first, second := ds[0].Deployables[0].ID, ds[0].Deployables[1].ID
	f.raw("UPDATE deployables SET root_id = %d, parent_id = %d WHERE id = %d", first, first, second)
	f.ok(f.Remove(f.ctx, &ds[0]))
	if n := len(f.inventory()); n != 0 {
		t.Errorf("%d devices left", n)
	}
}

func removeHeld(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	ds := f.insert(f.device(1, 1), f.device(2, 1), f.device(3, 1))
	q := f.bind(f.requests(1)[0], ds[0].Deployables[0])
	// The two windows of a Python peer: in use without a name, named without in use.
	f.raw("UPDATE attach_handles SET in_use = TRUE WHERE id = %d", ds[1].Deployables[0].Handles[0].ID)
	f.raw("UPDATE extended_accelerator_requests SET deployable_id = %d WHERE uuid = '%s'", ds[2].Deployables[0].ID, f.requests(1)[0].UUID)
	for i := range ds {
		if err := f.Remove(f.ctx, &ds[i]); !errors.Is(err, reconcile.ErrHeld) {
			t.Errorf("device %d: %v", i, err)
		}
	}
	if n := len(f.inventory()); n != 3 {
		t.Fatalf("%d devices left", n)
	}
	f.release(q, arq.LeaveUnbind)
	f.ok(f.Remove(f.ctx, &ds[0]))
}

func (f *fixture) release(q arq.Request, how arq.Leave) arq.Released {
	f.Helper()
	r, err := f.Release(f.ctx, q.UUID, how)
	f.ok(err)
	return r
}

func raceInsert(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	const writers, devices = 4, 64
	var ds []reconcile.Device
	for i := range devices {
		ds = append(ds, f.device(i, 1))
	}
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			_, errs[w] = f.Insert(f.ctx, f.host, ds)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, reconcile.ErrStale):
			t.Errorf("insert: %v", err)
		}
	}
	if n := len(f.inventory()); n != devices || won != 1 {
		t.Errorf("%d devices, %d winners", n, won)
	}
}

func texts(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.device(1, 1)
	d.ControlPath.Info = `{"domain":"0000","bus":"0A","device":"00","function":"0"}  `
	d.Deployables[0].Handles[0].Info = strings.Repeat("é", 255)
	d.Vendor = " 'quoted\\' "
	got := f.insert(d)[0]
	if got.ControlPath.Info != d.ControlPath.Info || got.Deployables[0].Handles[0].Info != d.Deployables[0].Handles[0].Info || got.Vendor != d.Vendor {
		t.Errorf("read %q, %q, %q", got.ControlPath.Info, got.Deployables[0].Handles[0].Info, got.Vendor)
	}
	d = f.device(2, 1)
	d.Deployables[0].Handles[0].Info = strings.Repeat("x", 256)
	_, err := f.Insert(f.ctx, f.host, []reconcile.Device{d})
	var refused *reconcile.FieldError
	if target.Engine != "sqlite" && (!errors.As(err, &refused) || refused.Table != "attach_handles") {
		t.Errorf("256 characters: %v", err)
	}
}
