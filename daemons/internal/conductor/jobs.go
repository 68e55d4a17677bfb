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

// jobs are binds that go on after their patch was answered. They end with their time, or when the conductor stops:
// a request that stays behind is ended by the sweep of any conductor.
type jobs struct {
	limit chan struct{} // one element for each that runs

	mu     sync.Mutex
	closed bool
	ctx    context.Context // of every job
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// start runs f in the background unless the conductor stops.
func (j *jobs) start(ctx context.Context, timeout time.Duration, f func(context.Context)) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return false
	}
	if j.ctx == nil {
		j.ctx, j.cancel = context.WithCancel(context.Background())
	}
	job, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	stop := context.AfterFunc(j.ctx, cancel)
	j.group.Go(func() {
		defer cancel()
		defer stop()
		f(job)
	})
	return true
}

// close refuses further jobs and waits for those that run; when ctx ends first they are told to stop.
func (j *jobs) close(ctx context.Context) error {
	j.mu.Lock()
	j.closed = true
	cancel := j.cancel
	j.mu.Unlock()
	if cancel == nil {
		return nil
	}
	defer cancel()
	idle := make(chan struct{})
	go func() {
		j.group.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		cancel()
		<-idle
		return ctx.Err()
	}
}

// programAll programs for the requests that are BindStarted, then tells Nova of all requests of the patch as they are
// committed.
func (m *Manager) programAll(ctx context.Context, requests []arq.Request) {
	m.programEach(ctx, requests)
	if err := m.notifyCommitted(context.WithoutCancel(ctx), requests); err != nil {
		m.log.Error("nova was not told of binds", "instance", requests[0].InstanceUUID, "error", err)
	}
}

// programEach programs for the requests that are BindStarted, several at a time.
func (m *Manager) programEach(ctx context.Context, requests []arq.Request) {
	var group sync.WaitGroup
	for _, r := range requests {
		if r.State != arq.BindStarted {
			continue
		}
		group.Go(func() {
			defer m.busy.begin("programming for " + r.UUID)()
			start := time.Now()
			m.jobs.limit <- struct{}{}
			defer func() { <-m.jobs.limit }()
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

// notifyCommitted tells Nova of requests by the states of their rows. Those that are gone are told as they were.
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
	told := make([]arq.Request, len(requests))
	for i, r := range requests {
		told[i] = r
		if row, ok := now[r.UUID]; ok && row.InstanceUUID == r.InstanceUUID {
			told[i] = row
		}
	}
	events, err := nova.Events(told)
	if err != nil {
		return err
	}
	return m.cfg.Notifier.Notify(ctx, events)
}
