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

// StaleError says that a handle kept changing while the agent tried to update it. It is transient.
type StaleError struct{ Handle string }

func (e *StaleError) Error() string {
	return fmt.Sprintf("attach handle %s changed twice while its metadata was updated; the next report tries again", e.Handle)
}

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

// settle decides and updates until everything is as decided. A handle that changed since it was read is read
// and decided again once; a second time the state is only looked at.
func (a *Agent) settle(ctx context.Context, discovered []reconcile.Device) ([]reconcile.Device, error) {
	stale := map[string]int{}
	for {
		plan, err := a.decide(ctx, discovered)
		if err != nil {
			return nil, err
		}
		for handle, times := range stale {
			if times > 1 {
				return nil, &StaleError{Handle: handle}
			}
		}
		again := false
		for _, u := range plan.Updates {
			changed, err := a.update(ctx, u)
			if err != nil {
				return nil, err
			}
			if changed {
				again = true
				stale[u.Handle.UUID]++
			}
		}
		if !again {
			return plan.Report, nil
		}
	}
}

// decide reads persisted state, five collection reads whatever the number of devices, and compares.
func (a *Agent) decide(ctx context.Context, discovered []reconcile.Device) (reconcile.ManagedPlan, error) {
	lists, err := a.read(ctx)
	if err != nil {
		return reconcile.ManagedPlan{}, fmt.Errorf("read persisted inventory: %w", err)
	}
	plan := reconcile.Managed(inventory.Stored(a.cfg.Hostname, lists), discovered)
	if err := plan.Err(); err != nil {
		return reconcile.ManagedPlan{}, &ConfigError{Err: err}
	}
	return plan, nil
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

// update makes one in-place change; changed says that the handle is no longer as it was read, or gone.
func (a *Agent) update(ctx context.Context, u reconcile.InfoUpdate) (changed bool, err error) {
	h := u.Handle
	_, err = a.cfg.Inventory.UpdateAttachInfo(ctx, cyborg.AttachInfoUpdate{
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
		return true, nil
	case err != nil:
		return false, fmt.Errorf("update attach handle %s: %w", h.UUID, err)
	}
	a.log.Info("attach handle updated in place", "handle", h.UUID, "from", h.Info, "to", u.To)
	return false, nil
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
