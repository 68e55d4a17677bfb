package standalone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/rpc"
)

// AgentConfig says how an agent runs.
type AgentConfig struct {
	Config    *config.Config
	Sysfs     string        // root of the host's PCI tree
	Transport rpc.Transport // nil is the bus
	Interval  time.Duration // between reports; 0 is the agent's default
	Ready     func()        // called when the start has succeeded; nil for nobody
}

// RunAgent runs an agent against the services until ctx ends: the drivers of its configuration, an RPC client of
// its own under the caps of [upgrade_levels], and no way to the database. It starts once the services serve, which
// [Services.Run] must see to, and returns why a start failed.
func (s *Services) RunAgent(ctx context.Context, a AgentConfig) (err error) {
	made, err := s.Drivers(a.Config, a.Sysfs)
	if err != nil {
		return err
	}
	limits, err := cyborgrpc.ParseLimits(a.Config.String("upgrade_levels", "conductor"), a.Config.String("upgrade_levels", "agent"))
	if err != nil {
		return &agent.ConfigError{Err: err}
	}
	if a.Transport == nil {
		a.Transport = s.bus
	}
	conductor, err := agent.Connect(a.Transport, agent.ConnectConfig{
		Cap: through(s.cfg.Seams.Limits, limits).Conductor, Logger: s.log,
		Observe: s.cfg.Metrics.Observe, Interceptors: s.cfg.Metrics.Client(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conductor.Close(context.WithoutCancel(ctx))) }()
	runner, err := agent.New(agent.Config{
		Hostname: a.Config.String("agent", "resource_provider_name"), Drivers: made, Conductor: conductor,
		Inventory: through(s.cfg.Seams.Inventory, conductor.Inventory()),
		Interval:  a.Interval, Ready: a.Ready, Logger: s.log,
	})
	if err != nil {
		return err
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	return runner.Run(rpc.WithRequest(ctx, rpc.AdminContext()))
}

// wait returns when the services serve or ctx has ended.
func (s *Services) wait(ctx context.Context) error {
	select {
	case <-s.serving:
	case <-s.ended:
	case <-ctx.Done():
	}
	select {
	case <-s.ended:
		return errors.New("agent start: the services have ended")
	default:
		return nil
	}
}

// Drivers makes the drivers that a configuration enables, over the PCI tree at root.
func (s *Services) Drivers(cfg *config.Config, root string) ([]agent.Driver, error) {
	options := through(s.cfg.Seams.Options, drivers.OptionsOf(cfg))
	made, err := drivers.Load(options, drivers.Host{PCI: sysfs.New(root), Logger: s.log})
	if err != nil {
		return nil, fmt.Errorf("agent start: %w", err)
	}
	return made, nil
}
