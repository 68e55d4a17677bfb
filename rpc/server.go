package rpc

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	defaultWorkers = 64
	defaultDrain   = 60 * time.Second
	// defaultReplyRetry is oslo.messaging's kombu_missing_consumer_retry_timeout.
	defaultReplyRetry = 60 * time.Second
	// drainGrace is how long handlers have to return after their contexts were cancelled.
	drainGrace = time.Second
	// replyDrain is how long replies may take once all handlers have returned. A broker that does not take them must not
	// hold up the end of a service for long: it confirms within milliseconds, or not at all.
	replyDrain = 2 * time.Second
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
	// Prefetch is the number of requests the broker may hand over, from each of the server's queues, before they are
	// accepted; 0 means Workers.
	Prefetch int
	// ReplyRetry is how long a reply is tried again whose queue does not exist, because its client reconnects or is gone
	// (kombu_missing_consumer_retry_timeout); 0 means 60 s, a negative value not at all. It should not exceed the time that
	// callers wait.
	ReplyRetry time.Duration
	// Drain is how long Run waits for running requests when it stops; 0 means 60 s (graceful_shutdown_timeout). Then the
	// contexts of the handlers are cancelled. What the broker has not taken of the replies 2 s after the last handler has
	// returned is given up.
	Drain time.Duration
	// Ready is told whenever the server begins or ceases to consume.
	Ready func(up bool)
}

// Server answers the requests of one topic.
type Server struct {
	transport Transport
	cfg       ServerConfig
	log       *slog.Logger
	ran       atomic.Bool
}

// NewServer makes a server; it reports everything that is wrong with cfg.
func NewServer(t Transport, cfg ServerConfig) (*Server, error) {
	var problems []error
	if cfg.Target.Topic == "" || cfg.Target.Server == "" {
		problems = append(problems, errors.New("rpc server: the target needs a topic and a server name"))
	}
	if len(cfg.Endpoints) == 0 {
		problems = append(problems, errors.New("rpc server: no endpoints"))
	}
	if cfg.Workers < 0 || cfg.Prefetch < 0 || cfg.Drain < 0 {
		problems = append(problems, errors.New("rpc server: workers, prefetch and drain must not be negative"))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if cfg.Serializer == nil {
		cfg.Serializer = JSON{}
	}
	if cfg.Workers == 0 {
		cfg.Workers = defaultWorkers
	}
	if cfg.Prefetch == 0 {
		cfg.Prefetch = cfg.Workers
	}
	if cfg.ReplyRetry == 0 {
		cfg.ReplyRetry = defaultReplyRetry
	}
	if cfg.Drain == 0 {
		cfg.Drain = defaultDrain
	}
	s := &Server{transport: t, cfg: cfg, log: cfg.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = s.log.With("topic", cfg.Target.Topic, "server", cfg.Target.Server)
	return s, nil
}

// Run serves until ctx ends. Then it stops consuming, which gives requests not yet accepted back to the broker, waits for
// running requests and the delivery of their replies, and returns nil. It returns an error if the transport cannot serve
// the target, or if requests were still running, or replies still to be sent, when Drain was over. Run may be called once.
func (s *Server) Run(ctx context.Context) error {
	if s.ran.Swap(true) {
		return errors.New("rpc server: Run called twice")
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	a := newAcceptor(base, s)
	t := s.cfg.Target
	err := s.transport.Listen(ctx, Source{Exchange: t.Exchange, Topic: t.Topic, Server: t.Server, Prefetch: s.cfg.Prefetch}, a)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.drain(a, stop))
}

// drain waits for what is running and then for the replies.
func (s *Server) drain(a *acceptor, stop context.CancelFunc) error {
	deadline := time.NewTimer(s.cfg.Drain)
	defer deadline.Stop()
	idle := a.workers.close()
	select {
	case <-idle:
	case <-deadline.C:
		stop()
		select {
		case <-idle:
		case <-time.After(drainGrace):
		}
		a.replies.close()
		return errors.New("rpc server: requests were still running when the time to drain was over")
	}
	select {
	case <-a.replies.close():
		return nil
	case <-deadline.C:
	case <-time.After(replyDrain):
	}
	return errors.New("rpc server: replies were still to be sent when the time to drain was over: the broker does not take them")
}

func (s *Server) observe(e Event) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(e)
	}
}
