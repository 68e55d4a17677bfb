package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

func createRequests(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	p := f.profile()
	own := uuid.NewString()
	qs, err := f.CreateARQs(f.ctx, []arq.New{{UUID: own, ProfileID: p.ID, ProjectID: "a"}, {ProfileName: p.Name, GroupID: 3}})
	f.ok(err)
	want := arq.Request{
		ID: qs[0].ID, UUID: own, State: arq.Initial, ProjectID: "a", ProfileID: p.ID, ProfileName: p.Name,
		Group: p.Groups[0], CreatedAt: qs[0].CreatedAt,
	}
	if diff := cmp.Diff(want, qs[0], sameInfo); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if qs[1].Group != nil || qs[1].ProjectID != "" || qs[1].CreatedAt.IsZero() {
		t.Errorf("second: %+v", qs[1])
	}
	var missing *arq.NotFoundError
	_, err = f.CreateARQs(f.ctx, []arq.New{{ProfileName: p.Name, ProjectID: "never"}, {ProfileName: "none"}})
	if !errors.As(err, &missing) || missing.Error() != "Device Profile not found with name=none" {
		t.Errorf("unknown profile: %v", err)
	}
	if n := f.rawString("SELECT COUNT(*) FROM extended_accelerator_requests WHERE device_profile_id = %d", p.ID); n != "2" {
		t.Errorf("%s requests, want 2", n)
	}
}

func bindAndUnbind(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	p := f.insert(f.device(1, 2))[0].Deployables[0]
	q := f.requests(1)[0]
	b := f.bindTo(q, p)
	got, err := f.Begin(f.ctx, b)
	f.ok(err)
	read, err := f.Request(f.ctx, q.UUID)
	f.ok(err)
	if diff := cmp.Diff(read, got, sameInfo); diff != "" {
		t.Errorf("returned and read differ (-read +returned):\n%s", diff)
	}
	if got.State != arq.Bound || got.Handle == nil || got.DeployableUUID != p.UUID || got.InstanceUUID != b.InstanceUUID || got.Device.Type != "GPU" {
		t.Errorf("bound: %+v", got)
	}
	h := handleOf(f.inventory(), got.Handle.ID)
	if !h.InUse || len(h.ARQs) != 1 || h.ARQs[0] != q.UUID {
		t.Errorf("handle: %+v", h)
	}
	if state := f.inventory()[0].State; state != reconcile.StateAvailable {
		t.Errorf("a bind moved device_state of a GPU to %s", state)
	}
	var bad *arq.BadStateError
	if _, err := f.Begin(f.ctx, b); !errors.As(err, &bad) || bad.Have != arq.Bound || bad.UUID != q.UUID {
		t.Errorf("second bind: %v", err)
	}
	r := f.release(q, arq.LeaveUnbind)
	if r.Settlement != arq.SettleFree || r.After.State != arq.Unbound || r.Before.Handle == nil || r.After.Handle != nil ||
		r.After.ProjectID != "project-1" || r.After.InstanceUUID != "" || r.After.Hostname != "" || r.After.DeployableID != 0 {
		t.Errorf("released: %+v", r)
	}
	if h := handleOf(f.inventory(), got.Handle.ID); h.Held() {
		t.Errorf("handle is still held: %+v", h)
	}
	if r := f.release(q, arq.LeaveUnbind); r.Settlement != arq.SettleNothing {
		t.Errorf("second unbind: %+v", r)
	}
	f.bind(q, p)
	if r := f.release(q, arq.LeaveDelete); r.Settlement != arq.SettleFree {
		t.Errorf("delete: %+v", r)
	}
	var missing *arq.NotFoundError
	if _, err := f.Release(f.ctx, q.UUID, arq.LeaveDelete); !errors.As(err, &missing) || missing.Error() != "ExtArq not found with uuid="+q.UUID {
		t.Errorf("second delete: %v", err)
	}
	if h := handleOf(f.inventory(), got.Handle.ID); h.Held() {
		t.Errorf("handle is held after the delete: %+v", h)
	}
}

