package reconcile_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
)

// namesake adds a second host with a device whose deployable has the name of the first host's one: its rows are stored,
// its provider is the first host's.
func (w *world) namesake(t *testing.T, others ...reconcile.Device) (report func(...reconcile.Device) reconcile.Result) {
	t.Helper()
	const second = "compute-2"
	if _, err := w.placement.CreateProvider("", second, ""); err != nil {
		t.Fatal(err)
	}
	report = func(ds ...reconcile.Device) reconcile.Result {
		t.Helper()
		res, err := w.runner.Run(context.Background(), second, ds)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := report(append(others, vf(0))...)
	if !slices.Contains(reasons(res), reconcile.ReasonForeign) {
		t.Fatalf("problems: %v", res.Problems)
	}
	return report
}

// TestForeignProviderStays: a name that two hosts report belongs to the first; the second one giving it up, with the
// device or for another name, leaves the provider as it is.
func TestForeignProviderStays(t *testing.T) {
	t.Parallel()
	provider := reconcile.ProviderUUID(vf(0).Deployables[0].Name)
	for name, allocated := range map[string]bool{"free": false, "allocated": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for name, give := range map[string]func() []reconcile.Device{
				"device": func() []reconcile.Device { return nil },
				"deployable": func() []reconcile.Device {
					d := vf(0)
					d.Deployables[0].Name = "renamed"
					return []reconcile.Device{d}
				},
			} {
				w := newWorld(t)
				w.report(t, vf(0))
				w.mark(t, provider)
				if allocated {
					if err := w.placement.PutAllocations("i", nil, allocationOf(provider, "CUSTOM_PCI")); err != nil {
						t.Fatal(err)
					}
				}
				report := w.namesake(t)
				before := w.snapshot()
				res := report(give()...)
				if slices.Contains(reasons(res), reconcile.ReasonAllocated) {
					t.Errorf("%s: problems %v", name, res.Problems)
				}
				if after := w.snapshot(); !slices.Equal(before, after) {
					t.Errorf("%s: the first host has\n%q\nit had\n%q", name, after, before)
				}
			}
		})
	}
}

// mark puts somebody's trait on a provider.
func (w *world) mark(t *testing.T, provider string) {
	t.Helper()
	traits, generation, err := w.placement.ProviderTraits(provider)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.placement.EnsureTrait("CUSTOM_FOREIGN"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.placement.PutTraits(provider, generation, append(traits, "CUSTOM_FOREIGN")); err != nil {
		t.Fatal(err)
	}
}
