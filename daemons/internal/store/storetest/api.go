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

func profiles(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	text := "a profile"
	want := store.Profile{
		UUID: uuid.NewString(), Name: "p-" + uuid.NewString(), Description: &text,
		Groups: []arq.Group{{{Key: "trait:CUSTOM_Z", Value: "required"}, {Key: "resources:FPGA", Value: "2"}}, {}},
	}
	got, err := f.CreateProfile(f.ctx, want)
	f.ok(err)
	want.ID, want.CreatedAt = got.ID, got.CreatedAt
	if diff := cmp.Diff(want, got); diff != "" || got.CreatedAt.IsZero() {
		t.Errorf("(-want +got):\n%s", diff)
	}
	column := f.rawString("SELECT profile_json FROM device_profiles WHERE uuid = '%s'", want.UUID)
	if column != `{"groups": [{"trait:CUSTOM_Z": "required", "resources:FPGA": "2"}, {}]}` {
		t.Errorf("column %s", column)
	}
	for key, p := range map[string]store.Profile{
		"name": {Name: want.Name, Groups: want.Groups}, "uuid": {Name: "q-" + want.UUID, UUID: want.UUID, Groups: want.Groups},
	} {
		var duplicate *store.DuplicateError
		if _, err := f.CreateProfile(f.ctx, p); !errors.As(err, &duplicate) || duplicate.Key != key || duplicate.Resource != "Device Profile" {
			t.Errorf("duplicate %s: %v", key, err)
		}
	}
	byName, err := f.ProfileByName(f.ctx, want.Name)
	f.ok(err)
	byUUID, err := f.ProfileByUUID(f.ctx, want.UUID)
	f.ok(err)
	if diff := cmp.Diff(byName, byUUID); diff != "" {
		t.Errorf("by name and by uuid: %s", diff)
	}
	_, err = f.CreateARQs(f.ctx, []arq.New{{ProfileID: got.ID}})
	f.ok(err)
	var refused *store.Error
	if err := f.DeleteProfile(f.ctx, want.UUID); !errors.As(err, &refused) || refused.Kind != store.Referenced {
		t.Errorf("a profile in use: %v", err)
	}
	f.raw("DELETE FROM extended_accelerator_requests WHERE device_profile_id = %d", got.ID)
	f.ok(f.DeleteProfile(f.ctx, want.UUID))
	var missing *arq.NotFoundError
	if err := f.DeleteProfile(f.ctx, want.UUID); !errors.As(err, &missing) {
		t.Errorf("second delete: %v", err)
	}
	if _, err := f.ProfileByName(f.ctx, want.Name); !errors.As(err, &missing) || missing.Error() != "Device Profile not found with name="+want.Name {
		t.Errorf("deleted: %v", err)
	}
	all, err := f.Profiles(f.ctx)
	f.ok(err)
	for _, p := range all {
		if p.UUID == want.UUID {
			t.Error("a deleted profile is listed")
		}
	}
}

