package conductor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// programAll programs for the requests that are BindStarted, then tells Nova of all requests of the patch as they are
// committed.
func (m *Manager) programAll(ctx context.Context, requests []arq.Request) {
	m.programEach(ctx, requests)
	if err := m.notifyCommitted(context.WithoutCancel(ctx), requests); err != nil {
		m.log.Error("nova was not told of binds", "instance", requests[0].InstanceUUID, "error", err)
	}
}

// programEach programs for the requests that are BindStarted, several at a time and within the time for a patch. A request
// that stays behind is ended by the sweep of any conductor.
func (m *Manager) programEach(ctx context.Context, requests []arq.Request) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.BindTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, r := range requests {
		if r.State != arq.BindStarted {
			continue
		}
		group.Go(func() {
			defer m.busy.begin("programming for " + r.UUID)()
			start := time.Now()
			m.programming <- struct{}{}
			defer func() { <-m.programming }()
			bitstream, err := m.program(ctx, r)
			if errors.Is(err, context.Canceled) {
				return // stopping: nobody knows how it ends; the sweep of any conductor ends the bind
			}
			finished, err := m.finish(ctx, r, err, bitstream)
			if err != nil {
				m.log.Error("bind job failed", "arq", r.UUID, "error", err)
			}
			m.moved(finished.State, start)
		})
	}
	group.Wait()
}

// notifyCommitted tells Nova of requests by the states of their rows. One that has left its instance has no state to
// tell, one that has not ended is told of by the sweep that ends it; neither keeps the others from being told.
func (m *Manager) notifyCommitted(ctx context.Context, requests []arq.Request) error {
	uuids := make([]string, len(requests))
	for i, r := range requests {
		uuids[i] = r.UUID
	}
	rows, err := m.cfg.Store.Requests(ctx, store.RequestFilter{UUIDs: uuids})
	if err != nil {
		return err
	}
	now := make(map[string]arq.Request, len(rows))
	for _, r := range rows {
		now[r.UUID] = r
	}
	told := make([]arq.Request, 0, len(requests))
	for _, r := range requests {
		row, ok := now[r.UUID]
		switch {
		case !ok, row.InstanceUUID != r.InstanceUUID:
			m.log.Warn("nova is not told of a request that left its instance", "arq", r.UUID, "instance", r.InstanceUUID)
		case !row.State.Resolved():
			m.log.Warn("nova is not told of a bind that has not ended", "arq", r.UUID, "instance", r.InstanceUUID, "state", row.State)
		default:
			told = append(told, row)
		}
	}
	if len(told) == 0 {
		return nil
	}
	events, err := nova.Events(told)
	if err != nil {
		return err
	}
	return m.cfg.Notifier.Notify(ctx, events)
}
