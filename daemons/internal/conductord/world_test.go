package conductord_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc"
)

// host is the compute host that the tests' Placement knows.
const host = "compute-1"

// vhost makes a virtual host of the test's own on the broker of CYBORG_TEST_AMQP_URL, or gives a reason to skip.
func vhost(t testing.TB) string {
	t.Helper()
	base := os.Getenv("CYBORG_TEST_AMQP_URL")
	if base == "" {
		t.Skip("CYBORG_TEST_AMQP_URL is not set: no RabbitMQ to test with")
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()) + "-" + uuid.NewString()[:8]
	if out, err := exec.CommandContext(t.Context(), "rabbitmqctl", "-q", "add_vhost", name).CombinedOutput(); err != nil {
		t.Skipf("a virtual host cannot be made: %v %s", err, out)
	}
	t.Cleanup(func() { rabbitmqctl(t, "delete_vhost", name) })
	rabbitmqctl(t, "set_permissions", "-p", name, u.User.Username(), ".*", ".*", ".*")
	u.Path = "/" + name
	return u.String()
}

func rabbitmqctl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "rabbitmqctl", append([]string{"-q"}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("rabbitmqctl %v: %v %s", args, err, out)
	}
	return string(out)
}

// configFile writes the configuration of a service on the bus; more is appended.
func configFile(t testing.TB, busURL, more string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("[DEFAULT]\nhost = %s\ntransport_url = %s\nrpc_response_timeout = 20\n[agent]\nresource_provider_name = %s\n"+
		"enabled_drivers = fake_driver\n[database]\nconnection = sqlite:///%s/cyborg.sqlite\n%s", host, busURL, host, dir, more)
	file := filepath.Join(dir, "cyborg.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func load(ctx context.Context, file string) (*config.Config, error) {
	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx, "test")))
	if err != nil {
		return nil, err
	}
	return config.Load(schema, config.Source{Args: []string{"--config-file", file}})
}

func mustLoad(t testing.TB, file string) *config.Config {
	t.Helper()
	cfg, err := load(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// lab is a conductor that has the test's classes beside the catalogue.
type lab struct {
	db     *store.Store
	wire   cyborgrpc.Wire
	server *rpc.Server
	bus    interface {
		rpc.Transport
		Close(context.Context) error
	}
	client *rpc.Client
	close  func() error
}

// newLab makes the conductor of a configuration. It serves nothing yet.
func newLab(ctx context.Context, cfg *config.Config, log *slog.Logger, ready func(bool)) (_ *lab, err error) {
	l := &lab{}
	if l.db, err = store.Connect(ctx, store.OptionsOf(cfg)); err != nil {
		return nil, err
	}
	if err := l.db.Upgrade(ctx, ""); err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	registry, err := labRegistry()
	if err != nil {
		return nil, err
	}
	bodies := labLocal(l.db)
	dispatcher, err := cyborg.Local(l.db).Dispatcher(registry, bodies.Echo, bodies.Counter, bodies.Lists, bodies.ExtARQs)
	if err != nil {
		return nil, err
	}
	bus, err := messaging.Open(cfg, log, nil)
	if err != nil {
		return nil, err
	}
	l.bus, l.wire = bus, cyborgrpc.NewWire(registry)
	l.client = messaging.NewClient(cfg, bus, l.wire, log, nil)
	limits, err := messaging.Limits(cfg)
	if err != nil {
		return nil, err
	}
	agents, err := cyborgrpc.NewAgentAPI(l.client, limits)
	if err != nil {
		return nil, err
	}
	service := placementtest.New(nil)
	if _, err := service.Placement.CreateProvider("", host, ""); err != nil {
		return nil, err
	}
	manager, err := conductor.New(conductor.Config{
		Store: l.db, Notifier: &nova.Recorder{}, Agents: agents,
		Placement: placement.NewNoAuth("http://placement.invalid", placementtest.Client(service), placement.Config{}),
		Registry:  registry, Dispatcher: dispatcher, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	endpoint, err := manager.Endpoint()
	if err != nil {
		return nil, err
	}
	l.server, err = messaging.NewServer(cfg, bus, messaging.Service{
		Topic: cyborgrpc.ConductorTopic, Endpoint: endpoint, Wire: l.wire, Logger: log, Ready: ready,
	})
	l.close = func() error {
		ctx := context.Background()
		return errors.Join(manager.Close(ctx), l.client.Close(ctx), bus.Close(ctx), l.db.Close())
	}
	return l, err
}

// serveLab serves the conductor of a file until ctx ends.
func serveLab(ctx context.Context, file string, ready func()) error {
	cfg, err := load(ctx, file)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, cfg, nil, func(up bool) {
		if up {
			ready()
		}
	})
	if err != nil {
		return err
	}
	return errors.Join(l.server.Run(ctx), l.close())
}

// startLab serves the conductor of a file until the test ends.
func startLab(t testing.TB, file string, log *slog.Logger) *lab {
	t.Helper()
	up := make(chan bool, 16)
	l, err := newLab(t.Context(), mustLoad(t, file), log, func(ready bool) { up <- ready })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, l.close()); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-up:
	case <-time.After(20 * time.Second):
		t.Fatal("the conductor does not consume")
	}
	return l
}

// peer is a caller with a connection, a client and caps of its own.
type peer struct {
	client    *rpc.Client
	conductor *cyborgrpc.ConductorAPI
	agents    *cyborgrpc.AgentAPI
	objects   cyborg.Objects
	lab       labObjects
}

func newPeer(t testing.TB, file string) *peer {
	t.Helper()
	cfg := mustLoad(t, file)
	bus, err := messaging.Open(cfg, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := labRegistry()
	if err != nil {
		t.Fatal(err)
	}
	limits, err := messaging.Limits(cfg)
	if err != nil {
		t.Fatal(err)
	}
	wire := cyborgrpc.NewWire(registry)
	p := &peer{client: messaging.NewClient(cfg, bus, wire, nil, nil)}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(p.client.Close(ctx), bus.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	if p.conductor, err = cyborgrpc.NewConductorAPI(p.client, wire, limits); err != nil {
		t.Fatal(err)
	}
	if p.agents, err = cyborgrpc.NewAgentAPI(p.client, limits); err != nil {
		t.Fatal(err)
	}
	p.objects, p.lab = labRemote(t, p.conductor.Indirection())
	return p
}

// until polls a condition of another process, which no bubble of synthetic time can hold.
func until(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(limit); !ok(); <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", limit, what)
		}
	}
}
