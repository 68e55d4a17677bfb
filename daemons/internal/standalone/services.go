package standalone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/api"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// Config is what the services are made of.
type Config struct {
	StateDir string             // the database lives here; it is created if missing
	Listen   string             // host:port of the REST API, loopback only
	Hosts    []string           // compute hosts that Placement knows, as nova-compute would have told it
	Logger   *slog.Logger       // nil discards
	Metrics  *messaging.Metrics // nil counts nothing
	Seams    Seams
}

// Services are the running services. They are safe for concurrent use.
type Services struct {
	cfg       Config
	log       *slog.Logger
	registry  *ovo.Registry
	wire      cyborgrpc.Wire
	bus       *memory.Bus
	store     *store.Store
	notified  *nova.Recorder
	rpc       *rpc.Client // of conductor and API
	conductor *conductor.Manager
	server    *rpc.Server
	api       net.Listener
	placement net.Listener
	parts     []service.Part

	serving chan struct{} // closed once the conductor takes requests
	ended   chan struct{} // closed at the end of Run
}

// Open makes the services and occupies their addresses; [Services.Run] serves them. What was opened is closed
// again when it fails.
func Open(ctx context.Context, cfg Config) (_ *Services, err error) {
	s := &Services{
		cfg: cfg, log: cfg.Logger, bus: memory.New(), notified: &nova.Recorder{},
		serving: make(chan struct{}), ended: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if s.registry, err = cyborg.NewRegistry(); err != nil {
		return nil, err
	}
	s.wire = cyborgrpc.NewWire(s.registry)
	if err := s.listen(); err != nil { // first, so that a refused address leaves no database behind
		return nil, err
	}
	if err := s.openStore(ctx); err != nil {
		return nil, err
	}
	if err := s.openPlacement(); err != nil {
		return nil, err
	}
	s.rpc = s.newClient(s.bus)
	db := through[Store](cfg.Seams.Store, s.store)
	if err := s.openConductor(db); err != nil {
		return nil, err
	}
	return s, s.openAPI(db)
}

// openStore creates the database, or opens the one that an earlier run left.
func (s *Services) openStore(ctx context.Context) error {
	if err := os.MkdirAll(s.cfg.StateDir, 0o750); err != nil {
		return fmt.Errorf("state directory: %w; choose another with --state-dir", err)
	}
	file, err := filepath.Abs(filepath.Join(s.cfg.StateDir, "cyborg.sqlite"))
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	s.store, err = store.Connect(ctx, store.Config{URL: "sqlite:///" + file, Attempts: 1, Log: s.log})
	if err != nil {
		return fmt.Errorf("database in %s: %w; choose a writable directory with --state-dir", s.cfg.StateDir, err)
	}
	if err := s.store.Upgrade(ctx, ""); err != nil {
		return fmt.Errorf("database in %s: %w", s.cfg.StateDir, err)
	}
	return nil
}

// openPlacement makes the Placement that the hosts are in.
func (s *Services) openPlacement() error {
	handler := placementtest.New(nil)
	for _, host := range s.cfg.Hosts {
		if _, err := handler.Placement.CreateProvider("", host, ""); err != nil {
			return fmt.Errorf("host %s in Placement: %w", host, err)
		}
	}
	var err error
	if s.placement, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("address for Placement: %w", err)
	}
	s.parts = append(s.parts, service.HTTP("placement", s.placement, handler, s.log))
	return nil
}

func (s *Services) openConductor(db Store) error {
	dispatcher, err := cyborg.Local(db).Dispatcher(s.registry)
	if err != nil {
		return err
	}
	client := placement.NewNoAuth(s.PlacementURL(), nil, placement.Config{})
	seams := s.cfg.Seams
	agents, err := cyborgrpc.NewAgentAPI(s.rpc, through(seams.Limits, cyborgrpc.DefaultLimits()))
	if err != nil {
		return err
	}
	s.conductor, err = conductor.New(conductor.Config{
		Store: db, Placement: through[reconcile.Placement](seams.Placement, client),
		Notifier: through[conductor.Notifier](seams.Notifier, s.notified),
		Agents:   agents,
		Registry: s.registry, Dispatcher: dispatcher, Logger: s.log,
		ReplyBudget: replyBudget,
	})
	if err != nil {
		return err
	}
	endpoint, err := s.conductor.Endpoint()
	if err != nil {
		return err
	}
	s.server, err = rpc.NewServer(s.bus, rpc.ServerConfig{
		Target:    rpc.Target{Topic: cyborgrpc.ConductorTopic, Server: "standalone"},
		Endpoints: []*rpc.Endpoint{endpoint}, Serializer: s.wire, Exceptions: cyborgrpc.Exceptions(), Logger: s.log,
		Ready: s.ready(), Observe: s.cfg.Metrics.Observe, Interceptors: s.cfg.Metrics.Server(endpoint),
	})
	if err != nil {
		return err
	}
	s.parts = append(s.parts, service.Part{Name: "conductor", Run: s.serveConductor})
	return nil
}

// replyBudget lets a report wait for Placement, which is in the same process: once the agent is ready, what it
// reported is offered.
const replyBudget = 30 * time.Second

// ready closes s.serving when the conductor's server begins to consume.
func (s *Services) ready() func(up bool) {
	var once sync.Once
	return func(up bool) {
		if up {
			once.Do(func() { close(s.serving) })
		}
	}
}

// serveConductor answers requests until ctx ends, then waits for report runs that go on.
func (s *Services) serveConductor(ctx context.Context) error {
	return errors.Join(s.server.Run(ctx), s.conductor.Close(context.WithoutCancel(ctx)))
}

func (s *Services) openAPI(db Store) error {
	conductor, err := s.conductorAPI(s.rpc, cyborgrpc.DefaultLimits())
	if err != nil {
		return err
	}
	rules, err := policy.New(policy.Defaults(), nil, policy.Config{})
	if err != nil {
		return err
	}
	handler, err := api.New(api.Config{
		Store: db, Conductor: apiConductor{conductor}, Authenticator: api.NoAuth(), Policy: rules, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.parts = append(s.parts, service.HTTP("api", s.api, through[http.Handler](s.cfg.Seams.Handler, handler), s.log))
	return nil
}

// listen occupies the address of the REST API.
func (s *Services) listen() (err error) {
	if err := loopback(s.cfg.Listen); err != nil {
		return err
	}
	s.api, err = service.Listen(s.cfg.Listen)
	return err
}

// loopback refuses addresses that others can reach: the API asks for no token.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; write HOST:PORT", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("listen on %s: the REST API asks for no token, so it serves loopback addresses only; use 127.0.0.1", address)
	}
	return nil
}

// URL is the base of the REST API.
func (s *Services) URL() string { return baseURL(s.api) }

// PlacementURL is the base of the in-process Placement.
func (s *Services) PlacementURL() string { return baseURL(s.placement) }

func baseURL(l net.Listener) string {
	return (&url.URL{Scheme: "http", Host: l.Addr().String()}).String()
}

// Transport is the bus.
func (s *Services) Transport() rpc.Transport { return s.bus }

// Notified is what Nova would have been told so far.
func (s *Services) Notified() []nova.Body { return s.notified.Bodies() }
