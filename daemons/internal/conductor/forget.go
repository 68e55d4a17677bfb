package conductor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-cyborg/cyborg/reconcile"
)

// Forgetter removes what a compute node that is gone for good left behind.
type Forgetter struct {
	Store     ForgetStore
	Placement reconcile.Placement
	Providers Providers
}

// ForgetStore is the database as [Forgetter] needs it.
type ForgetStore interface {
	reconcile.Store
	// RemoveHalfMade deletes the devices of a host that have no control path, which no report finds, and returns their
	// uuids.
	RemoveHalfMade(ctx context.Context, host string) ([]string, error)
}

// Forgotten is what was removed.
type Forgotten struct {
	Devices   []string // control paths; the uuid of a device without one
	Providers []string // names of providers without a row
}

// HeldError says why a host cannot be forgotten: something of it is still somebody's.
type HeldError struct {
	Host  string
	Holds []string // what is held and by whom
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("host %s is not forgotten, it still has: %s; delete or unbind these first", e.Host, strings.Join(e.Holds, "; "))
}

// Forget removes the rows and providers of a host, or, with orphans, only the providers that Cyborg made and that have
// no row. While anything is allocated nothing is removed and the error is *[HeldError]. The host's agent must not run.
// A host that Placement has no provider of loses its rows.
func (f Forgetter) Forget(ctx context.Context, host string, orphans bool) (Forgotten, error) {
	runner := &reconcile.Runner{Store: f.Store, Placement: f.Placement}
	plan, err := runner.Plan(ctx, host, nil)
	var noRoot *reconcile.NoRootError
	switch {
	case errors.As(err, &noRoot) && !orphans:
		return f.rows(ctx, host)
	case err != nil:
		return Forgotten{}, err
	case orphans:
		return f.orphans(ctx, plan)
	}
	if err := f.held(ctx, host, plan.InTree); err != nil {
		return Forgotten{}, err
	}
	var out Forgotten
	result := runner.Apply(ctx, plan)
	var failed error
	for _, o := range result.Devices {
		if o.Err != nil || o.Verdict != reconcile.Remove {
			failed = errors.Join(failed, fmt.Errorf("device %s is not removed (%s): %w", o.Device, o.Verdict, o.Err))
			continue
		}
		out.Devices = append(out.Devices, o.Device)
	}
	for _, p := range result.Problems {
		if p.Reason != reconcile.ReasonOrphan {
			failed = errors.Join(failed, errors.New(p.String()))
		}
	}
	if failed != nil {
		return out, failed
	}
	return f.halfMade(ctx, host, out)
}

// halfMade removes what a Python conductor did not finish.
func (f Forgetter) halfMade(ctx context.Context, host string, out Forgotten) (Forgotten, error) {
	uuids, err := f.Store.RemoveHalfMade(ctx, host)
	out.Devices = append(out.Devices, uuids...)
	if err != nil {
		err = fmt.Errorf("devices without a control path: %w", err)
	}
	return out, err
}

// held looks for anything that is somebody's, in the rows and in Placement, where only the providers that are the
// host's count: another host may have a deployable of the same name.
func (f Forgetter) held(ctx context.Context, host string, ours func(deployable string) bool) error {
	have, err := f.Store.Inventory(ctx, host)
	if err != nil {
		return err
	}
	e := &HeldError{Host: host}
	for i := range have.Devices {
		d := &have.Devices[i]
		if d.Held() {
			e.Holds = append(e.Holds, holdsText(d))
		}
		for k := range d.Deployables {
			name := d.Deployables[k].Name
			if !ours(name) {
				continue
			}
			used, err := f.Providers.InUse(ctx, reconcile.ProviderUUID(name))
			if err != nil {
				return fmt.Errorf("allocations of %s: %w", name, err)
			}
			if used {
				e.Holds = append(e.Holds, "an allocation of provider "+name)
			}
		}
	}
	if e.Holds != nil {
		return e
	}
	return nil
}

// rows removes the rows of a host that Placement has no provider of. Those of its deployables may stand under a root
// that was renamed, so an allocation from any of them counts.
func (f Forgetter) rows(ctx context.Context, host string) (out Forgotten, err error) {
	if err := f.held(ctx, host, func(string) bool { return true }); err != nil {
		return out, err
	}
	have, err := f.Store.Inventory(ctx, host)
	if err != nil {
		return out, err
	}
	for i := range have.Devices {
		if err := f.Store.Remove(ctx, &have.Devices[i]); err != nil {
			return out, fmt.Errorf("device %s: %w", have.Devices[i].ControlPath.Info, err)
		}
		out.Devices = append(out.Devices, have.Devices[i].ControlPath.Info)
	}
	return f.halfMade(ctx, host, out)
}

// orphans removes the providers without a row that the plan names.
func (f Forgetter) orphans(ctx context.Context, plan reconcile.Plan) (out Forgotten, failed error) {
	for _, p := range plan.Problems {
		if p.Reason != reconcile.ReasonOrphan {
			continue
		}
		err := f.Placement.Drop(ctx, reconcile.ProviderUUID(p.Deployable), "")
		var used *reconcile.InUseError
		switch {
		case errors.As(err, &used):
			failed = errors.Join(failed, &HeldError{Host: plan.Host, Holds: []string{"an allocation of provider " + p.Deployable}})
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("provider %s: %w", p.Deployable, err))
		default:
			out.Providers = append(out.Providers, p.Deployable)
		}
	}
	return out, failed
}

// holdsText says what holds a device.
func holdsText(d *reconcile.Device) string {
	var holds []string
	for i := range d.Deployables {
		for _, h := range d.Deployables[i].Handles {
			switch {
			case len(h.ARQs) > 0:
				holds = append(holds, "attach handle "+h.UUID+" of accelerator request "+strings.Join(h.ARQs, ", "))
			case h.InUse:
				holds = append(holds, "attach handle "+h.UUID+" in use")
			}
		}
	}
	if holds == nil {
		holds = []string{"device_state " + string(d.State)}
	}
	return "device " + d.ControlPath.Info + ": " + strings.Join(holds, ", ")
}
