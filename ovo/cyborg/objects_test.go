package cyborg_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// loopback is an indirection without a wire.
type loopback struct{ d *ovo.Dispatcher }

func (l loopback) ObjectClassActionVersions(ctx context.Context, object, method string, m ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	return l.d.ClassAction(ctx, object, method, m, args, kwargs)
}

func (l loopback) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	return l.d.Action(ctx, object, method, args, kwargs)
}

func (l loopback) ObjectBackportVersions(_ context.Context, object json.RawMessage, m ovo.Manifest) (json.RawMessage, error) {
	return l.d.Backport(object, m)
}

var created = time.Date(2026, 11, 29, 16, 0, 0, 0, time.UTC)

// host is a store with one device of everything; its handle is referenced.
type host struct {
	update cyborg.AttachInfoUpdate // the last one
	err    error
}

func (h *host) known(name string) bool { return name == "compute-1" }

func (h *host) DevicesByHostname(_ context.Context, name string) ([]cyborg.DeviceRow, error) {
	if !h.known(name) {
		return nil, h.err
	}
	state := "available"
	return []cyborg.DeviceRow{{
		ID: 1, UUID: "d", Type: "GPU", Vendor: "10de", Model: "25b6", Hostname: name, Status: "enabled",
		DeviceState: &state, CreatedAt: &created,
	}}, h.err
}

func (h *host) ControlpathIDsByHostname(_ context.Context, name string) ([]cyborg.ControlpathIDRow, error) {
	if !h.known(name) {
		return nil, h.err
	}
	return []cyborg.ControlpathIDRow{{ID: 2, UUID: "c", DeviceID: 1, CpidType: "PCI", CpidInfo: `{"bus":"25"}`}}, h.err
}

func (h *host) DeployablesByHostname(_ context.Context, name string) ([]cyborg.DeployableRow, error) {
	if !h.known(name) {
		return nil, h.err
	}
	return []cyborg.DeployableRow{{ID: 3, UUID: "p", Name: "n", NumAccelerators: 1, DeviceID: 1}}, h.err
}

func (h *host) handle() cyborg.AttachHandleRow {
	return cyborg.AttachHandleRow{ID: 4, UUID: "h", DeployableID: 3, CpidID: 2, AttachType: "PCI", AttachInfo: `{"bus": "25"}`, InUse: true}
}

func (h *host) AttachHandlesByHostname(_ context.Context, name string) ([]cyborg.AttachHandleRow, error) {
	if !h.known(name) {
		return nil, h.err
	}
	free := h.handle()
	free.ID, free.UUID, free.InUse = 5, "free", false
	return []cyborg.AttachHandleRow{h.handle(), free}, h.err
}

func (h *host) ReferencedAttachHandlesByHostname(_ context.Context, name string) ([]cyborg.AttachHandleRow, error) {
	if !h.known(name) {
		return nil, h.err
	}
	return []cyborg.AttachHandleRow{h.handle()}, h.err
}

func (h *host) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	h.update = u
	row := h.handle()
	row.AttachInfo = u.AttachInfo
	return &row, h.err
}

// callers are the same methods, run here and run behind an indirection.
func callers(t *testing.T, db cyborg.Store) map[string]cyborg.Objects {
	t.Helper()
	r := registry(t)
	local := cyborg.Local(db)
	d, err := local.Dispatcher(r)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := cyborg.Remote(r, loopback{d})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]cyborg.Objects{"local": local, "remote": remote}
}

// TestLists: every list method, for a known and an unknown host, gives clean objects with all columns.
func TestLists(t *testing.T) {
	t.Parallel()
	for name, objects := range callers(t, &host{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			devices, err := objects.DeviceList.GetByHostname(ctx, "compute-1")
			if err != nil || devices.Len() != 1 || devices.Changed() {
				t.Fatalf("devices: %v, %v", devices, err)
			}
			d := devices.All()[0]
			if d.UUID.Value() != "d" || d.DeviceState.Value() != cyborg.Available || !d.StdBoardInfo.IsNull() ||
				!d.CreatedAt.Value().Equal(created) || !d.UpdatedAt.IsNull() || d.Vendor.Changed() {
				t.Errorf("device %+v", d)
			}
			paths, err := objects.ControlpathIDList.GetByHostname(ctx, "compute-1")
			if err != nil || paths.Len() != 1 || paths.All()[0].CpidInfo.Value() != `{"bus":"25"}` {
				t.Errorf("control paths: %v, %v", paths, err)
			}
			deployables, err := objects.DeployableList.GetByHostname(ctx, "compute-1")
			if err != nil || deployables.Len() != 1 || !deployables.All()[0].RPUUID.IsNull() {
				t.Errorf("deployables: %v, %v", deployables, err)
			}
			handles, err := objects.AttachHandleList.GetByHostname(ctx, "compute-1")
			if err != nil || handles.Len() != 2 || !handles.All()[0].InUse.Value() || handles.All()[1].InUse.Value() {
				t.Errorf("handles: %v, %v", handles, err)
			}
			named, err := objects.AttachHandleList.GetReferencedByHostname(ctx, "compute-1")
			if err != nil || named.Len() != 1 || named.All()[0].UUID.Value() != "h" {
				t.Errorf("referenced handles: %v, %v", named, err)
			}
			none, err := objects.DeviceList.GetByHostname(ctx, "elsewhere")
			if err != nil || none.Len() != 0 {
				t.Errorf("unknown host: %v, %v", none, err)
			}
		})
	}
}

