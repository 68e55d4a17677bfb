package conductor_test

import (
	"context"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// interrupted lets somebody else act once before the tree is read, or before an inventory is reserved.
type interrupted struct {
	reconcile.Placement
	beforeTree, beforeReserve func()
}

func (p *interrupted) once(f *func()) {
	if do := *f; do != nil {
		*f = nil
		do()
	}
}

func (p *interrupted) Tree(ctx context.Context, host string) (reconcile.Tree, error) {
	p.once(&p.beforeTree)
	return p.Placement.Tree(ctx, host)
}

func (p *interrupted) Reserve(ctx context.Context, s reconcile.ProviderState) (int, error) {
	p.once(&p.beforeReserve)
	return p.Placement.Reserve(ctx, s)
}

// TestReserveKeepsToItsClaim: between the reads of an NVMe bind and its reservation the request is deleted, or a report
// takes the deployable over. What Placement holds in the end is what the rows ask for then.
func TestReserveKeepsToItsClaim(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		deleted, late bool
		reserved      int
	}{
		"deleted before the tree is read":  {deleted: true},
		"deleted after the row was read":   {deleted: true, late: true},
		"reported before the tree is read": {reserved: 1},
		"reported after the row was read":  {reserved: 1, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.stop()
			p := &interrupted{Placement: w.placement}
			w.configure = func(c *conductor.Config) { c.Placement = p }
			w.serve(t)
			d := reported("4", "PCI", address("4"))
			d.Type, d.DeviceState = ovo.Of(cyborg.NVME), ovo.NullOf(cyborg.Available)
			report := func() {
				if err := w.conductor.ReportData(as(t, true, ""), hostname, []*cyborg.DriverDevice{d}); err != nil {
					t.Error(err)
				}
			}
			report()
			request := w.request(t, w.profile(t), "mine")
			interrupt := func() {
				if tt.deleted {
					if _, err := w.store.Release(t.Context(), request, arq.LeaveDelete); err != nil {
						t.Error(err)
					}
				}
				report()
			}
			if tt.late {
				p.beforeReserve = interrupt
			} else {
				p.beforeTree = interrupt
			}
			if err := w.bindAll(t, []string{request}, "4"); (err != nil) != tt.deleted {
				t.Errorf("bind: %v", err)
			}
			if !tt.deleted && w.state(t, request) != arq.Bound {
				t.Errorf("the request is %s", w.state(t, request))
			}
			have, err := w.store.Inventory(t.Context(), hostname)
			if err != nil || have.Devices[0].Deployables[0].Offer != providerOf("4") {
				t.Errorf("offer %q, %v", have.Devices[0].Deployables[0].Offer, err)
			}
			inventories, _, err := w.placement.Inventories(providerOf("4"))
			if v := inventories["CUSTOM_PCI"]; err != nil || v.Total != 1 || v.Reserved != tt.reserved {
				t.Errorf("Placement holds %+v, %v", inventories, err)
			}
		})
	}
}
