package conductor

import (
	"context"
	"errors"
	"slices"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reserve writes the inventory of an allocated NVMe device: all of it is reserved from the bind on, so that no
// window opens when its guest leaves. Placement is read before the row, and the row again after a conflict: a state
// older than the provider is never written. Who took the bind's claim on the deployable read the row after the bind
// and writes the inventory that it asks for then, so that is no failure.
func (m *Manager) reserve(ctx context.Context, r arq.Request) error {
	_, host, err := m.cfg.Store.Device(ctx, r.Device.UUID)
	if err != nil {
		return err
	}
	tree, err := m.cfg.Placement.Tree(ctx, host)
	if err != nil {
		return err
	}
	refresh := func(ctx context.Context) (reconcile.ProviderState, error) { return m.reservation(ctx, r) }
	state, err := refresh(ctx)
	if err == nil {
		if at := slices.IndexFunc(tree.Providers, func(q reconcile.Provider) bool { return q.UUID == state.UUID }); at >= 0 {
			state.Known, state.Generation = true, tree.Providers[at].Generation
		}
		state.Parent, state.Refresh = tree.Root, refresh
		_, err = m.cfg.Placement.Reserve(ctx, state)
	}
	if errors.Is(err, reconcile.ErrStale) {
		return nil
	}
	return err
}

// reservation is the inventory of a started bind's deployable as its row says now. [reconcile.ErrStale] when the bind
// has no claim on it any more.
func (m *Manager) reservation(ctx context.Context, r arq.Request) (reconcile.ProviderState, error) {
	d, _, err := m.cfg.Store.Device(ctx, r.Device.UUID)
	if err != nil {
		return reconcile.ProviderState{}, err
	}
	at := slices.IndexFunc(d.Deployables, func(p reconcile.Deployable) bool { return p.ID == r.DeployableID })
	if at < 0 || d.State != reconcile.StateAllocated {
		return reconcile.ProviderState{}, reconcile.ErrStale
	}
	p := &d.Deployables[at]
	if p.Offer != "" || !p.UpdatedAt.Equal(r.UpdatedAt) {
		return reconcile.ProviderState{}, reconcile.ErrStale
	}
	total, reserved := reconcile.DesiredReserved(&d, p, true, 0)
	return reconcile.ProviderState{UUID: reconcile.ProviderUUID(p.Name), Name: p.Name, Class: p.Class(), Total: total, Reserved: reserved}, nil
}