// TestStoreErrors: a body hands the store's error on as it is.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	gone := errors.New("database gone")
	for name, objects := range callers(t, &host{err: gone}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			_, devices := objects.DeviceList.GetByHostname(ctx, "h")
			_, paths := objects.ControlpathIDList.GetByHostname(ctx, "h")
			_, deployables := objects.DeployableList.GetByHostname(ctx, "h")
			_, handles := objects.AttachHandleList.GetByHostname(ctx, "h")
			_, referenced := objects.AttachHandleList.GetReferencedByHostname(ctx, "h")
			_, update := objects.AttachHandle.UpdateAttachInfo(ctx, "h", cyborg.HandleExpectation{}.Dict(), "{}", false)
			for what, err := range map[string]error{
				"devices": devices, "paths": paths, "deployables": deployables, "handles": handles, "referenced": referenced, "update": update,
			} {
				if !errors.Is(err, gone) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestUpdateAttachInfo: the expectation reaches the store unchanged, and the updated handle comes back.
func TestUpdateAttachInfo(t *testing.T) {
	t.Parallel()
	want := cyborg.AttachInfoUpdate{
		UUID: "h", AttachInfo: `{"managed": false}`, RequireUnallocated: true,
		Expected: cyborg.HandleExpectation{
			DeployableID: 3, DeployableName: "n", ControlpathID: 2, CpidInfo: "{}", DeviceID: 1, Hostname: "compute-1",
			AttachType: "PCI", AttachInfo: `{"bus": "25"}`, InUse: true, Referenced: true,
		},
	}
	for _, kind := range []string{"local", "remote"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := &host{}
			objects := callers(t, db)[kind]
			h, err := objects.AttachHandle.UpdateAttachInfo(t.Context(), want.UUID, want.Expected.Dict(), want.AttachInfo, want.RequireUnallocated)
			if err != nil || h.AttachInfo.Value() != want.AttachInfo {
				t.Fatalf("UpdateAttachInfo() = %v, %v", h, err)
			}
			if diff := cmp.Diff(want, db.update); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExpectedDict: the contract is the whole set of keys with their types.
func TestExpectedDict(t *testing.T) {
	t.Parallel()
	objects := cyborg.Local(&host{})
	for name, change := range map[string]func(map[string]any){
		"missing key":  func(d map[string]any) { delete(d, "referenced") },
		"unknown key":  func(d map[string]any) { d["colour"] = "red" },
		"another type": func(d map[string]any) { d["in_use"] = "False" },
		"float id":     func(d map[string]any) { d["device_id"] = 1.0 },
		"null":         func(d map[string]any) { d["cpid_info"] = nil },
		"empty":        func(d map[string]any) { clear(d) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dict := cyborg.HandleExpectation{}.Dict()
			change(dict)
			var bad *cyborg.InvalidArgumentError
			if _, err := objects.AttachHandle.UpdateAttachInfo(t.Context(), "h", dict, "{}", true); !errors.As(err, &bad) {
				t.Errorf("UpdateAttachInfo() = %v, want *InvalidArgumentError", err)
			}
		})
	}
}

// TestDiffers names each value of an expectation that is not as it was.
func TestDiffers(t *testing.T) {
	t.Parallel()
	base := cyborg.HandleExpectation{}
	if got := base.Differs(base); got != "" {
		t.Errorf("equal expectations differ in %s", got)
	}
	for key, other := range map[string]cyborg.HandleExpectation{
		"deployable_id": {DeployableID: 1}, "deployable_name": {DeployableName: "n"}, "controlpath_id": {ControlpathID: 1},
		"cpid_info": {CpidInfo: "i"}, "device_id": {DeviceID: 1}, "hostname": {Hostname: "h"}, "attach_type": {AttachType: "PCI"},
		"attach_info": {AttachInfo: "i"}, "in_use": {InUse: true}, "referenced": {Referenced: true},
	} {
		if got := base.Differs(other); got != key {
			t.Errorf("Differs() = %q, want %q", got, key)
		}
	}
}
