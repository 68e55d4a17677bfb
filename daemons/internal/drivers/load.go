package drivers

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
	pcidriver "github.com/go-cyborg/cyborg/daemons/internal/drivers/pci"
	"github.com/go-cyborg/cyborg/pci"
)

// UnknownError says that [agent] enabled_drivers names a driver that does not exist.
type UnknownError struct {
	Driver string
	Known  []string
	Place  string // where the option stands: "cyborg.conf:12"; "" when unknown
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s[agent] enabled_drivers: there is no driver %q; known are %s", before(e.Place), e.Driver, strings.Join(e.Known, ", "))
}

// ErrNoDriver says that [agent] enabled_drivers is empty.
var ErrNoDriver = errors.New("[agent] enabled_drivers: no driver is enabled")

// before puts a place in front of a message.
func before(place string) string {
	if place == "" {
		return ""
	}
	return place + ": "
}

// Host is what drivers need of the machine.
type Host struct {
	PCI    pcidriver.Scanner
	Logger *slog.Logger // nil discards
}

// Options are the options of all drivers.
type Options struct {
	Enabled                    []string          // [agent] enabled_drivers
	EnabledPlace, ExcludePlace string            // where [agent] enabled_drivers and [pci] exclude_list stand, for messages
	Host                       string            // [DEFAULT] host
	DeviceSpec                 []pci.OptionValue // [pci] device_spec
	ExcludeList                []string          // [pci] exclude_list
	AllowUnsafe                bool              // [workarounds] allow_unsafe_devices
}

// OptionsOf reads the options of a configuration.
func OptionsOf(cfg *config.Config) Options {
	return Options{
		Enabled: cfg.List("agent", "enabled_drivers"), EnabledPlace: cfg.Origin("agent", "enabled_drivers").String(),
		Host: cfg.String("DEFAULT", "host"), DeviceSpec: deviceSpec(cfg),
		ExcludeList: cfg.List("pci", "exclude_list"), ExcludePlace: cfg.Origin("pci", "exclude_list").String(),
		AllowUnsafe: cfg.Bool("workarounds", "allow_unsafe_devices"),
	}
}

// Load makes the enabled drivers in their order. Everything that is wrong with them and their options is reported
// at once, as *[agent.ConfigError]; that includes [ErrNoDriver].
func Load(o Options, host Host) ([]agent.Driver, error) {
	if len(o.Enabled) == 0 {
		return nil, &agent.ConfigError{Err: fmt.Errorf("%s%w", before(o.EnabledPlace), ErrNoDriver)}
	}
	var made []agent.Driver
	var problems []error
	for _, name := range o.Enabled {
		d, err := load(name, o, host)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		made = append(made, d)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, &agent.ConfigError{Err: err}
	}
	return made, nil
}

func load(name string, o Options, host Host) (agent.Driver, error) {
	switch name {
	case pcidriver.Name:
		return pcidriver.New(pcidriver.Config{
			DeviceSpec: o.DeviceSpec, ExcludeList: o.ExcludeList, ExcludePlace: o.ExcludePlace, AllowUnsafe: o.AllowUnsafe,
			Host: o.Host, Scanner: host.PCI, Logger: host.Logger,
		})
	case fake.Name:
		return fake.New(o.Host), nil
	}
	return nil, &UnknownError{Driver: name, Known: []string{fake.Name, pcidriver.Name}, Place: o.EnabledPlace}
}

// deviceSpec gives the values of [pci] device_spec under the names that the operator wrote.
func deviceSpec(cfg *config.Config) []pci.OptionValue {
	entries := cfg.Entries("pci", "device_spec")
	values := make([]pci.OptionValue, len(entries))
	for i, e := range entries {
		values[i] = pci.OptionValue{Option: e.Origin.As.Option, Text: e.Value, Place: e.Origin.String()}
	}
	return values
}
