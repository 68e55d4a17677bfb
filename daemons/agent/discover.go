package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// discover asks every driver. failed joins the transient failures of some of them, whose devices are unknown; when
// all fail, or one finds that the configuration does not fit the host, there is nothing to report.
func (a *Agent) discover(ctx context.Context) (devices []*cyborg.DriverDevice, failed, err error) {
	var failures []error
	for _, d := range a.cfg.Drivers {
		found, err := d.Discover(ctx)
		if err == nil {
			devices = append(devices, found...)
			continue
		}
		err = fmt.Errorf("%s: %w", d.Name(), err)
		if _, config := errors.AsType[*ConfigError](err); config {
			return nil, nil, err
		}
		failures = append(failures, err)
	}
	failed = errors.Join(failures...)
	if len(failures) == len(a.cfg.Drivers) {
		return nil, nil, failed
	}
	return devices, failed, nil
}

// freeze adds a stub for every persisted device that is not among the discovered ones: it may belong to a driver
// that failed, and what is unknown must not be taken for missing. A conductor leaves the device of a stub as it is.
func (a *Agent) freeze(ctx context.Context, devices []*cyborg.DriverDevice) ([]*cyborg.DriverDevice, error) {
	stored, err := persisted{a}.Inventory(ctx, a.cfg.Hostname)
	if err != nil {
		return nil, err
	}
	discovered := make(map[string]bool, len(devices))
	for _, d := range devices {
		discovered[d.ControlpathID.Value().CpidInfo.Value()] = true
	}
	for _, d := range stored.Devices {
		if !discovered[d.ControlPath.Info] {
			devices = append(devices, inventory.Stub(d))
		}
	}
	return devices, nil
}
