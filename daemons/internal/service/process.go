package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

// Errors of [Process.Run] that are not a part's own.
var (
	// ErrStopTimeout: the parts did not stop within graceful_shutdown_timeout.
	ErrStopTimeout = errors.New("stop took longer than [DEFAULT] graceful_shutdown_timeout")
	// ErrInterrupted: a second INT ended the process without an orderly stop.
	ErrInterrupted = errors.New("interrupted twice")
)

// Part is one thing a daemon does for as long as it lives.
type Part struct {
	// Name stands in logs and errors.
	Name string
	// Run blocks until ctx ends and the part has stopped; returning earlier,
	// with or without an error, stops the process.
	Run func(ctx context.Context) error
	// Alive reports whether the part still makes progress; nil means that it
	// always does. While one does not, systemd's watchdog is not fed.
	Alive func() bool
}

// Process is a running daemon as its parts see it. Its fields must not be
// changed; they are safe for concurrent use.
type Process struct {
	// Program is the daemon's name.
	Program string
	// Config is the configuration at start.
	Config *config.Config
	// Logger is the daemon's log.
	Logger *Logger
	// Registry collects the daemon's metrics.
	Registry *prometheus.Registry
	// Readiness is what /readyz and systemd are told.
	Readiness *Readiness
	// Reports adds sections to the report made on USR2.
	Reports *Reports

	schema  *config.Schema
	source  config.Source
	log     *slog.Logger
	signals <-chan os.Signal
	notify  func(state string)
	ticks   <-chan time.Time
	reload  *reloadMetrics
}

// running is a started part.
type running struct {
	Part
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Run starts the parts and blocks until ctx ends, a signal asks to stop, or a
// part returns; then it stops the others in reverse order. It returns nil after
// an orderly stop that was asked for, else the parts' errors, [ErrStopTimeout] or
// [ErrInterrupted].
func (p *Process) Run(ctx context.Context, parts ...Part) error {
	ended := make(chan *running, len(parts))
	started := make([]*running, len(parts))
	for i, part := range parts {
		started[i] = start(ctx, part, ended)
	}
	reason := p.serve(ctx, started, ended)
	return errors.Join(reason, p.stop(started))
}

// start runs a part under a context of its own, which does not end with ctx: the
// order of stopping is ours.
func start(ctx context.Context, part Part, ended chan<- *running) *running {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{Part: part, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer func() {
			close(r.done)
			ended <- r
		}()
		if err := part.Run(own); err != nil && !errors.Is(err, context.Canceled) {
			r.err = fmt.Errorf("%s: %w", part.Name, err)
		}
	}()
	return r
}

// serve handles signals until something ends the process; it returns the error
// that did, nil when the stop was asked for.
func (p *Process) serve(ctx context.Context, parts []*running, ended <-chan *running) error {
	ready := p.Readiness.becameReady()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-ended:
			if r.err == nil {
				return fmt.Errorf("%s ended although nothing asked it to", r.Name)
			}
			// Its error is collected by stop.
			p.log.Error("a part of the service failed", "part", r.Name, "error", r.err)
			return nil
		case <-ready:
			ready = nil
			p.notify(notifyReady)
			p.log.Info("service is ready")
		case <-p.ticks:
			if allAlive(parts) {
				p.notify(notifyWatchdog)
			}
		case s := <-p.signals:
			if stop := p.handle(s); stop {
				p.log.Info("stopping", "signal", s.String())
				return nil
			}
		}
	}
}

func allAlive(parts []*running) bool {
	for _, r := range parts {
		if r.Alive != nil && !r.Alive() {
			return false
		}
	}
	return true
}

// stop ends the parts in reverse order and waits for each, within the time limit
// in all.
func (p *Process) stop(parts []*running) error {
	p.Readiness.stopping()
	p.notify(notifyStopping)
	var limit <-chan time.Time
	if timeout := p.Config.Seconds("DEFAULT", "graceful_shutdown_timeout"); timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		limit = timer.C
	}
	var problems []error
	for _, r := range slices.Backward(parts) {
		r.cancel()
		if err := p.await(r, limit); err != nil {
			return errors.Join(append(problems, err)...)
		}
		problems = append(problems, r.err)
	}
	p.log.Info("stopped")
	return errors.Join(problems...)
}

// await waits for a part; INT ends the waiting.
func (p *Process) await(r *running, limit <-chan time.Time) error {
	for {
		select {
		case <-r.done:
			return nil
		case <-limit:
			return fmt.Errorf("%s: %w", r.Name, ErrStopTimeout)
		case s := <-p.signals:
			if s == os.Interrupt {
				return ErrInterrupted
			}
		}
	}
}
