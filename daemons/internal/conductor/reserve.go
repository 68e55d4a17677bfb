package conductor

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reserve writes the inventory of an allocated NVMe device: all of it is reserved from the bind on, so that no
// window opens when its guest leaves.
func (m *Manager) reserve(ctx context.Context, r arq.Request) error {
	d, host, err := m.cfg.Store.Device(ctx, r.Device.UUID)
	if err != nil {
		return err
	}
	for i := range d.Deployables {
		p := &d.Deployables[i]
		if p.ID != r.DeployableID {
			continue
		}
		tree, err := m.cfg.Placement.Tree(ctx, host)
		if err != nil {
			return err
		}
		total, reserved := reconcile.DesiredReserved(&d, p, true, 0)
		id := reconcile.ProviderUUID(p.Name)
		now := reconcile.Provider{}
		at := slices.IndexFunc(tree.Providers, func(q reconcile.Provider) bool { return q.UUID == id })
		if at >= 0 {
			now = tree.Providers[at]
		}
		_, err = m.cfg.Placement.Reserve(ctx, reconcile.ProviderState{
			UUID: id, Name: p.Name, Parent: tree.Root, Generation: now.Generation, Known: at >= 0,
			Class: p.Class(), Total: total, Reserved: reserved,
		})
		return err
	}
	return fmt.Errorf("device %s has no deployable %d any more", d.UUID, r.DeployableID)
}
