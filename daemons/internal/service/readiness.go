package service

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
)

// Readiness is the list of what a daemon needs to do its work: broker, database,
// Keystone, first inventory. It is safe for concurrent use.
type Readiness struct {
	log *slog.Logger

	mu         sync.Mutex
	conditions []condition
	ready      chan struct{} // closed when all were good for the first time
	wasReady   bool
	stopped    bool
}

type condition struct {
	name    string
	err     error
	watched bool // not waited for at start
}

// Reason says why a daemon is not ready.
type Reason struct {
	Condition string `json:"condition"`
	Reason    string `json:"reason"`
}

// errStarting is what a condition says before it was looked at.
var errStarting = errors.New("starting")

// NewReadiness returns a list without conditions, which is ready once
// [Readiness.Require] was called for everything needed and each is good. A nil
// logger discards.
func NewReadiness(log *slog.Logger) *Readiness {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Readiness{log: log, ready: make(chan struct{})}
}

// Require adds conditions, which are bad until [Readiness.Set] says otherwise.
// Call it before the parts run.
func (r *Readiness) Require(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		r.conditions = append(r.conditions, condition{name: name, err: errStarting})
	}
}

// Watch adds conditions that /readyz shows and that systemd is not made to
// wait for: other services, whose absence is no reason to end a start.
func (r *Readiness) Watch(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		r.conditions = append(r.conditions, condition{name: name, err: errStarting, watched: true})
	}
}

// Set says how a condition stands; nil is good. Each change between good and bad
// is logged once. An unknown condition is added.
func (r *Readiness) Set(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.conditions, func(c condition) bool { return c.name == name })
	if i < 0 {
		i = len(r.conditions)
		r.conditions = append(r.conditions, condition{name: name, err: errStarting})
	}
	was := r.conditions[i].err
	r.conditions[i].err = err
	switch {
	case r.stopped: // parts that stop are no news
	case err != nil && (was == nil || errors.Is(was, errStarting)):
		r.log.Warn("not ready", "condition", name, "error", err)
	case err == nil && was != nil && !errors.Is(was, errStarting):
		r.log.Info("condition is good again", "condition", name)
	}
	r.settle()
}

// Reasons lists what is bad; empty means ready.
func (r *Readiness) Reasons() []Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return []Reason{{"process", "stopping"}}
	}
	var out []Reason
	for _, c := range r.conditions {
		if c.err != nil {
			out = append(out, Reason{c.name, c.err.Error()})
		}
	}
	return out
}

// settle closes ready the first time every condition is good that is not only watched. r.mu is held.
func (r *Readiness) settle() {
	for _, c := range r.conditions {
		if c.err != nil && !c.watched {
			return
		}
	}
	if !r.wasReady {
		r.wasReady = true
		close(r.ready)
	}
}

// becameReady is closed the first time every condition is good.
func (r *Readiness) becameReady() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	return r.ready
}

func (r *Readiness) stopping() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}
