package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Sweeps is the part of the store that finds what other processes left half done.
type Sweeps interface {
	StuckBinds(ctx context.Context, before time.Time) ([]arq.Request, error)
	Unnotified(ctx context.Context, since time.Time) ([]arq.Request, error)
	OwedCleanups(ctx context.Context, before time.Time) ([]store.OwedCleanup, error)
	OweCleanup(ctx context.Context, device string) (owed bool, err error)
	LeakedHandles(ctx context.Context, before time.Time) ([]store.LeakedHandle, error)
	FreeLeakedHandle(ctx context.Context, handle string, before time.Time) (freed bool, err error)
}

const (
	sweepEvery = time.Minute
	// announceAgain is Nova's default arq_binding_timeout: nobody waits longer for an event.
	announceAgain = 300 * time.Second
	// leakedAfter exceeds the peer's own window, an mdev call of 60 s between its two writes.
	leakedAfter = 600 * time.Second
	// stuckMargin is added to the time-out of a job, for the writes around it and the clocks of two conductors.
	stuckMargin = 30 * time.Second
)

// Run sweeps every minute until ctx ends. Beside the first sweeps, since Nova may be slow, it announces what an earlier
// conductor may not have announced. Several conductors may do so at once.
func (m *Manager) Run(ctx context.Context) error {
	var announcing sync.WaitGroup
	defer announcing.Wait()
	announcing.Go(func() { m.announce(ctx) })
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := m.Sweep(ctx); err != nil && ctx.Err() == nil {
			m.log.Error("sweep failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// announce tells Nova of the requests resolved lately. Nova drops an event that nobody waits for.
func (m *Manager) announce(ctx context.Context) {
	requests, err := m.cfg.Store.Unnotified(ctx, m.now().Add(-announceAgain))
	if err == nil {
		err = m.tell(ctx, requests)
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("events of earlier binds were not sent again", "error", err)
	}
}

// tell sends one notification for each instance.
func (m *Manager) tell(ctx context.Context, requests []arq.Request) error {
	byInstance := map[string][]arq.Request{}
	var order []string
	for _, r := range requests {
		if byInstance[r.InstanceUUID] == nil {
			order = append(order, r.InstanceUUID)
		}
		byInstance[r.InstanceUUID] = append(byInstance[r.InstanceUUID], r)
	}
	var failed error
	for _, instance := range order {
		events, err := nova.Events(byInstance[instance])
		if err == nil {
			err = m.cfg.Notifier.Notify(ctx, events)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Sweep ends what nobody works on any more: binds whose step was abandoned, NVMe devices whose request a Python
// service deleted, handles that a Python service leaked. Every write is guarded, so sweeps of several conductors
// agree.
func (m *Manager) Sweep(ctx context.Context) error {
	return errors.Join(m.sweepBinds(ctx), m.sweepCleanups(ctx), m.sweepHandles(ctx))
}

func (m *Manager) sweepBinds(ctx context.Context) error {
	stuck, err := m.cfg.Store.StuckBinds(ctx, m.now().Add(-m.cfg.BindTimeout-stuckMargin))
	if err != nil {
		return err
	}
	var ended []arq.Request
	var failed error
	for _, r := range stuck {
		outcome := arq.Outcome{Event: arq.EventStepFailed}
		if r.Handle != nil && r.Handle.Type == arq.HandleMDEV {
			outcome.Event = arq.EventStepTimedOut // the mdev may exist; the unbind removes it
		}
		finished, err := m.cfg.Store.Finish(ctx, r.UUID, outcome)
		var moved *arq.BadStateError
		var gone *arq.NotFoundError
		switch {
		case errors.As(err, &moved), errors.As(err, &gone):
			continue // another conductor was here first
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("end abandoned bind of %s: %w", r.UUID, err))
			continue // what has ended is told by this sweep or by none
		}
		m.log.Warn("bind was abandoned and has failed", "arq", r.UUID, "host", r.Hostname)
		if finished.InstanceUUID != "" {
			ended = append(ended, finished)
		}
	}
	return errors.Join(failed, m.tell(ctx, ended))
}

func (m *Manager) sweepCleanups(ctx context.Context) error {
	owed, err := m.cfg.Store.OwedCleanups(ctx, m.now().Add(-sweepEvery))
	if err != nil {
		return err
	}
	var failed error
	for _, d := range owed {
		if d.State != reconcile.StateAllocated {
			continue
		}
		marked, err := m.cfg.Store.OweCleanup(ctx, d.UUID)
		if marked {
			m.log.Warn("device lost its request and has to be erased", "device", d.UUID, "host", d.Host)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (m *Manager) sweepHandles(ctx context.Context) error {
	before := m.now().Add(-leakedAfter)
	leaked, err := m.cfg.Store.LeakedHandles(ctx, before)
	if err != nil || m.cfg.Providers == nil {
		return err
	}
	var failed error
	for _, h := range leaked {
		used, err := m.cfg.Providers.InUse(ctx, reconcile.ProviderUUID(h.Deployable))
		if err != nil || used {
			failed = errors.Join(failed, err)
			continue
		}
		freed, err := m.cfg.Store.FreeLeakedHandle(ctx, h.UUID, before)
		if freed {
			m.log.Warn("attach handle without a request was freed", "handle", h.UUID, "deployable", h.Deployable, "host", h.Host)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