func apiLists(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	b := f.device(2, 1)
	b.Vendor = f.host
	ds := f.insert(f.device(1, 1), b)
	rows, err := f.Devices(f.ctx, store.DeviceFilter{Hostname: f.host, Order: store.Order{Newest: true}})
	f.ok(err)
	if len(rows) != 2 || rows[0].ID != ds[1].ID {
		t.Errorf("newest first: %+v", rows)
	}
	one := 1
	rows, err = f.Devices(f.ctx, store.DeviceFilter{Hostname: f.host, Order: store.Order{Newest: true, SortKey: "vendor", Ascending: true, Limit: &one}})
	if f.ok(err); len(rows) != 1 || rows[0].ID != ds[0].ID {
		t.Errorf("by vendor: %+v", rows)
	}
	for _, filter := range []store.DeviceFilter{{Type: "TOASTER"}, {Hostname: f.host, Vendor: "none"}} {
		if rows, err = f.Devices(f.ctx, filter); err != nil || len(rows) != 0 {
			t.Errorf("%+v: %v, %v", filter, rows, err)
		}
	}
	if rows, err = f.Devices(f.ctx, store.DeviceFilter{Hostname: f.host, Vendor: f.host, Type: "GPU"}); err != nil || len(rows) != 1 {
		t.Errorf("every filter: %v, %v", rows, err)
	}
	var key *store.SortKeyError
	if _, err := f.Devices(f.ctx, store.DeviceFilter{Order: store.Order{Newest: true, SortKey: "id; DROP"}}); !errors.As(err, &key) {
		t.Errorf("sort key: %v", err)
	}
	f.ok(f.SetDeviceStatus(f.ctx, ds[0].UUID, reconcile.StatusMaintaining))
	row, err := f.DeviceByUUID(f.ctx, ds[0].UUID)
	if f.ok(err); row.Status != reconcile.StatusMaintaining || row.UpdatedAt == nil {
		t.Errorf("status: %+v", row)
	}
	d, host, err := f.Device(f.ctx, ds[0].UUID)
	if f.ok(err); host != f.host || d.Status != reconcile.StatusMaintaining || len(d.Deployables) != 1 {
		t.Errorf("device: %+v", d)
	}
	p := ds[0].Deployables[0]
	got, err := f.Deployables(f.ctx, store.DeployableFilter{Name: p.Name})
	f.ok(err)
	if len(got) != 1 || len(got[0].Attributes) != 2 || got[0].Attributes[0].Key != "rc" || *got[0].RPUUID != p.Offer {
		t.Errorf("deployables: %+v", got)
	}
	if byUUID, err := f.DeployableByUUID(f.ctx, p.UUID); err != nil || !cmp.Equal(byUUID, got[0]) {
		t.Errorf("by uuid: %+v, %v", byUUID, err)
	}
	f.attributes(p)
	f.missing()
}

func (f *fixture) attributes(p reconcile.Deployable) {
	f.Helper()
	a, err := f.CreateAttribute(f.ctx, store.Attribute{DeployableID: p.ID, Key: "key", Value: "v"})
	f.ok(err)
	for _, filter := range []store.AttributeFilter{{DeployableID: &p.ID, Key: "key"}, {DeployableID: &p.ID}} {
		rows, err := f.Attributes(f.ctx, filter)
		if f.ok(err); len(rows) == 0 || rows[len(rows)-1].UUID != a.UUID {
			f.Errorf("%+v: %+v", filter, rows)
		}
	}
	read, err := f.AttributeByUUID(f.ctx, a.UUID)
	if f.ok(err); !cmp.Equal(a, read) {
		f.Errorf("read %+v, created %+v", read, a)
	}
	var duplicate *store.DuplicateError
	if _, err := f.CreateAttribute(f.ctx, store.Attribute{UUID: a.UUID, DeployableID: p.ID}); !errors.As(err, &duplicate) {
		f.Errorf("duplicate: %v", err)
	}
	var refused *store.Error
	if _, err := f.CreateAttribute(f.ctx, store.Attribute{DeployableID: 1 << 30}); !errors.As(err, &refused) || refused.Kind != store.Referenced {
		f.Errorf("unknown deployable: %v", err)
	}
	f.ok(f.DeleteAttribute(f.ctx, a.UUID))
}

// missing asks every reader of one row for one that does not exist.
func (f *fixture) missing() {
	f.Helper()
	id := uuid.NewString()
	_, deviceErr := f.DeviceByUUID(f.ctx, id)
	_, _, inventoryErr := f.Device(f.ctx, id)
	_, deployableErr := f.DeployableByUUID(f.ctx, id)
	_, attributeErr := f.AttributeByUUID(f.ctx, id)
	_, requestErr := f.Request(f.ctx, id)
	for resource, err := range map[string]error{
		"Device": deviceErr, "Device ": inventoryErr, "Deployable": deployableErr, "Attribute": attributeErr, "ExtArq": requestErr,
		"Device  ": f.SetDeviceStatus(f.ctx, id, "enabled"), "Attribute ": f.DeleteAttribute(f.ctx, id), "Device   ": f.BeginCleanup(f.ctx, id, ""),
	} {
		if _, ok := errors.AsType[*arq.NotFoundError](err); !ok {
			f.Errorf("%s: %v", resource, err)
		}
	}
}

