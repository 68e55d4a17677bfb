package reconcile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// broken is a pair of seams that keeps all rules but those whose functions are
// set. Each mutation below breaks one ordering rule the way a wrong Apply
// would, and the model has to notice.
type brokenStore struct {
	*reconciletest.Store
	withdraw func(context.Context, []reconcile.Version) ([]reconcile.Claim, error)
	insert   func(context.Context, string, []reconcile.Device) ([]reconcile.Device, error)
	remove   func(context.Context, *reconcile.Device) error
	commit   func(context.Context, reconcile.DevicePlan) (reconcile.Device, error)
	offer    func(context.Context, []reconcile.Claim) ([]reconcile.Claim, error)
}

func (b brokenStore) Withdraw(ctx context.Context, seen []reconcile.Version) ([]reconcile.Claim, error) {
	if b.withdraw != nil {
		return b.withdraw(ctx, seen)
	}
	return b.Store.Withdraw(ctx, seen)
}

func (b brokenStore) Insert(ctx context.Context, host string, ds []reconcile.Device) ([]reconcile.Device, error) {
	if b.insert != nil {
		return b.insert(ctx, host, ds)
	}
	return b.Store.Insert(ctx, host, ds)
}

func (b brokenStore) Remove(ctx context.Context, d *reconcile.Device) error {
	if b.remove != nil {
		return b.remove(ctx, d)
	}
	return b.Store.Remove(ctx, d)
}

func (b brokenStore) Commit(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
	if b.commit != nil {
		return b.commit(ctx, p)
	}
	return b.Store.Commit(ctx, p)
}

func (b brokenStore) Offer(ctx context.Context, claims []reconcile.Claim) ([]reconcile.Claim, error) {
	if b.offer != nil {
		return b.offer(ctx, claims)
	}
	return b.Store.Offer(ctx, claims)
}

type brokenPlacement struct {
	*reconciletest.Placement
	sync func(context.Context, reconcile.ProviderState) (int, error)
	drop func(ctx context.Context, id, root string) error
}

func (b brokenPlacement) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	if b.sync != nil {
		return b.sync(ctx, s)
	}
	return b.Placement.Sync(ctx, s)
}

func (b brokenPlacement) Drop(ctx context.Context, id, root string) error {
	if b.drop != nil {
		return b.drop(ctx, id, root)
	}
	return b.Placement.Drop(ctx, id, root)
}

// offers reads the offers of all deployables, by id.
func offers(s *reconciletest.Store) map[int64]string {
	all := map[int64]string{}
	s.Edit(host, func(d *reconcile.Device) {
		for k := range d.Deployables {
			all[d.Deployables[k].ID] = d.Deployables[k].Offer
		}
	})
	return all
}

// putBack sets offers where which says so.
func putBack(s *reconciletest.Store, all map[int64]string, which func(*reconcile.Device) bool) {
	s.Edit(host, func(d *reconcile.Device) {
		for k := range d.Deployables {
			if p := &d.Deployables[k]; which(d) && all[p.ID] != "" {
				p.Offer = all[p.ID]
			}
		}
	})
}

// asStored makes a store take every plan for fresh.
func asStored(s *reconciletest.Store, p reconcile.DevicePlan) reconcile.DevicePlan {
	inv, _ := s.Inventory(context.Background(), host)
	for i := range inv.Devices {
		if inv.Devices[i].ID == p.Have.ID {
			p.Have = &inv.Devices[i]
		}
	}
	return p
}

