package storetest

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// update describes the change of the first handle's text, as seen in d.
func (f *fixture) update(d reconcile.Device, text string) cyborg.AttachInfoUpdate {
	p := d.Deployables[0]
	h := p.Handles[0]
	return cyborg.AttachInfoUpdate{
		UUID: h.UUID, AttachInfo: text, RequireUnallocated: true,
		Expected: cyborg.HandleExpectation{
			DeployableID: p.ID, DeployableName: p.Name, ControlpathID: d.ControlPath.ID, CpidInfo: d.ControlPath.Info,
			DeviceID: d.ID, Hostname: f.host, AttachType: string(h.Type), AttachInfo: h.Info, InUse: h.InUse, Referenced: len(h.ARQs) > 0,
		},
	}
}

func updateAttachInfo(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	d := f.insert(f.device(1, 1))[0]
	text := `{"managed": false}`
	row, err := f.UpdateAttachInfo(f.ctx, f.update(d, text))
	f.ok(err)
	if row.AttachInfo != text || row.UUID != d.Deployables[0].Handles[0].UUID || row.UpdatedAt == nil {
		t.Errorf("returned %+v", row)
	}
	if got := f.inventory()[0].Deployables[0].Handles[0].Info; got != text {
		t.Errorf("stored %s", got)
	}
	d = f.inventory()[0]
	again, err := f.UpdateAttachInfo(f.ctx, f.update(d, text))
	f.ok(err)
	if !again.UpdatedAt.Equal(*row.UpdatedAt) {
		t.Error("equal bytes were written again")
	}
	for name, change := range map[string]func(*cyborg.AttachInfoUpdate){
		"deployable id":   func(u *cyborg.AttachInfoUpdate) { u.Expected.DeployableID++ },
		"deployable name": func(u *cyborg.AttachInfoUpdate) { u.Expected.DeployableName += "x" },
		"control path":    func(u *cyborg.AttachInfoUpdate) { u.Expected.ControlpathID++ },
		"cpid_info":       func(u *cyborg.AttachInfoUpdate) { u.Expected.CpidInfo += " " },
		"device":          func(u *cyborg.AttachInfoUpdate) { u.Expected.DeviceID++ },
		"host":            func(u *cyborg.AttachInfoUpdate) { u.Expected.Hostname = "other" },
		"type":            func(u *cyborg.AttachInfoUpdate) { u.Expected.AttachType = "MDEV" },
		"text":            func(u *cyborg.AttachInfoUpdate) { u.Expected.AttachInfo = `{"MANAGED": false}` },
		"in use":          func(u *cyborg.AttachInfoUpdate) { u.Expected.InUse = true },
		"referenced":      func(u *cyborg.AttachInfoUpdate) { u.Expected.Referenced = true },
	} {
		u := f.update(d, "{}")
		change(&u)
		var stale *cyborg.StaleHandleError
		if _, err := f.UpdateAttachInfo(f.ctx, u); !errors.As(err, &stale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.bind(f.requests(1)[0], d.Deployables[0])
	d = f.inventory()[0]
	var stale *cyborg.StaleHandleError
	if _, err := f.UpdateAttachInfo(f.ctx, f.update(d, "{}")); !errors.As(err, &stale) {
		t.Errorf("allocated: %v", err)
	}
	if got := f.inventory()[0].Deployables[0].Handles[0].Info; got != text {
		t.Errorf("a refused update wrote %s", got)
	}
	metadata := f.update(d, `{"managed": false, "numa_node": 1}`)
	metadata.RequireUnallocated = false
	if _, err := f.UpdateAttachInfo(f.ctx, metadata); err != nil {
		t.Errorf("metadata of an allocated handle: %v", err)
	}
	var missing *cyborg.HandleNotFoundError
	u := f.update(d, "{}")
	u.UUID = uuid.NewString()
	if _, err := f.UpdateAttachInfo(f.ctx, u); !errors.As(err, &missing) {
		t.Errorf("missing: %v", err)
	}
}

func rowLists(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	ds := f.insert(f.device(1, 2), f.device(2, 1))
	q := f.bind(f.requests(1)[0], ds[1].Deployables[0])
	devices, err := f.DevicesByHostname(f.ctx, f.host)
	f.ok(err)
	paths, err := f.ControlpathIDsByHostname(f.ctx, f.host)
	f.ok(err)
	deployables, err := f.DeployablesByHostname(f.ctx, f.host)
	f.ok(err)
	handles, err := f.AttachHandlesByHostname(f.ctx, f.host)
	f.ok(err)
	referenced, err := f.ReferencedAttachHandlesByHostname(f.ctx, f.host)
	f.ok(err)
	if len(devices) != 2 || len(paths) != 2 || len(deployables) != 2 || len(handles) != 3 || len(referenced) != 1 {
		t.Fatalf("%d devices, %d paths, %d deployables, %d handles, %d referenced",
			len(devices), len(paths), len(deployables), len(handles), len(referenced))
	}
	if d := devices[1]; d.ID != ds[1].ID || d.Hostname != f.host || *d.DeviceState != "available" || d.CreatedAt == nil || d.UpdatedAt != nil {
		t.Errorf("device %+v", d)
	}
	if p := deployables[0]; p.ID != ds[0].Deployables[0].ID || *p.RPUUID != ds[0].Deployables[0].Offer {
		t.Errorf("deployable %+v", p)
	}
	if c := paths[0]; c.DeviceID != ds[0].ID || c.CpidInfo != ds[0].ControlPath.Info {
		t.Errorf("control path %+v", c)
	}
	if h := referenced[0]; h.ID != q.Handle.ID || !h.InUse || h.CpidID != ds[1].ControlPath.ID {
		t.Errorf("handle %+v", h)
	}
	none, err := f.AttachHandlesByHostname(f.ctx, "nobody")
	if err != nil || len(none) != 0 {
		t.Errorf("unknown host: %v, %v", none, err)
	}
}