func handleOf(ds []reconcile.Device, id int64) reconcile.Handle {
	for _, d := range ds {
		for _, p := range d.Deployables {
			for _, h := range p.Handles {
				if h.ID == id {
					return h
				}
			}
		}
	}
	return reconcile.Handle{}
}

func bindRefusals(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	ds := f.insert(f.device(1, 1), f.device(2, 1))
	p := ds[0].Deployables[0]
	f.bind(f.requests(1)[0], p)
	_, err := f.Withdraw(f.ctx, []reconcile.Version{{ID: ds[1].Deployables[0].ID, UpdatedAt: ds[1].Deployables[0].UpdatedAt}})
	f.ok(err)
	f.raw("UPDATE attach_handles SET in_use = NULL WHERE id = %d", f.insert(f.device(3, 1))[2].Deployables[0].Handles[0].ID)
	for name, rp := range map[string]string{
		"no free handle": p.Offer, "withdrawn": ds[1].Deployables[0].Offer, "no such provider": uuid.NewString(),
		"in_use NULL": f.inventory()[2].Deployables[0].Offer,
	} {
		q := f.requests(1)[0]
		b := f.bindTo(q, p)
		b.DeviceRPUUID = rp
		got, err := f.Begin(f.ctx, b)
		if _, ok := errors.AsType[*arq.NotFoundError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		read, err := f.Request(f.ctx, q.UUID)
		f.ok(err)
		if read.State != arq.BindFailed || read.Handle != nil || read.InstanceUUID != b.InstanceUUID || got.State != arq.BindFailed {
			t.Errorf("%s: stored %+v", name, read)
		}
		if r := f.release(q, arq.LeaveUnbind); r.Settlement != arq.SettleNothing {
			t.Errorf("%s: unbind: %+v", name, r)
		}
	}
	b := f.bindTo(arq.Request{UUID: uuid.NewString()}, p)
	var missing *arq.NotFoundError
	if _, err := f.Begin(f.ctx, b); !errors.As(err, &missing) || missing.Resource != "ExtArq" {
		t.Errorf("unknown request: %v", err)
	}
}

func bindSteps(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.device(1, 3)
	for i := range d.Deployables[0].Handles {
		d.Deployables[0].Handles[i].Type = arq.HandleMDEV
	}
	p := f.insert(d)[0].Deployables[0]
	for _, c := range []struct {
		event arq.Event
		state arq.State
		held  bool
	}{
		{arq.EventStepDone, arq.Bound, true},
		{arq.EventStepFailed, arq.BindFailed, false},
		{arq.EventStepTimedOut, arq.BindFailed, true},
	} {
		q, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p))
		f.ok(err)
		if q.State != arq.BindStarted || q.Handle == nil || !handleOf(f.inventory(), q.Handle.ID).InUse {
			t.Fatalf("started: %+v", q)
		}
		done, err := f.Finish(f.ctx, q.UUID, arq.Outcome{Event: c.event, BitstreamID: "bitstream-1"})
		f.ok(err)
		if held := handleOf(f.inventory(), q.Handle.ID).Held(); done.State != c.state || held != c.held {
			t.Errorf("%s: state %s, held %v", c.event, done.State, held)
		}
		var bad *arq.BadStateError
		if _, err := f.Finish(f.ctx, q.UUID, arq.Outcome{Event: c.event}); !errors.As(err, &bad) {
			t.Errorf("%s twice: %v", c.event, err)
		}
	}
	now := f.inventory()[0].Deployables[0]
	if now.BitstreamID == nil || *now.BitstreamID != "bitstream-1" {
		t.Errorf("bitstream_id %v", now.BitstreamID)
	}
}

