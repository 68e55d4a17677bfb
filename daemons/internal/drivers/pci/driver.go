package pci

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// Name is the driver's name in [agent] enabled_drivers.
const Name = "pci_driver"

// feature names managed mode in refusals.
const feature = "PCI managed mode (managed in [pci] device_spec)"

// Scanner reads the PCI functions of the host. An unreadable host is an error, never an empty list.
type Scanner interface {
	Scan() ([]pci.Device, []pci.Warning, error)
}

// Config is what the driver is made of.
type Config struct {
	DeviceSpec   []pci.OptionValue // [pci] device_spec, in configuration order
	ExcludeList  []string          // [pci] exclude_list
	ExcludePlace string            // where that option stands, for messages
	AllowUnsafe  bool              // [workarounds] allow_unsafe_devices
	Host         string            // [DEFAULT] host: deployable names start with it
	Scanner      Scanner           // required
	Logger       *slog.Logger      // nil discards
}

// Driver implements [agent.Driver]. It belongs to one agent.
type Driver struct {
	selector pci.Selector
	scanner  Scanner
	host     string
	log      *slog.Logger
	last     pci.Selection // of the previous discovery, so that warnings are given once
	scanned  map[pci.Warning]bool
}

var _ agent.Driver = (*Driver)(nil)

// New validates the options and makes the driver. Everything that is wrong with them is one
// *[agent.ConfigError] around *[pci.ConfigError]s.
func New(cfg Config) (*Driver, error) {
	spec, specErr := pci.ParseDeviceSpec(cfg.DeviceSpec, specschema.Check)
	exclude, excludeErr := pci.ParseExcludeList(cfg.ExcludeList, cfg.ExcludePlace)
	if err := errors.Join(specErr, excludeErr); err != nil {
		return nil, &agent.ConfigError{Err: err}
	}
	d := &Driver{
		selector: pci.Selector{Spec: spec, Exclude: exclude, AllowUnsafe: cfg.AllowUnsafe},
		scanner:  cfg.Scanner, host: cfg.Host, log: cfg.Logger,
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.warn(spec.Warnings)
	return d, nil
}

// Name implements [agent.Driver].
func (d *Driver) Name() string { return Name }

// InitHost implements [agent.Driver]: a rule that says managed, true or false, requires object indirection.
func (d *Driver) InitHost(_ context.Context, conductor agent.Caps) (agent.Needs, error) {
	if len(d.selector.Spec.ExplicitManaged()) == 0 {
		return agent.Needs{}, nil
	}
	return agent.Needs{Indirection: feature}, agent.RequireIndirection(conductor, feature)
}

// Discover implements [agent.Driver].
func (d *Driver) Discover(context.Context) ([]*cyborg.DriverDevice, error) {
	selection, err := d.Select()
	if err != nil {
		return nil, err
	}
	if err := selection.Err(); err != nil {
		if _, ok := errors.AsType[*pci.ClassError](err); ok {
			err = &agent.ConfigError{Err: err}
		}
		return nil, err
	}
	selected := selection.Selected()
	devices := make([]*cyborg.DriverDevice, len(selected))
	for i, decision := range selected {
		devices[i] = device(pci.NewReport(d.host, decision))
	}
	return devices, nil
}

// Select reads the host and decides for every function, with the reason. It logs warnings that the previous
// selection did not have.
func (d *Driver) Select() (pci.Selection, error) {
	found, warnings, err := d.scanner.Scan()
	if err != nil {
		return pci.Selection{}, fmt.Errorf("discover pci devices: %w", err)
	}
	selection := d.selector.Select(found)
	d.warn(d.fresh(warnings))
	d.warn(selection.NewWarnings(d.last))
	d.last = selection
	return selection, nil
}

// fresh gives the warnings of a scan that the previous scan did not have.
func (d *Driver) fresh(warnings []pci.Warning) []pci.Warning {
	var out []pci.Warning
	now := make(map[pci.Warning]bool, len(warnings))
	for _, w := range warnings {
		if now[w] = true; !d.scanned[w] {
			out = append(out, w)
		}
	}
	d.scanned = now
	return out
}

func (d *Driver) warn(warnings []pci.Warning) {
	for _, w := range warnings {
		d.log.Warn(w.Message, "where", w.Where, "code", string(w.Code))
	}
}
