package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reconcile checks the discovered devices against persisted state, updates what may change in place, and puts
// the persisted bytes into the objects to be reported. All is decided before anything is written. A conductor
// that is too old is worked around, with one warning, unless a configured feature needs it.
func (a *Agent) reconcile(ctx context.Context, devices []*cyborg.DriverDevice) error {
	discovered, err := values(devices)
	if err != nil {
		return err
	}
	report, err := a.settle(ctx, discovered)
	var tooOld *cyborgrpc.TooOldError
	switch {
	case errors.As(err, &tooOld) && a.feature == "":
		a.once("reporting without a look at persisted state", "error", err)
		return nil
	case errors.As(err, &tooOld):
		return fmt.Errorf("%s: %w", a.feature, err)
	case err != nil:
		return err
	}
	for i, d := range report {
		carry(devices[i], d)
	}
	return nil
}

// settle decides and updates until everything is as decided.
func (a *Agent) settle(ctx context.Context, discovered []reconcile.Device) ([]reconcile.Device, error) {
	done, err := reconcile.ApplyManaged(ctx, persisted{a}, a.cfg.Hostname, discovered)
	var conflict *reconcile.ManagedConflictError
	var invalid *reconcile.InvalidInfoError
	if errors.As(err, &conflict) || errors.As(err, &invalid) {
		return nil, &ConfigError{Err: err}
	}
	return done.Report, err
}

// persisted is the persisted state of the agent's host, as the decisions need it.
type persisted struct{ agent *Agent }

// Inventory implements [reconcile.ManagedStore] with five collection reads, whatever the number of devices.
func (p persisted) Inventory(ctx context.Context, host string) (reconcile.Inventory, error) {
	lists, err := p.agent.read(ctx)
	if err != nil {
		return reconcile.Inventory{}, err
	}
	return inventory.Stored(host, lists), nil
}

func (a *Agent) read(ctx context.Context) (l inventory.Lists, err error) {
	host, from := a.cfg.Hostname, a.cfg.Inventory
	if l.Devices, err = from.Devices(ctx, host); err != nil {
		return l, err
	}
	if l.ControlpathIDs, err = from.ControlpathIDs(ctx, host); err != nil {
		return l, err
	}
	if l.Deployables, err = from.Deployables(ctx, host); err != nil {
		return l, err
	}
	l.AttachHandles, l.Referenced, err = from.AttachHandles(ctx, host)
	return l, err
}

// UpdateAttachInfo implements [reconcile.ManagedStore].
func (p persisted) UpdateAttachInfo(ctx context.Context, u reconcile.InfoUpdate) error {
	h := u.Handle
	_, err := p.agent.cfg.Inventory.UpdateAttachInfo(ctx, cyborg.AttachInfoUpdate{
		UUID: h.UUID, AttachInfo: u.To, RequireUnallocated: u.RequireUnallocated,
		Expected: cyborg.HandleExpectation{
			DeployableID: u.Deployable.ID, DeployableName: u.Deployable.Name,
			ControlpathID: u.Device.ControlPath.ID, CpidInfo: u.Device.ControlPath.Info,
			DeviceID: u.Device.ID, Hostname: u.Host,
			AttachType: string(h.Type), AttachInfo: h.Info, InUse: h.InUse, Referenced: len(h.ARQs) > 0,
		},
	})
	var stale *cyborg.StaleHandleError
	var gone *cyborg.HandleNotFoundError
	switch {
	case errors.As(err, &stale), errors.As(err, &gone):
		return fmt.Errorf("%w: %w", reconcile.ErrStale, err)
	case err != nil:
		return err
	}
	p.agent.log.Info("attach handle updated in place", "handle", h.UUID, "from", h.Info, "to", u.To)
	return nil
}

// values are the discovered objects as the values that decisions are made on.
func values(devices []*cyborg.DriverDevice) ([]reconcile.Device, error) {
	out := make([]reconcile.Device, len(devices))
	for i, d := range devices {
		v, err := inventory.Reported(d)
		if err != nil {
			return nil, fmt.Errorf("discovered device %d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

// carry puts the texts of v into the object it was made from.
func carry(d *cyborg.DriverDevice, v reconcile.Device) {
	d.ControlpathID.Value().CpidInfo.Set(v.ControlPath.Info)
	for i, dep := range d.DeployableList.Value() {
		for j, h := range dep.AttachHandleList.Value() {
			h.AttachInfo.Set(v.Deployables[i].Handles[j].Info)
		}
	}
}