func programming(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.device(1, 1)
	d.Deployables[0].BitstreamID = new("bitstream-1")
	p := f.insert(d)[0].Deployables[0]
	carries := func() string { return f.rawString("SELECT bitstream_id FROM deployables WHERE id = %d", p.ID) }
	b := f.bindTo(f.requests(1)[0], p)
	b.Program = arq.Program{BitstreamID: "bitstream-2"}
	q, err := f.Begin(f.ctx, b)
	f.ok(err)
	if q.State != arq.BindStarted || carries() != "bitstream-1" {
		t.Errorf("%s, carries %s", q.State, carries())
	}
	f.ok(f.StartProgramming(f.ctx, q.UUID))
	if carries() != "NULL" {
		t.Errorf("while it is programmed it is said to carry %s", carries())
	}
	_, err = f.Finish(f.ctx, q.UUID, arq.Outcome{Event: arq.EventStepFailed})
	f.ok(err)
	if carries() != "NULL" {
		t.Errorf("after a failure it is said to carry %s", carries())
	}
	var bad *arq.BadStateError
	if err := f.StartProgramming(f.ctx, q.UUID); !errors.As(err, &bad) || bad.Have != arq.BindFailed {
		t.Errorf("programming for a request that has failed: %v", err)
	}
	b = f.bindTo(f.requests(1)[0], p)
	b.Program = arq.Program{BitstreamID: "bitstream-1"}
	if q, err = f.Begin(f.ctx, b); err != nil || q.State != arq.BindStarted {
		t.Errorf("the image of before: %s, %v", q.State, err)
	}
}

// nvmeDevice describes a clean NVMe device.
func (f *fixture) nvmeDevice(n int) reconcile.Device {
	d := f.device(n, 1)
	d.Type, d.State = arq.DeviceTypeNVMe, reconcile.StateAvailable
	return d
}

func nvmeLife(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	unknown := f.nvmeDevice(2)
	unknown.State = reconcile.StateUnset
	ds := f.insert(f.nvmeDevice(1), unknown)
	if ds[1].State != reconcile.StatePendingCleaning || !ds[1].Deployables[0].Handles[0].InUse {
		t.Errorf("a new device of unknown state: %+v", ds[1])
	}
	dev, p := ds[0].UUID, ds[0].Deployables[0]
	q, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p))
	f.ok(err)
	f.wantDevice(q.State == arq.BindStarted, reconcile.StateAllocated, true, "")
	other, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p))
	if other.State == arq.Bound || err == nil {
		t.Fatalf("bound twice: %+v", other)
	}
	done, err := f.Finish(f.ctx, q.UUID, arq.Outcome{Event: arq.EventStepDone})
	f.ok(err)
	f.wantDevice(done.State == arq.Bound, reconcile.StateAllocated, true, p.Offer)

	r := f.release(q, arq.LeaveDelete)
	f.wantDevice(r.Settlement == arq.SettleClean, reconcile.StatePendingCleaning, true, "")
	var bad interface{ Error() string }
	if err := f.CompleteCleanup(f.ctx, dev, "a"); !errors.As(err, &bad) {
		t.Error("a device that was never cleaning became available")
	}
	f.ok(f.BeginCleanup(f.ctx, dev, "a"))
	f.ok(f.BeginCleanup(f.ctx, dev, "b"))
	f.ok(f.ReleaseCleanup(f.ctx, dev, "b"))
	f.ok(f.BeginCleanup(f.ctx, dev, "c"))
	f.wantDevice(true, reconcile.StateCleaning, true, "")
	f.ok(f.CompleteCleanup(f.ctx, dev, "c"))
	f.wantDevice(true, reconcile.StateAvailable, false, "")
	f.ok(f.CompleteCleanup(f.ctx, dev, "c"))

	f.offer(f.inventory()[:1])
	q, err = f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p))
	f.ok(err)
	f.offer(f.inventory()[:1]) // as a report meanwhile does, with everything reserved in Placement
	_, err = f.Finish(f.ctx, q.UUID, arq.Outcome{Event: arq.EventStepFailed})
	f.ok(err)
	f.wantDevice(true, reconcile.StateAvailable, false, "")

	f.offer(f.inventory()[:1])
	f.raw("UPDATE devices SET status = 'maintaining' WHERE uuid = '%s'", dev)
	if _, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p)); err == nil {
		t.Error("a device in maintenance was bound")
	}
	f.ok(f.QuarantineCleanup(f.ctx, ds[1].UUID, "d"))
	if got := f.inventory()[1]; got.State != reconcile.StateError || !got.Deployables[0].Handles[0].InUse {
		t.Errorf("quarantined: %+v", got)
	}
	if err := f.BeginCleanup(f.ctx, ds[1].UUID, "e"); err == nil {
		t.Error("a quarantined device was taken out of quarantine")
	}
}

