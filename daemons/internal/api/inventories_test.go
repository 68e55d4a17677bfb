package api

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reserver notes what is written; meanwhile runs before each write.
type reserver struct {
	written   []reconcile.ProviderState
	meanwhile func()
	err       error
}

func (r *reserver) Reserve(ctx context.Context, p reconcile.ProviderState) (int, error) {
	if r.meanwhile != nil {
		r.meanwhile()
		fresh, err := p.Refresh(ctx)
		if err != nil {
			return 0, err
		}
		p = fresh
	}
	r.written = append(r.written, p)
	return 1, r.err
}

func TestStatusOfADeviceReachesPlacement(t *testing.T) {
	t.Parallel()
	var r reserver
	w := newWorld(t, Config{}, policy.Config{})
	w.Inventories = DeviceInventories{Devices: w.store, Placement: &r}
	w.must(t, 204, "POST", "/v2/devices/"+recordedDevice+"/disable", "")
	w.must(t, 204, "POST", "/v2/devices/"+recordedDevice+"/enable", "")
	want := []reconcile.ProviderState{
		{UUID: recordedProvider, Name: "peer-host-1_FakeDevice", Known: true, Class: "FPGA", Total: 16, Reserved: 16, SameTraits: true},
		{UUID: recordedProvider, Name: "peer-host-1_FakeDevice", Known: true, Class: "FPGA", Total: 16, SameTraits: true},
	}
	if diff := cmp.Diff(want, r.written, cmpopts.IgnoreFields(reconcile.ProviderState{}, "Refresh")); diff != "" {
		t.Error(diff)
	}
}

// A conflict is resolved from the rows as they are then.
func TestStatusIsReadAgainAfterAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{}, policy.Config{})
	r := reserver{meanwhile: func() {
		if err := w.store.SetDeviceStatus(t.Context(), recordedDevice, statusEnabled); err != nil {
			t.Error(err)
		}
	}}
	w.Inventories = DeviceInventories{Devices: w.store, Placement: &r}
	w.must(t, 204, "POST", "/v2/devices/"+recordedDevice+"/disable", "")
	if len(r.written) != 1 || r.written[0].Reserved != 0 {
		t.Errorf("written %+v", r.written)
	}
}

func TestWithdrawnDeployablesAreLeftAlone(t *testing.T) {
	t.Parallel()
	var r reserver
	w := newWorld(t, Config{}, policy.Config{})
	w.Inventories = DeviceInventories{Devices: w.store, Placement: &r}
	if _, err := w.db.ExecContext(t.Context(), "UPDATE deployables SET rp_uuid = NULL"); err != nil {
		t.Fatal(err)
	}
	w.must(t, 204, "POST", "/v2/devices/"+recordedDevice+"/enable", "")
	if len(r.written) != 0 {
		t.Errorf("written %+v", r.written)
	}
}

func TestStatusStaysWhenPlacementFails(t *testing.T) {
	t.Parallel()
	r := reserver{err: errors.New("connection refused")}
	w := newWorld(t, Config{}, policy.Config{})
	w.Inventories = DeviceInventories{Devices: w.store, Placement: &r}
	w.must(t, 500, "POST", "/v2/devices/"+recordedDevice+"/disable", "")
	d, err := w.store.DeviceByUUID(t.Context(), recordedDevice)
	if err != nil || d.Status != statusMaintaining {
		t.Errorf("status %s, %v", d.Status, err)
	}
}
