package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// DefaultInterval is the time between two reports of Cyborg 17.0.0.
const DefaultInterval = 60 * time.Second

// Conductor is what the agent needs of the conductor's client.
type Conductor interface {
	Caps
	// ReportData sends the devices of the host to be stored and offered.
	ReportData(ctx context.Context, hostname string, devices []*cyborg.DriverDevice) error
}

// Config is what an agent is made of.
type Config struct {
	// Hostname is the name of the host's resource provider in Placement; reports are filed and persisted
	// objects are read under it. Required.
	Hostname string
	// Drivers are asked in this order. Required.
	Drivers []Driver
	// Conductor receives the reports. Required.
	Conductor Conductor
	// Inventory reads and updates persisted state; required when the conductor's cap admits object operations.
	Inventory Inventory
	// Interval is the time between two reports; 0 means [DefaultInterval].
	Interval time.Duration
	// Ready is called once, when phase two has ended without a ConfigError; nil for nobody.
	Ready func()
	// Logger gets one record for every state change and every problem; nil discards.
	Logger *slog.Logger
}

func (c Config) validate() error {
	var problems []error
	if c.Hostname == "" {
		problems = append(problems, errors.New("agent: hostname is empty"))
	}
	if len(c.Drivers) == 0 {
		problems = append(problems, errors.New("agent: no driver"))
	}
	if c.Conductor == nil {
		problems = append(problems, errors.New("agent: no conductor"))
	} else if c.Inventory == nil && c.Conductor.SupportsObjectIndirection() {
		problems = append(problems, errors.New("agent: the cap admits object operations, but there is no inventory to use them"))
	}
	return errors.Join(problems...)
}
