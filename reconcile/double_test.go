package reconcile_test

import (
	"slices"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// TestAllocatedDouble: a free second row of a device cannot go, for something
// is allocated from a provider that only it has. It is off offer and that
// provider is reserved; the row that stays keeps its own provider as it is. A
// change of it waits, going missing does not.
func TestAllocatedDouble(t *testing.T) {
	t.Parallel()
	const own = "of the double"
	setUp := func(t *testing.T, held bool) *world {
		t.Helper()
		w := newWorld(t)
		w.report(t, vf(0))
		if held {
			w.store.Bind(reconcile.ProviderUUID(vf(0).Deployables[0].Name), "guest")
		}
		double := vf(0)
		double.ControlPath.Info = `{"bus":"0","device":"0","domain":"0","function":"0"}`
		double.Deployables = append(double.Deployables, vf(1).Deployables[0])
		double.Deployables[1].Name = own
		for k := range double.Deployables {
			double.Deployables[k].Offer = reconcile.ProviderUUID(double.Deployables[k].Name)
		}
		w.store.Seed(host, double)
		id := reconcile.ProviderUUID(own)
		if _, err := w.placement.CreateProvider(id, own, w.root); err != nil {
			t.Fatal(err)
		}
		v := reconciletest.NewResourceInventory()
		v.Total, v.MaxUnit = 1, 1
		if _, err := w.placement.PutInventories(id, 0, map[string]reconciletest.ResourceInventory{"CUSTOM_PCI": v}, true); err != nil {
			t.Fatal(err)
		}
		w.allocate(id, "CUSTOM_PCI", "outlived")
		return w
	}
	kept := func(t *testing.T, w *world) {
		t.Helper()
		d := w.inventory(t).Devices
		if len(d) != 2 || d[1].Deployables[0].Offer != "" || d[1].Deployables[1].Offer != "" {
			t.Fatalf("rows %+v", d)
		}
		if inventories, _, err := w.placement.Inventories(reconcile.ProviderUUID(own)); err != nil || inventories["CUSTOM_PCI"].Reserved != 1 {
			t.Errorf("the double's own provider holds %v, %v", inventories, err)
		}
	}

	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		w := setUp(t, false)
		for range 2 {
			w.report(t, vf(0))
			kept(t, w)
			if total, reserved := w.reserved(t, 0); total != 1 || reserved != 0 {
				t.Errorf("total %d, reserved %d", total, reserved)
			}
		}
	})
	t.Run("changed", func(t *testing.T) {
		t.Parallel()
		w := setUp(t, false)
		changed := vf(0)
		changed.Deployables[0].NumAccelerators = 2
		for range 2 {
			res := w.report(t, changed)
			kept(t, w)
			if got := reasons(res); !slices.Contains(got, reconcile.ReasonAllocated) || !slices.Contains(got, reconcile.ReasonRefused) {
				t.Errorf("problems %v", res.Problems)
			}
			p := w.inventory(t).Devices[0].Deployables[0]
			if total, reserved := w.reserved(t, 0); p.NumAccelerators != 1 || p.Offer == "" || total != 1 || reserved != 0 {
				t.Errorf("%+v, total %d, reserved %d", p, total, reserved)
			}
		}
		if err := w.placement.DeleteAllocations("outlived"); err != nil {
			t.Fatal(err)
		}
		if res := w.report(t, changed); len(res.Problems) > 0 {
			t.Errorf("problems %v", res.Problems)
		}
		d := w.inventory(t).Devices
		if total, reserved := w.reserved(t, 0); len(d) != 1 || d[0].Deployables[0].NumAccelerators != 2 || total != 2 || reserved != 0 {
			t.Errorf("%+v, total %d, reserved %d", d, total, reserved)
		}
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		w := setUp(t, true)
		w.report(t)
		kept(t, w)
		p := w.inventory(t).Devices[0].Deployables[0]
		if total, reserved := w.reserved(t, 0); p.Offer != "" || total != 1 || reserved != 1 {
			t.Errorf("%+v, total %d, reserved %d", p, total, reserved)
		}
	})
}