// mutations break one rule each.
var mutations = []struct {
	name  string
	seams seams
}{
	{"an update changes Placement while the deployable is on offer", keepOffers(func(d *reconcile.Device) bool { return !d.Held() })},
	{"a missing device stays on offer", keepOffers(func(d *reconcile.Device) bool { return d.Held() })},
	{"a new deployable is on offer before its provider is there", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		insert := func(ctx context.Context, h string, ds []reconcile.Device) ([]reconcile.Device, error) {
			out, err := s.Insert(ctx, h, ds)
			for i := range out {
				for k := range out[i].Deployables {
					_, _ = s.Offer(ctx, []reconcile.Claim{{ID: out[i].Deployables[k].ID, Offer: reconcile.ProviderUUID(out[i].Deployables[k].Name)}})
				}
			}
			return out, err
		}
		return brokenStore{Store: s, insert: insert}, p
	}},
	{"rows are deleted before their provider", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		var later []string
		remove := func(ctx context.Context, d *reconcile.Device) error {
			err := s.Remove(ctx, d)
			for _, id := range later {
				if err == nil {
					err = p.Drop(ctx, id, "")
				}
			}
			later = nil
			return err
		}
		drop := func(_ context.Context, id, _ string) error {
			later = append(later, id)
			return nil
		}
		return brokenStore{Store: s, remove: remove}, brokenPlacement{Placement: p, drop: drop}
	}},
	{"a refused removal is no retention", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		drop := func(ctx context.Context, id, root string) error {
			err := p.Drop(ctx, id, root)
			if used := new(reconcile.InUseError); errors.As(err, &used) {
				return nil
			}
			return err
		}
		return s, brokenPlacement{Placement: p, drop: drop}
	}},
	{"a failed provider is put on offer", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		sync := func(ctx context.Context, state reconcile.ProviderState) (int, error) {
			generation, err := p.Sync(ctx, state)
			if errors.Is(err, reconciletest.ErrFault) {
				return generation, nil
			}
			return generation, err
		}
		return s, brokenPlacement{Placement: p, sync: sync}
	}},
}

// keepOffers withdraws nothing on devices of a kind.
func keepOffers(which func(*reconcile.Device) bool) seams {
	return func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		withdraw := func(ctx context.Context, seen []reconcile.Version) ([]reconcile.Claim, error) {
			before := offers(s)
			claims, err := s.Withdraw(ctx, seen)
			if err == nil {
				putBack(s, before, which)
			}
			return claims, err
		}
		commit := func(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
			return s.Commit(ctx, asStored(s, p))
		}
		return brokenStore{Store: s, withdraw: withdraw, commit: commit}, p
	}
}

// TestMutations shows that the model notices a broken ordering rule.
func TestMutations(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for seed := range 2000 {
				if err := genScenario.Example(seed).check(m.seams); err != nil {
					t.Logf("noticed in world %d: %.200v", seed, err)
					return
				}
			}
			t.Error("the model did not notice")
		})
	}
}

// overlapMutations break a rule that only matters when two runs overlap.
var overlapMutations = []struct {
	name  string
	seams seams
}{
	{"an offer does not ask for the claim", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		offer := func(ctx context.Context, claims []reconcile.Claim) ([]reconcile.Claim, error) {
			inv, _ := s.Inventory(ctx, host)
			for i := range claims {
				for _, d := range inv.Devices {
					for _, q := range d.Deployables {
						if q.ID == claims[i].ID {
							claims[i].UpdatedAt = q.UpdatedAt
						}
					}
				}
			}
			return s.Offer(ctx, claims)
		}
		return brokenStore{Store: s, offer: offer}, p
	}},
	{"after a conflict the old state is written", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		sync := func(ctx context.Context, state reconcile.ProviderState) (int, error) {
			state.Refresh = nil
			return p.Sync(ctx, state)
		}
		return s, brokenPlacement{Placement: p, sync: sync}
	}},
	{"a commit takes stale plans", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		commit := func(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
			return s.Commit(ctx, asStored(s, p))
		}
		return brokenStore{Store: s, commit: commit}, p
	}},
	{"a provider whose row is gone stays", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		drop := func(ctx context.Context, id, root string) error {
			inv, _ := s.Inventory(ctx, host)
			for _, d := range inv.Devices {
				for _, q := range d.Deployables {
					if reconcile.ProviderUUID(q.Name) == id {
						return p.Drop(ctx, id, root)
					}
				}
			}
			return nil
		}
		return s, brokenPlacement{Placement: p, drop: drop}
	}},
	{"a removal does not ask what the row looks like now", func(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
		remove := func(ctx context.Context, d *reconcile.Device) error {
			return s.Remove(ctx, asStored(s, reconcile.DevicePlan{Have: d}).Have)
		}
		return brokenStore{Store: s, remove: remove}, p
	}},
}

// TestOverlapMutations shows that the model notices a broken rule between runs.
func TestOverlapMutations(t *testing.T) {
	t.Parallel()
	for _, m := range overlapMutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for seed := range 60000 {
				if err := overlapped(t, genScenario.Example(seed).distinct(), m.seams, uint64(seed)); err != nil {
					t.Logf("noticed in world %d: %.200v", seed, err)
					return
				}
			}
			t.Error("the model did not notice")
		})
	}
}
