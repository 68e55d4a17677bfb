package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// ConnectConfig says how an agent calls the conductor; its zero value is the default.
type ConnectConfig struct {
	// Cap is the ceiling of outgoing calls ([upgrade_levels] conductor), 1.0 or 1.1; zero means the default, 1.1. Connect
	// refuses others.
	Cap       rpc.Version
	Timeout   time.Duration // of a call, [DEFAULT] rpc_response_timeout; 0 is 60 s
	RouteWait time.Duration // how long a call waits for a conductor to exist; 0 fails it at once
	Logger    *slog.Logger  // nil discards
	// Observe is told of events and Interceptors run around every call, for metrics; nil for none.
	Observe      func(rpc.Event)
	Interceptors []rpc.Interceptor
}

// Remote is the conductor as an agent reaches it: the [Conductor] of a [Config] and, behind the same client and
// the same cap, its [Inventory]. It is safe for concurrent use.
type Remote struct {
	client    *rpc.Client
	conductor *cyborgrpc.ConductorAPI
	inventory Inventory
}

var _ Conductor = (*Remote)(nil)

// Connect makes an agent's client on a transport. Nothing is sent until it is used; Close it before the transport.
func Connect(t rpc.Transport, cfg ConnectConfig) (*Remote, error) {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return nil, err
	}
	wire := cyborgrpc.NewWire(registry)
	client := rpc.NewClient(t, rpc.ClientConfig{
		Serializer: wire, Exceptions: cyborgrpc.Exceptions(), Logger: cfg.Logger, Timeout: cfg.Timeout, RouteWait: cfg.RouteWait,
		Observe: cfg.Observe, Interceptors: cfg.Interceptors,
	})
	conductor, err := cyborgrpc.NewConductorAPI(client, wire, cyborgrpc.Limits{Conductor: cfg.Cap})
	if err != nil {
		return nil, errors.Join(err, client.Close(context.Background()))
	}
	objects, err := cyborg.Remote(registry, conductor.Indirection())
	if err != nil {
		return nil, err
	}
	return &Remote{client: client, conductor: conductor, inventory: RemoteInventory(objects)}, nil
}

// SupportsObjectIndirection implements [Caps].
func (r *Remote) SupportsObjectIndirection() bool { return r.conductor.SupportsObjectIndirection() }

// Cap implements [Caps].
func (r *Remote) Cap() rpc.Version { return r.conductor.Cap() }

// ReportData implements [Conductor].
func (r *Remote) ReportData(ctx context.Context, hostname string, devices []*cyborg.DriverDevice) error {
	return r.conductor.ReportData(ctx, hostname, devices)
}

// Inventory is the persisted state of the host, through remotable objects.
func (r *Remote) Inventory() Inventory { return r.inventory }

// Close fails calls that still wait and deletes the reply queue.
func (r *Remote) Close(ctx context.Context) error { return r.client.Close(ctx) }
