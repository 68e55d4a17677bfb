package conductor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// stalling is a Placement that takes two providers and then never answers.
type stalling struct {
	reconcile.Placement
	stalled func()

	mu    sync.Mutex
	taken int
}

func (p *stalling) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	p.mu.Lock()
	p.taken++
	n := p.taken
	p.mu.Unlock()
	if n <= 2 {
		return p.Placement.Sync(ctx, s)
	}
	p.stalled()
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestCloseCutsLongReport: a report that Placement holds up ends between two writes when the time to close is over: what
// was written is on offer, the rest is not, and the next report completes it without a new row.
func TestCloseCutsLongReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	stalled := make(chan struct{})
	w.configure = func(c *conductor.Config) {
		c.ReplyBudget, c.PlacementWorkers = time.Millisecond, 1
		c.Placement = &stalling{Placement: c.Placement, stalled: sync.OnceFunc(func() { close(stalled) })}
	}
	manager := w.serve(t)
	report := []*cyborg.DriverDevice{device(hostname, 0, 1), device(hostname, 1, 1), device(hostname, 2, 1), device(hostname, 3, 1)}
	if err := w.conductor.ReportData(t.Context(), hostname, report); err != nil {
		t.Fatal(err)
	}
	<-stalled
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := manager.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close() = %v", err)
	}
	w.stop()
	rows := func() (uuids []string, offered int) {
		have, err := w.store.Inventory(t.Context(), hostname)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range have.Devices {
			uuids = append(uuids, d.UUID, d.Deployables[0].UUID, d.Deployables[0].Handles[0].UUID)
			if d.Deployables[0].Offer != "" {
				offered++
			}
		}
		return uuids, offered
	}
	before, offered := rows()
	if len(before) != 3*len(report) || offered != 2 {
		t.Errorf("%d rows, %d devices on offer, want %d and 2", len(before), offered, 3*len(report))
	}
	w.configure = nil
	w.serve(t)
	if err := w.conductor.ReportData(t.Context(), hostname, report); err != nil {
		t.Fatal(err)
	}
	after, offered := rows()
	if diff := cmp.Diff(before, after); diff != "" || offered != len(report) {
		t.Errorf("%d devices on offer after the next report, want %d\n%s", offered, len(report), diff)
	}
}
