package reconcile_test

import (
	"context"
	"fmt"
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
				{Key: "rc", Value: "CUSTOM_PCI"}, {Key: "trait0", Value: "OWNER_CYBORG"},
				{Key: "trait1", Value: "CUSTOM_PCI_NVIDIA"}, {Key: "trait2", Value: "CUSTOM_PCI_PRODUCT_ID_25B6"},
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
