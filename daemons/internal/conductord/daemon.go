package conductord

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/rpc"
)

// Program is the daemon's name.
const Program = "cyborg-conductor"

// What the daemon needs to be ready.
const conditionBus = "message bus"

// Daemon is cyborg-conductor.
type Daemon struct{}

// Main runs the daemon and returns its exit code.
func (d Daemon) Main(ctx context.Context, v service.Invocation) int {
	v.Program, v.Check = Program, check
	if slices.Contains(v.Args, commandPlan) || slices.Contains(v.Args, commandForget) {
		return runTool(ctx, v)
	}
	return service.Main(ctx, v, start)
}

// check finds what no start could succeed with.
func check(cfg *config.Config) error {
	_, client := newPlacement(cfg, placement.Config{})
	_, notifier := newNotifier(cfg, slog.New(slog.DiscardHandler))
	return errors.Join(messaging.Check(cfg), databaseError(cfg, store.OptionsOf(cfg).CheckURL()), client, notifier)
}

func start(ctx context.Context, p *service.Process) (_ []service.Part, err error) {
	log := p.Logger.Named("cyborg.conductor.manager")
	db, err := openStore(ctx, p.Config, p.Logger.Named("cyborg.db"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return nil, err
	}
	wire := cyborgrpc.NewWire(registry)
	limits, err := messaging.Limits(p.Config)
	if err != nil {
		return nil, err
	}
	measured := messaging.NewMetrics(p.Registry, p.Program)
	bus, err := messaging.Open(p.Config, p.Logger.Named("oslo.messaging"), measured)
	if err != nil {
		return nil, err
	}
	client := messaging.NewClient(p.Config, bus, wire, p.Logger.Named("cyborg.agent.rpcapi"), measured)
	agents, err := cyborgrpc.NewAgentAPI(client, limits)
	if err != nil {
		return nil, err
	}
	own := newMetrics(p.Registry)
	place, err := newPlacement(p.Config, own.placement())
	if err != nil {
		return nil, err
	}
	manager, err := newManager(p.Config, db, place, registry, agents, own, log)
	if err != nil {
		return nil, err
	}
	p.Reports.Add("Work in flight", manager.WriteInFlight)
	server, err := newServer(p, bus, manager, messaging.Service{Wire: wire, Logger: log, Metrics: measured})
	if err != nil {
		return nil, err
	}
	return []service.Part{
		{Name: "database", Run: func(ctx context.Context) error { <-ctx.Done(); return db.Close() }},
		{Name: "message bus", Run: func(ctx context.Context) error {
			<-ctx.Done()
			ctx = context.WithoutCancel(ctx)
			return errors.Join(client.Close(ctx), bus.Close(ctx))
		}},
		{Name: "health", Run: newHealth(p, db, place.Ping, own).run},
		{Name: "heal", Run: func(ctx context.Context) error { return heal(ctx, p.Config, db, log) }},
		{Name: "sweep", Run: manager.Run},
		{Name: "rpc server", Run: func(ctx context.Context) error {
			return serveThenFinish(ctx, p.Config.Seconds("DEFAULT", "graceful_shutdown_timeout"), log, server.Run, manager.Close)
		}},
	}, nil
}

// newManager makes the conductor. Remotable methods get their bodies here; indirection is never set.
func newManager(cfg *config.Config, db *store.Store, place *placement.Client, registry *ovo.Registry, agents *cyborgrpc.AgentAPI, measured *metrics, log *slog.Logger) (*conductor.Manager, error) {
	dispatcher, err := cyborg.Local(db).Dispatcher(registry)
	if err != nil {
		return nil, err
	}
	notifier, err := newNotifier(cfg, log)
	if err != nil {
		return nil, err
	}
	images, err := newImages(cfg)
	if err != nil {
		return nil, err
	}
	return conductor.New(conductor.Config{
		Store: db, Placement: place, Providers: place, Notifier: notifier, Images: images, Agents: agents,
		Registry: registry, Dispatcher: dispatcher, Logger: log,
		ReplyBudget: cfg.Seconds("conductor", "report_reply_budget"), PlacementWorkers: int(cfg.Int("conductor", "placement_workers")),
		BindTimeout: cfg.Seconds("DEFAULT", "bind_timeout"), BindWorkers: int(cfg.Int("DEFAULT", "thread_pool_size")),
		Retained: func(devices int) { measured.retained.Set(float64(devices)) },
		Moved:    func(to string, took time.Duration) { measured.moves.WithLabelValues(to).Observe(took.Seconds()) },
	})
}

func newServer(p *service.Process, bus rpc.Transport, manager *conductor.Manager, s messaging.Service) (*rpc.Server, error) {
	endpoint, err := manager.Endpoint()
	if err != nil {
		return nil, err
	}
	p.Readiness.Require(conditionBus)
	s.Topic, s.Endpoint = cyborgrpc.ConductorTopic, endpoint
	s.Ready = func(up bool) { p.Readiness.Set(conditionBus, messaging.Consuming(up)) }
	return messaging.NewServer(p.Config, bus, s)
}
