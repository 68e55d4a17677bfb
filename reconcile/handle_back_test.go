package reconcile_test

import (
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// TestHandleComesBack: a held handle of a present deployable goes missing and
// comes back, with a driver that counts the handles it sees and with one whose
// number of units stays. At every moment as many units can be had as it says,
// and in the end nothing is reserved.
func TestHandleComesBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		units           int // while the handle is missing
		total, reserved int
	}{
		"counted":     {1, 2, 1},
		"not counted": {2, 2, 0},
		"more units":  {3, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			whole := vf(0)
			p := &whole.Deployables[0]
			p.NumAccelerators = max(2, tt.units)
			second := reconcile.Handle{Type: arq.HandlePCI, Info: vf(1).ControlPath.Info}
			p.Handles = append(p.Handles, second)
			w.report(t, whole)
			id := reconcile.ProviderUUID(p.Name)
			held, _ := w.store.Bind(id, "guest")
			w.allocate(id, "CUSTOM_PCI", "guest")

			part := vf(0)
			part.Deployables[0].NumAccelerators = tt.units
			if held.Info == vf(0).ControlPath.Info {
				part.Deployables[0].Handles = []reconcile.Handle{second}
			}
			for range 2 {
				res := w.report(t, part)
				if got := reasons(res); len(got) != 1 || got[0] != reconcile.ReasonMissing {
					t.Errorf("missing: problems %v", res.Problems)
				}
				if total, reserved := w.reserved(t, 0); total != tt.total || reserved != tt.reserved {
					t.Errorf("missing: total %d, reserved %d", total, reserved)
				}
				if d := w.inventory(t).Devices[0].Deployables[0]; len(d.Handles) != 2 || d.Offer != id {
					t.Errorf("missing: %+v", d)
				}
			}
			for range 2 {
				if res := w.report(t, whole); len(res.Problems) > 0 {
					t.Errorf("back: problems %v", res.Problems)
				}
				if total, reserved := w.reserved(t, 0); total != p.NumAccelerators || reserved != 0 {
					t.Errorf("back: total %d, reserved %d", total, reserved)
				}
			}
		})
	}
}
