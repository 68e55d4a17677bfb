package reconcile

import (
	"context"
	"sync"
)

// collector puts finished deployables on offer: one statement for all that
// piled up while the last one ran, so that the time between "schedulable" and
// "bindable" stays short without a statement for each.
type collector struct {
	run      *run
	outcomes []Outcome // written by the collector for tasks handed to it
	done     chan struct{}

	mu      sync.Mutex
	more    sync.Cond // on mu
	pending []*task
	closed  bool
}

// newCollector starts a collector; [collector.close] ends it.
func newCollector(ctx context.Context, u *run, outcomes []Outcome) *collector {
	c := &collector{run: u, outcomes: outcomes, done: make(chan struct{})}
	c.more.L = &c.mu
	go func() {
		defer close(c.done)
		for batch := c.next(); len(batch) > 0; batch = c.next() {
			c.offer(ctx, batch)
		}
	}()
	return c
}

// add hands over a finished device.
func (c *collector) add(t *task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, t)
	c.more.Signal()
}

// close offers what is left and waits.
func (c *collector) close() {
	c.mu.Lock()
	c.closed = true
	c.more.Signal()
	c.mu.Unlock()
	<-c.done
}

// next waits for devices; none means that the collector was closed.
func (c *collector) next() []*task {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) == 0 && !c.closed {
		c.more.Wait()
	}
	batch := c.pending
	c.pending = nil
	return batch
}

// offer sets the offers of a batch. A claim that is lost belongs to another
// run, which does the rest; when the row is gone the provider goes too.
func (c *collector) offer(ctx context.Context, batch []*task) {
	var claims []Claim
	names := map[int64]string{}
	for _, t := range batch {
		for i, s := range t.plan.Steps {
			sync, ok := s.(SyncProvider)
			if !ok || !sync.Offer || t.skip != nil && t.skip[i] {
				continue
			}
			p := t.row(sync.Deployable, sync.Name)
			if p == nil {
				continue
			}
			claims = append(claims, Claim{ID: p.ID, UpdatedAt: t.claim[p.ID], Offer: ProviderUUID(p.Name)})
			names[p.ID] = p.Name
		}
	}
	if len(claims) == 0 {
		return
	}
	lost, err := c.run.Store.Offer(ctx, claims)
	if err != nil {
		for _, t := range batch {
			c.outcomes[t.index].Err = database(err)
		}
		return
	}
	if len(lost) > 0 {
		gone := make([]string, len(lost))
		for i, l := range lost {
			gone[i] = names[l.ID]
		}
		c.run.dropRowless(ctx, gone)
	}
}