// wantDevice compares the first device with what it should be.
func (f *fixture) wantDevice(also bool, state reconcile.DeviceState, inUse bool, offer string) {
	f.Helper()
	d := f.inventory()[0]
	p := d.Deployables[0]
	if !also || d.State != state || p.Handles[0].InUse != inUse || p.Offer != offer {
		f.Errorf("state %s, in use %v, offer %q (expectation of the request met: %v), want %s, %v, %q",
			d.State, p.Handles[0].InUse, p.Offer, also, state, inUse, offer)
	}
}

func sharedHandle(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	p := f.insert(f.device(1, 1))[0].Deployables[0]
	q := f.bind(f.requests(1)[0], p)
	twin := f.requests(1)[0]
	f.raw("UPDATE extended_accelerator_requests SET state = 'Bound', attach_handle_id = %d, deployable_id = %d WHERE uuid = '%s'",
		q.Handle.ID, p.ID, twin.UUID)
	f.release(q, arq.LeaveUnbind)
	if h := handleOf(f.inventory(), q.Handle.ID); !h.InUse || len(h.ARQs) != 1 {
		t.Errorf("handle: %+v", h)
	}
	// A Python peer frees the handle before it clears the name.
	f.raw("UPDATE attach_handles SET in_use = FALSE WHERE id = %d", q.Handle.ID)
	if got, err := f.Begin(f.ctx, f.bindTo(q, p)); err == nil {
		t.Errorf("bound to a handle that another request names: %+v", got)
	}
	f.release(twin, arq.LeaveDelete)
	q = f.requests(1)[0]
	f.bind(q, p)
}

// sameInfo compares attach_info texts byte by byte.
var sameInfo = cmp.Comparer(func(a, b arq.HandleInfo) bool { return a.String() == b.String() })

// withdrawnMeanwhile lets a report withdraw an NVMe device in the middle of a
// bind: the bind is refused and the report's claim still holds.
func withdrawnMeanwhile(t *testing.T, target Target) {
	if target.Engine == "sqlite" {
		return // one writer at a time: there is no middle
	}
	var middle func()
	f := newFixture(t, target, func(cfg *store.Config) {
		cfg.Fault = func(p store.Point) error {
			if middle != nil && p.Op == "Begin" && p.Stage == store.StageWrite {
				do := middle
				middle = nil
				do()
			}
			return nil
		}
	})
	p := f.insert(f.nvmeDevice(1))[0].Deployables[0]
	q := f.requests(1)[0]
	report := target.Open(t, nil)
	var claims []reconcile.Claim
	middle = func() {
		var err error
		claims, err = report.Withdraw(f.ctx, []reconcile.Version{{ID: p.ID, UpdatedAt: p.UpdatedAt}})
		f.ok(err)
	}
	got, err := f.Begin(f.ctx, f.bindTo(q, p))
	if err == nil || got.State != arq.BindFailed {
		t.Errorf("bound to a withdrawn device: %+v", got)
	}
	f.wantDevice(len(claims) == 1, reconcile.StateAvailable, false, "")
	claims[0].Offer = p.Offer
	f.ok2(report.Offer(f.ctx, claims))
}

// claimedMeanwhile lets a report claim the deployable of an NVMe device while a guest is being bound to it: the bind ends
// and leaves the offer to the report.
func claimedMeanwhile(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	p := f.insert(f.nvmeDevice(1))[0].Deployables[0]
	q, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], p))
	f.ok(err)
	now := f.inventory()[0].Deployables[0]
	claims, err := f.Withdraw(f.ctx, []reconcile.Version{{ID: now.ID, UpdatedAt: now.UpdatedAt}})
	f.ok(err)
	if q, err = f.Finish(f.ctx, q.UUID, arq.Outcome{Event: arq.EventStepDone}); err != nil || q.State != arq.Bound {
		t.Errorf("%s, %v", q.State, err)
	}
	f.wantDevice(len(claims) == 1, reconcile.StateAllocated, true, "")
	claims[0].Offer = p.Offer
	f.ok2(f.Offer(f.ctx, claims))
}