func requestStatements(t *testing.T, target Target) {
	var c counter
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = c.count })
	p := f.insert(f.device(1, 2))[0].Deployables[0]
	qs := f.requests(1000)
	bound := f.bind(qs[500], p)
	c.reset()
	project := "project-1"
	uuids := make([]string, len(qs))
	for i, q := range qs {
		uuids[i] = q.UUID
	}
	got, err := f.Requests(f.ctx, store.RequestFilter{UUIDs: uuids, Project: &project})
	f.ok(err)
	if len(got) != 1000 || got[500].Handle == nil || got[999].ProfileName == "" || got[0].UUID != qs[0].UUID {
		t.Errorf("%d requests", len(got))
	}
	if n := c.reads.Load(); n > 3 {
		t.Errorf("%d statements", n)
	}
	other := "project-2"
	for name, filter := range map[string]store.RequestFilter{
		"no uuids": {UUIDs: []string{}}, "another project": {UUIDs: uuids, Project: &other}, "no instance": {Instance: uuid.NewString()},
	} {
		if got, err := f.Requests(f.ctx, filter); err != nil || len(got) != 0 {
			t.Errorf("%s: %d requests, %v", name, len(got), err)
		}
	}
	if got, err := f.Requests(f.ctx, store.RequestFilter{Instance: bound.InstanceUUID}); err != nil || len(got) != 1 || got[0].UUID != bound.UUID {
		t.Errorf("by instance: %+v, %v", got, err)
	}
}

func inventoryStatements(t *testing.T, target Target) {
	var c counter
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = c.count })
	var ds []reconcile.Device
	for i := range 512 {
		ds = append(ds, f.device(i, 1))
	}
	for len(ds) > 0 {
		_, err := f.Insert(f.ctx, f.host, ds[:256])
		f.ok(err)
		ds = ds[256:]
	}
	c.reset()
	if n := len(f.inventory()); n != 512 {
		t.Errorf("%d devices", n)
	}
	if n := c.reads.Load(); n > 6 {
		t.Errorf("%d queries", n)
	}
}

// statements is the budget of each transaction, transaction control not
// counted.
func statements(t *testing.T, target Target) {
	var c counter
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = c.count })
	var ds []reconcile.Device
	for i := range 256 {
		ds = append(ds, f.device(i, 1))
	}
	spent := func(name string, budget int32) {
		t.Helper()
		if n := c.reads.Load() + c.writes.Load(); n > budget {
			t.Errorf("%s: %d statements, want at most %d", name, n, budget)
		}
		c.reset()
	}
	c.reset()
	ds, err := f.Insert(f.ctx, f.host, ds)
	f.ok(err)
	spent("insert of 256 devices", 10)
	var seen []reconcile.Version
	var claims []reconcile.Claim
	for _, d := range ds {
		p := d.Deployables[0]
		seen = append(seen, reconcile.Version{ID: p.ID})
		claims = append(claims, reconcile.Claim{ID: p.ID, Offer: provider(p.Name)})
	}
	f.ok2(f.Offer(f.ctx, claims))
	spent("offer of 256", 1)
	q := f.requests(1)[0]
	c.reset()
	f.bind(q, reconcile.Deployable{Offer: claims[0].Offer})
	spent("bind", 7)
	f.release(q, arq.LeaveUnbind)
	spent("unbind", 5)
	_, err = f.Withdraw(f.ctx, seen)
	f.ok(err)
	spent("withdrawal of 256", 1)
}
