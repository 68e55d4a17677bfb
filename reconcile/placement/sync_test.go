package placement_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

func TestSync(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	sync := func(s reconcile.ProviderState, want []string, holds string) int {
		t.Helper()
		generation, err := w.Sync(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.sent("p", "q")); diff != "" {
			t.Error(diff)
		}
		if got := w.holds(t, s.Name); got != holds {
			t.Errorf("%s, want %s", got, holds)
		}
		return generation
	}
	s := w.state("p")
	s.Generation = sync(s, []string{
		"POST /resource_providers", "PUT /traits/CUSTOM_T1", "PUT /resource_providers/p/traits",
		"PUT /resource_classes/CUSTOM_PCI", "PUT /resource_providers/p/inventories",
	}, "generation 2, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 0/1 of 1")

	q := w.state("q") // trait and class are known by now
	sync(q, []string{"POST /resource_providers", "PUT /resource_providers/q/traits", "PUT /resource_providers/q/inventories"},
		"generation 2, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 0/1 of 1")

	s.Known, s.SameTraits, s.Total, s.Reserved = true, true, 2, 1 // only the count
	s.Generation = sync(s, []string{"PUT /resource_providers/p/inventories"}, "generation 3, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	// Somebody else's trait stays, the row's old one goes.
	_, _ = w.service.Placement.EnsureTrait("CUSTOM_FOREIGN")
	s.Generation, _ = w.service.Placement.PutTraits(s.UUID, s.Generation, []string{"CUSTOM_T1", "OWNER_CYBORG", "CUSTOM_FOREIGN"})
	s.SameTraits, s.Traits, s.OldTraits = false, []string{"OWNER_CYBORG", "CUSTOM_T2"}, []string{"OWNER_CYBORG", "CUSTOM_T1"}
	s.Generation = sync(s, []string{
		"GET /resource_providers/p/traits", "PUT /traits/CUSTOM_T2", "PUT /resource_providers/p/traits", "PUT /resource_providers/p/inventories",
	}, "generation 6, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	s.OldTraits = s.Traits // nothing to change: no write of the traits
	s.Generation = sync(s, []string{"GET /resource_providers/p/traits", "PUT /resource_providers/p/inventories"},
		"generation 7, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	s.Total, s.Reserved = 0, 0 // nothing to offer
	sync(s, []string{"GET /resource_providers/p/traits", "PUT /resource_providers/p/inventories"},
		"generation 8, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG]")

	bare := reconcile.ProviderState{UUID: reconcile.ProviderUUID("q2"), Name: "q2", Parent: w.root, Class: "FPGA", Total: 3, Reserved: 3}
	if _, err := w.Sync(ctx, bare); err != nil || len(w.sent()) != 2 {
		t.Errorf("a provider without traits and of a standard class takes two requests: %v", err)
	}
}

// TestSyncForgetsVanishedNames: an operator deleted a trait that the client had
// made.
func TestSyncForgetsVanishedNames(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	if err := w.Drop(ctx, reconcile.ProviderUUID("p"), ""); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Placement.DeleteTrait("CUSTOM_T1"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	s := w.state("q")
	s.Traits = []string{"no trait at all"}
	if _, err := w.Sync(ctx, s); err == nil {
		t.Error("an unknown standard trait was accepted")
	}
}

// TestSyncConflict: somebody else writes between our read and our write.
func TestSyncConflict(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	s := w.state("p")
	generation, err := w.Sync(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Known, s.Generation = true, generation
	foreign := 3
	w.before = func(r *http.Request) {
		if r.Method == http.MethodPut && foreign > 0 && strings.HasSuffix(r.URL.Path, "/inventories") {
			foreign--
			v := reconciletest.NewResourceInventory()
			v.Total, v.MaxUnit = 9, 9
			have, _ := w.service.Placement.Provider(s.UUID)
			_, _ = w.service.Placement.PutInventories(s.UUID, have.Generation, map[string]reconciletest.ResourceInventory{"CUSTOM_PCI": v}, true)
		}
	}
	asked := 0
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) {
		asked++
		now := s
		now.Total, now.Reserved, now.Refresh = 4, 4, nil // as the row is now
		return now, nil
	}
	if _, err := w.Sync(ctx, s); err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if got := w.holds(t, "p"); !strings.HasSuffix(got, "CUSTOM_PCI 4/4 of 4") {
		t.Error(got)
	}
	foreign = 1
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) { return s, reconcile.ErrStale }
	if _, err := w.Sync(ctx, s); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("a lost claim: %v", err)
	}
	foreign = 1000
	s.Refresh = nil
	var refused *placement.Error
	if _, err := w.Sync(ctx, s); !errors.As(err, &refused) || refused.Code != "placement.concurrent_update" {
		t.Errorf("a conflict without end: %v", err)
	}
}

// TestSyncCreatedMeanwhile: another run made the provider since the tree was
// read, so the claim has to be looked at.
func TestSyncCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	s := w.state("p")
	if _, err := w.Sync(ctx, s); err != nil {
		t.Fatal(err)
	}
	asked := false
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) { asked = true; return s, nil }
	if _, err := w.Sync(ctx, s); err != nil || !asked {
		t.Errorf("asked %t, %v", asked, err)
	}
}

// TestSyncVanished: the provider is deleted between two writes.
func TestSyncVanished(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	deleted := false
	w.before = func(r *http.Request) {
		if !deleted && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/inventories") {
			deleted = true
			_ = w.service.Placement.DeleteProvider(reconcile.ProviderUUID("p"))
		}
	}
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	if got := w.holds(t, "p"); !strings.HasSuffix(got, "CUSTOM_PCI 0/1 of 1") {
		t.Error(got)
	}
	s := w.state("never")
	if generation, err := w.Reserve(ctx, s); err != nil || generation != 0 || len(w.holds(t, "never")) != 4 {
		t.Errorf("reserving what is gone: %v", err)
	}
}
