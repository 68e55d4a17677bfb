package messaging

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// RouteWait is how long a call to a topic without a consumer is tried again: a conductor that restarts is gone for
// less.
const RouteWait = 5 * time.Second

// Limits are the caps of outgoing calls. An error is a *[cyborgrpc.CapError] for each option that is no cap.
func Limits(cfg *config.Config) (cyborgrpc.Limits, error) {
	return cyborgrpc.ParseLimits(cfg.String("upgrade_levels", "conductor"), cfg.String("upgrade_levels", "agent"))
}

// Timeout bounds calls that have no deadline of their own.
func Timeout(cfg *config.Config) time.Duration { return cfg.Seconds("DEFAULT", "rpc_response_timeout") }

// NewClient makes an RPC client with the time-out of the configuration, counted by m. The caller closes it.
func NewClient(cfg *config.Config, t rpc.Transport, wire cyborgrpc.Wire, log *slog.Logger, m *Metrics) *rpc.Client {
	return rpc.NewClient(t, rpc.ClientConfig{
		Serializer: wire, Exceptions: cyborgrpc.Exceptions(), Logger: log,
		Timeout: Timeout(cfg), RouteWait: RouteWait, Observe: m.Observe, Interceptors: m.Client(),
	})
}

// Service is what a server serves.
type Service struct {
	Topic    string
	Endpoint *rpc.Endpoint
	Wire     cyborgrpc.Wire
	Logger   *slog.Logger  // nil discards
	Metrics  *Metrics      // nil counts nothing
	Ready    func(up bool) // told whenever the server begins or ceases to consume; may be nil
}

// NewServer makes the RPC server of a service; its name is [DEFAULT] host.
func NewServer(cfg *config.Config, t rpc.Transport, s Service) (*rpc.Server, error) {
	return rpc.NewServer(t, serverConfig(cfg, t, s))
}

func serverConfig(cfg *config.Config, t rpc.Transport, s Service) rpc.ServerConfig {
	endpoints := []*rpc.Endpoint{s.Endpoint}
	if cfg.Bool("DEFAULT", "rpc_ping_enabled") {
		endpoints = append(endpoints, pingEndpoint())
	}
	drain := cfg.Seconds("DEFAULT", "graceful_shutdown_timeout")
	if drain == 0 { // no limit
		drain = math.MaxInt64
	}
	var replyRetry time.Duration
	if bus, ok := t.(*amqp.Transport); ok {
		replyRetry = bus.Options().ReplyRetry
	}
	return rpc.ServerConfig{
		Target: rpc.Target{Topic: s.Topic, Server: cfg.String("DEFAULT", "host")}, Endpoints: endpoints,
		Serializer: s.Wire, Exceptions: cyborgrpc.Exceptions(), Logger: s.Logger, Ready: s.Ready,
		Observe: s.Metrics.Observe, Interceptors: s.Metrics.Server(endpoints...),
		Workers: int(cfg.Int("DEFAULT", "executor_thread_pool_size")), Drain: drain, ReplyRetry: replyRetry,
	}
}

var errNotConsuming = errors.New("not connected")

// Consuming says how the readiness of the message bus stands, for what [NewServer] tells.
func Consuming(up bool) error {
	if up {
		return nil
	}
	return errNotConsuming
}

// pingEndpoint answers oslo.messaging's ping.
func pingEndpoint() *rpc.Endpoint {
	ep := rpc.NewEndpoint("", "1.0")
	ping := rpc.NewMethod[struct{}, string]("oslo_rpc_server_ping", "1.0")
	ping.Handle(ep, func(context.Context, struct{}) (string, error) { return "pong", nil })
	return ep
}
