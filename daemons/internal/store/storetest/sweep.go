package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

func sweeps(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	mdev := f.device(1, 1)
	mdev.Deployables[0].Handles[0].Type = arq.HandleMDEV
	ds := f.insert(mdev, f.device(2, 1), f.nvmeDevice(3))
	stuck, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], ds[0].Deployables[0]))
	f.ok(err)
	bound := f.bind(f.requests(1)[0], ds[1].Deployables[0])
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)

	found, err := f.StuckBinds(f.ctx, future)
	f.ok(err)
	none, err := f.StuckBinds(f.ctx, past)
	f.ok(err)
	if !holds(found, stuck) || holds(found, bound) || holds(none, stuck) {
		t.Error("stuck binds")
	}
	found, err = f.Unnotified(f.ctx, past)
	f.ok(err)
	none, err = f.Unnotified(f.ctx, future)
	f.ok(err)
	if !holds(found, bound) || holds(found, stuck) || holds(none, bound) {
		t.Error("unnotified")
	}

	// A Python API deletes the request of an NVMe device and frees its handle.
	q, err := f.Begin(f.ctx, f.bindTo(f.requests(1)[0], ds[2].Deployables[0]))
	f.ok(err)
	_, err = f.Finish(f.ctx, q.UUID, arq.Outcome{Event: arq.EventStepDone})
	f.ok(err)
	if owed, err := f.OweCleanup(f.ctx, ds[2].UUID); err != nil || owed {
		t.Errorf("a device with a guest owes nothing: %v, %v", owed, err)
	}
	f.raw("UPDATE attach_handles SET in_use = FALSE WHERE id = %d", q.Handle.ID)
	f.raw("DELETE FROM extended_accelerator_requests WHERE uuid = '%s'", q.UUID)
	cleanups, err := f.OwedCleanups(f.ctx, future)
	f.ok(err)
	if !owes(cleanups, ds[2].UUID, reconcile.StateAllocated) {
		t.Errorf("owed cleanups: %+v", cleanups)
	}
	owed, err := f.OweCleanup(f.ctx, ds[2].UUID)
	f.ok(err)
	d := f.inventory()[2]
	if !owed || d.State != reconcile.StatePendingCleaning || !d.Deployables[0].Handles[0].InUse || d.Deployables[0].Offer != "" {
		t.Errorf("owed %v: %+v", owed, d)
	}
	cleanups, err = f.OwedCleanups(f.ctx, past)
	if f.ok(err); !owes(cleanups, ds[2].UUID, reconcile.StatePendingCleaning) {
		t.Errorf("owed cleanups: %+v", cleanups)
	}
	f.leaks(bound, past, future)
}

func (f *fixture) leaks(bound arq.Request, past, future time.Time) {
	f.Helper()
	if freed, err := f.FreeLeakedHandle(f.ctx, bound.Handle.UUID, future); err != nil || freed {
		f.Errorf("freed a handle with an owner: %v, %v", freed, err)
	}
	f.raw("DELETE FROM extended_accelerator_requests WHERE uuid = '%s'", bound.UUID)
	leaks, err := f.LeakedHandles(f.ctx, future)
	f.ok(err)
	seen := false
	for _, l := range leaks {
		seen = seen || l.UUID == bound.Handle.UUID && l.Host == f.host
	}
	if !seen {
		f.Errorf("leaked handles: %+v", leaks)
	}
	if freed, err := f.FreeLeakedHandle(f.ctx, bound.Handle.UUID, past); err != nil || freed {
		f.Errorf("freed a young leak: %v, %v", freed, err)
	}
	if freed, err := f.FreeLeakedHandle(f.ctx, bound.Handle.UUID, future); err != nil || !freed {
		f.Errorf("kept a leak: %v, %v", freed, err)
	}
}

func holds(qs []arq.Request, q arq.Request) bool {
	for _, x := range qs {
		if x.UUID == q.UUID {
			return true
		}
	}
	return false
}

func owes(cs []store.OwedCleanup, device string, state reconcile.DeviceState) bool {
	for _, c := range cs {
		if c.UUID == device {
			return c.State == state
		}
	}
	return false
}

func healing(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	ds := f.insert(f.device(1, 1), f.device(2, 1), f.device(3, 0))
	q := f.bind(f.requests(1)[0], ds[0].Deployables[0])
	f.raw("UPDATE devices SET device_state = NULL WHERE hostname = '%s'", f.host)
	if n, err := f.UnstatedDevices(f.ctx); err != nil || n < 3 {
		t.Errorf("%d devices without a state, %v", n, err)
	}
	found, done, err := f.BackfillDeviceStates(f.ctx)
	if f.ok(err); found < 3 || done != found {
		t.Errorf("backfilled %d of %d", done, found)
	}
	got := f.inventory()
	if got[0].State != reconcile.StateAllocated || got[1].State != reconcile.StateAvailable || got[2].State != reconcile.StateAvailable {
		t.Errorf("states %s, %s, %s", got[0].State, got[1].State, got[2].State)
	}
	f.raw("UPDATE extended_accelerator_requests SET project_id = NULL WHERE uuid = '%s'", q.UUID)
	rows, err := f.UnownedRequests(f.ctx, q.ID-1, 1)
	f.ok(err)
	if len(rows) != 1 || rows[0].UUID != q.UUID || rows[0].Instance != q.InstanceUUID {
		t.Fatalf("unowned: %+v", rows)
	}
	for i, want := range []bool{true, false} {
		if set, err := f.SetRequestProject(f.ctx, q.ID, "owner"); err != nil || set != want {
			t.Errorf("time %d: %v, %v", i+1, set, err)
		}
	}
}

// halfMade: a Python conductor died while it created a device.
func halfMade(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	whole := f.insert(f.device(1, 1))[0]
	for _, host := range []string{f.host, f.host + "-other"} {
		f.raw("INSERT INTO devices (uuid, type, vendor, model, hostname, status) VALUES ('%s', 'GPU', 'v', 'm', '%s', 'enabled')", uuid.NewString(), host)
	}
	f.raw("INSERT INTO deployables (uuid, name, num_accelerators, device_id) SELECT '%s', 'half', 1, id FROM devices WHERE hostname = '%s' AND id <> %d",
		uuid.NewString(), f.host, whole.ID)
	removed, err := f.RemoveHalfMade(f.ctx, f.host)
	if err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if ds := f.inventory(); len(ds) != 1 || ds[0].UUID != whole.UUID {
		t.Errorf("left %+v", ds)
	}
	if n := f.rawString("SELECT COUNT(*) FROM devices WHERE hostname = '%s-other'", f.host); n != "1" {
		t.Errorf("%s devices of the other host", n)
	}
	if removed, err = f.RemoveHalfMade(f.ctx, f.host); err != nil || len(removed) != 0 {
		t.Errorf("removed again %v, %v", removed, err)
	}
}
