package conductor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// TestForgetLeavesForeignProviders: two hosts report one name and the first one has the provider; whether something is
// allocated from it or not, the second one is forgotten and the provider stays.
func TestForgetLeavesForeignProviders(t *testing.T) {
	t.Parallel()
	for name, allocated := range map[string]bool{"free": false, "allocated": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const second = "compute-2"
			h := newHosts(t, hostname, second)
			r := newRig(t, rigConfig{Placement: placementtest.Client(h).Transport})
			report := func(host string) {
				t.Helper()
				if err := r.conductor.ReportData(as(t, true, ""), host, []*cyborg.DriverDevice{device(hostname, 0, 1)}); err != nil {
					t.Fatal(err)
				}
			}
			report(hostname)
			if allocated {
				c := reconciletest.Consumer{Project: "p", User: "u", Allocations: map[string]map[string]int{reconcile.ProviderUUID(crashName(0)): {"CUSTOM_PCI": 1}}}
				if err := h.Placement.PutAllocations("guest", nil, c); err != nil {
					t.Fatal(err)
				}
			}
			before := r.state(t, h)
			report(second)
			client := placement.NewNoAuth("http://placement.invalid", placementtest.Client(h), placement.Config{})
			gone, err := conductor.Forgetter{Store: r.store, Placement: client, Providers: client}.Forget(t.Context(), second, false)
			if err != nil || len(gone.Devices) != 1 {
				t.Errorf("%+v, %v", gone, err)
			}
			if diff := cmp.Diff(before, r.state(t, h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
