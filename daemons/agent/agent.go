package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Agent finds and reports the accelerators of one host. Run it once.
type Agent struct {
	cfg     Config
	log     *slog.Logger
	feature string // that needs indirection, "" for none
	told    map[string]bool
}

// New validates cfg, reporting everything that is wrong with it, and starts nothing.
func New(cfg Config) (*Agent, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Interval <= 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Agent{cfg: cfg, log: cfg.Logger.With("host", cfg.Hostname), told: map[string]bool{}}, nil
}

// Run starts the agent and reports until ctx ends; it returns nil then, also during the start. A *[ConfigError]
// of the start is returned at once, with nothing reported.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.initHost(ctx); err != nil {
		return fmt.Errorf("agent start: %w", err)
	}
	if err := a.Report(ctx); err != nil {
		var config *ConfigError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &config):
			return fmt.Errorf("agent start: %w", err)
		}
		a.log.Error("first report failed; it is retried with the periodic report", "error", err)
	}
	if a.cfg.Ready != nil {
		a.cfg.Ready()
	}
	a.periodic(ctx)
	return nil
}

// initHost is phase one: local validation, nothing is sent. The problems of all drivers are reported at once.
func (a *Agent) initHost(ctx context.Context) error {
	var problems []error
	for _, d := range a.cfg.Drivers {
		needs, err := d.InitHost(ctx, a.cfg.Conductor)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", d.Name(), err))
		}
		if a.feature == "" {
			a.feature = needs.Indirection
		}
	}
	return errors.Join(problems...)
}

// periodic reports every interval until ctx ends. A pass that takes longer delays the next one.
func (a *Agent) periodic(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := a.Report(ctx)
		var config *ConfigError
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &config):
			a.log.Error("report withheld: the configuration does not fit the host", "error", err)
		default:
			a.log.Error("report failed; it is retried", "error", err)
		}
	}
}

// Report makes one pass: discovery, reconciliation with persisted state, report. An error means that nothing
// was reported; a *[ConfigError] that it repeats until the operator acts. The failure of some drivers is logged, and
// the devices of the others are reported.
func (a *Agent) Report(ctx context.Context) error {
	devices, failed, err := a.discover(ctx)
	if err != nil {
		return err
	}
	indirection := a.cfg.Conductor.SupportsObjectIndirection()
	if failed != nil && !indirection {
		return failed // without persisted state nothing can be frozen
	}
	if indirection {
		if err := a.reconcile(ctx, devices); err != nil {
			return err
		}
	}
	if failed != nil {
		if devices, err = a.freeze(ctx, devices); err != nil {
			return errors.Join(failed, err)
		}
		a.log.Error("discovery failed; devices that are not found stay as they are stored", "error", failed)
	}
	if err := a.cfg.Conductor.ReportData(ctx, a.cfg.Hostname, devices); err != nil {
		return fmt.Errorf("report %d devices: %w", len(devices), err)
	}
	a.log.Debug("reported", "devices", len(devices))
	return nil
}

// once logs a warning the first time it is given.
func (a *Agent) once(msg string, args ...any) {
	if !a.told[msg] {
		a.told[msg] = true
		a.log.Warn(msg, args...)
	}
}
