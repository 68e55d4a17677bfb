package agentd

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// Program is the daemon's name.
const Program = "cyborg-agent"

// What the daemon needs to be ready.
const (
	conditionBus       = "message bus"
	conditionInventory = "first report"
)

// Daemon is cyborg-agent.
type Daemon struct {
	Sysfs string // root of the host's PCI tree, usually /sys
}

// Main runs the daemon and returns its exit code.
func (d Daemon) Main(ctx context.Context, v service.Invocation) int {
	v.Program, v.Check = Program, d.check
	return service.Main(ctx, v, d.start)
}

// check finds what no start could succeed with, the drivers' own validation included.
func (d Daemon) check(cfg *config.Config) error {
	limits, err := messaging.Limits(cfg)
	if err != nil { // Check reports it
		limits = cyborgrpc.DefaultLimits()
	}
	made, err := drivers.Load(drivers.OptionsOf(cfg), drivers.Host{PCI: sysfs.New(d.Sysfs)})
	problems := []error{messaging.Check(cfg), err}
	for _, driver := range made {
		if _, err := driver.InitHost(context.Background(), caps{limits.Conductor}); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", driver.Name(), err))
		}
	}
	return errors.Join(problems...)
}

// caps are those of a client that is not made yet.
type caps struct{ conductor rpc.Version }

var _ agent.Caps = caps{}

// SupportsObjectIndirection implements [agent.Caps].
func (c caps) SupportsObjectIndirection() bool { return c.conductor.Supports(agent.IndirectionVersion) }

// Cap implements [agent.Caps].
func (c caps) Cap() rpc.Version { return c.conductor }

// start wires the agent: indirection first, so that no object operation can run without it.
func (d Daemon) start(_ context.Context, p *service.Process) ([]service.Part, error) {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return nil, err
	}
	limits, err := messaging.Limits(p.Config)
	if err != nil {
		return nil, err
	}
	measured := messaging.NewMetrics(p.Registry, p.Program)
	bus, err := messaging.Open(p.Config, p.Logger.Named("oslo.messaging"), measured)
	if err != nil {
		return nil, err
	}
	conductor, err := agent.Connect(bus, agent.ConnectConfig{
		Cap: limits.Conductor, Timeout: messaging.Timeout(p.Config), RouteWait: messaging.RouteWait,
		Logger: p.Logger.Named("cyborg.conductor.rpcapi"), Observe: measured.Observe, Interceptors: measured.Client(),
	})
	if err != nil {
		return nil, err
	}
	p.Readiness.Require(conditionBus, conditionInventory)
	runner, err := d.agent(p, conductor)
	if err != nil {
		return nil, err
	}
	server, err := messaging.NewServer(p.Config, bus, messaging.Service{
		Topic: cyborgrpc.AgentTopic, Endpoint: rpc.NewEndpoint("", cyborgrpc.AgentVersion), Wire: cyborgrpc.NewWire(registry),
		Logger: p.Logger.Named("cyborg.agent"), Metrics: measured,
		Ready: func(up bool) { p.Readiness.Set(conditionBus, messaging.Consuming(up)) },
	})
	if err != nil {
		return nil, err
	}
	return []service.Part{
		{Name: "message bus", Run: func(ctx context.Context) error { return hold(ctx, bus, conductor) }},
		{Name: "rpc server", Run: server.Run},
		{Name: "agent", Run: func(ctx context.Context) error {
			return runner.Run(rpc.WithRequest(ctx, rpc.AdminContext()))
		}},
	}, nil
}

func (d Daemon) agent(p *service.Process, conductor *agent.Remote) (*agent.Agent, error) {
	log := p.Logger.Named("cyborg.agent.manager")
	made, err := drivers.Load(drivers.OptionsOf(p.Config), drivers.Host{PCI: sysfs.New(d.Sysfs), Logger: log})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Hostname: p.Config.String("agent", "resource_provider_name"), Drivers: made, Conductor: conductor,
		Inventory: conductor.Inventory(), Logger: log,
		Ready: func() { p.Readiness.Set(conditionInventory, nil) },
	})
}

// hold keeps conductor and bus open until the parts that use them have stopped.
func hold(ctx context.Context, bus *amqp.Transport, conductor *agent.Remote) error {
	<-ctx.Done()
	ctx = context.WithoutCancel(ctx)
	return errors.Join(conductor.Close(ctx), bus.Close(ctx))
}
