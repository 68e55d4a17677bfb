package api

import (
	"context"

	"github.com/go-cyborg/cyborg/reconcile"
)

// DeviceReader reads one device with its deployables and handles, and its host.
type DeviceReader interface {
	Device(ctx context.Context, id string) (d reconcile.Device, host string, err error)
}

// Reserver writes the inventory of one provider.
type Reserver interface {
	Reserve(ctx context.Context, p reconcile.ProviderState) (generation int, err error)
}

// DeviceInventories is [Inventories] over a store and Placement: every deployable on
// offer gets the inventory that its rows ask for. Deployables that are not on offer
// belong to a report under way or to a missing device and stay reserved.
type DeviceInventories struct {
	Devices   DeviceReader
	Placement Reserver
}

// SyncDevice writes the inventories of a device. It may be repeated.
func (i DeviceInventories) SyncDevice(ctx context.Context, device string) error {
	d, _, err := i.Devices.Device(ctx, device)
	if err != nil {
		return err
	}
	for n := range d.Deployables {
		p := &d.Deployables[n]
		if p.Offer == "" {
			continue
		}
		state := providerState(&d, p)
		state.Refresh = func(ctx context.Context) (reconcile.ProviderState, error) {
			return i.refresh(ctx, device, p.UUID)
		}
		if _, err := i.Placement.Reserve(ctx, state); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the rows again after somebody else wrote the provider: the status
// may have changed, or the offer may have been withdrawn.
func (i DeviceInventories) refresh(ctx context.Context, device, deployable string) (reconcile.ProviderState, error) {
	d, _, err := i.Devices.Device(ctx, device)
	if err != nil {
		return reconcile.ProviderState{}, err
	}
	for n := range d.Deployables {
		if p := &d.Deployables[n]; p.UUID == deployable && p.Offer != "" {
			return providerState(&d, p), nil
		}
	}
	return reconcile.ProviderState{}, reconcile.ErrStale
}

// providerState is what Placement shall hold of a deployable on offer. Handles beyond
// num_accelerators are those that a report no longer names while a guest holds them.
func providerState(d *reconcile.Device, p *reconcile.Deployable) reconcile.ProviderState {
	total, reserved := reconcile.DesiredReserved(d, p, true, max(0, len(p.Handles)-p.NumAccelerators))
	return reconcile.ProviderState{
		UUID: p.Offer, Name: p.Name, Known: true, Class: p.Class(), Total: total, Reserved: reserved, SameTraits: true,
	}
}
