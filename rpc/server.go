package rpc

import (
	"context"
	"log/slog"
	"time"
)

// ServerConfig configures a [Server].
type ServerConfig struct {
	// Target is what to serve: Topic and Server are required, Namespace is ignored.
	Target Target
	// Endpoints are searched in this order.
	Endpoints []*Endpoint
	// Serializer decodes arguments and encodes results; nil means [JSON].
	Serializer Serializer
	// Exceptions gives errors of handlers their Python class; nil sends unmapped errors as RuntimeError.
	Exceptions Exceptions
	// Interceptors run around every handler, the first outermost.
	Interceptors []Interceptor
	// Logger gets failures of handlers and messages that cannot be used; nil discards.
	Logger *slog.Logger
	// Observe is told of events; nil means nobody.
	Observe func(Event)
	// Workers is the number of requests that run at once; 0 means 64 (executor_thread_pool_size). While all are busy no
	// further request is accepted.
	Workers int
	// Prefetch is the number of requests the broker may hand over before they are accepted; 0 means Workers.
	Prefetch int
	// Drain is how long Run waits for running requests when it stops; 0 means 60 s (graceful_shutdown_timeout). Then the
	// contexts of the handlers are cancelled.
	Drain time.Duration
	// Ready is told whenever the server begins or ceases to consume.
	Ready func(up bool)
}

// Server answers the requests of one topic.
type Server struct {
	transport Transport
	cfg       ServerConfig
}

// NewServer makes a server; it reports everything that is wrong with cfg.
func NewServer(t Transport, cfg ServerConfig) (*Server, error) { panic("not yet") }

// Run serves until ctx ends. Then it stops consuming, which gives requests not yet accepted back to the broker, waits for
// running requests and the delivery of their replies, and returns nil. It returns an error if the transport cannot serve
// the target or requests were still running after Drain and a grace of one second. Run may be called once.
func (s *Server) Run(ctx context.Context) error { panic("not yet") }
