package storetest

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// raceBinds runs every bind at once, each on one of the stores, and returns
// how often each handle was given out.
func raceBinds(f *fixture, binds []arq.Bind, stores ...*store.Store) (bound, refused int) {
	f.Helper()
	seed := rand.Uint64()
	f.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	rng.Shuffle(len(binds), func(i, j int) { binds[i], binds[j] = binds[j], binds[i] })
	type result struct {
		q   arq.Request
		err error
	}
	results := make([]result, len(binds))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, b := range binds {
		wg.Go(func() {
			<-start
			results[i].q, results[i].err = stores[i%len(stores)].Begin(f.ctx, b)
		})
	}
	close(start)
	wg.Wait()
	given := map[int64]int{}
	for _, r := range results {
		var none *arq.NotFoundError
		switch {
		case r.err == nil && r.q.State == arq.Bound:
			bound++
			given[r.q.Handle.ID]++
		case errors.As(r.err, &none) && none.Resource == "AttachHandle" && r.q.State == arq.BindFailed:
			refused++
		default:
			f.Errorf("seed %d: %+v, %v", seed, r.q, r.err)
		}
	}
	for id, n := range given {
		if n != 1 {
			f.Errorf("seed %d: handle %d was given out %d times", seed, id, n)
		}
	}
	return bound, refused
}

const (
	raceRuns     = 3
	raceBidders  = 200
	raceHandles  = 50
	raceRefusals = raceBidders - raceHandles
)

// raceOneDeployable also counts how often binds had to be run again: on MySQL they lock handles that they lose, and
// nearly half of them ended in a deadlock when they tried the handles in any order.
func raceOneDeployable(t *testing.T, target Target) {
	var again conflicts
	f := newFixture(t, target, func(c *store.Config) { c.Log = slog.New(&again) })
	for run := range raceRuns {
		f.host = "race-" + uuid.NewString()
		p := f.insert(f.device(run, raceHandles))[0].Deployables[0]
		f.wantRace(f.bindsTo(p), f.Store)
	}
	if n := again.n.Load(); n > raceRuns*raceBidders/10 {
		t.Errorf("%d deadlocks of %d binds", n, raceRuns*raceBidders)
	}
}

// conflicts counts the deadlocks that a store's log tells of: it has a record for every transaction that is run again.
type conflicts struct{ n atomic.Int64 }

func (c *conflicts) Enabled(context.Context, slog.Level) bool { return true }
func (c *conflicts) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c *conflicts) WithGroup(string) slog.Handler            { return c }

func (c *conflicts) Handle(_ context.Context, r slog.Record) error {
	const deadlock = 1213
	r.Attrs(func(a slog.Attr) bool {
		var refused *mysql.MySQLError
		if err, ok := a.Value.Any().(error); ok && errors.As(err, &refused) && refused.Number == deadlock {
			c.n.Add(1)
		}
		return true
	})
	return nil
}

func (f *fixture) bindsTo(ps ...reconcile.Deployable) []arq.Bind {
	f.Helper()
	binds := make([]arq.Bind, 0, raceBidders)
	for i, q := range f.requests(raceBidders) {
		binds = append(binds, f.bindTo(q, ps[i%len(ps)]))
	}
	return binds
}

func (f *fixture) wantRace(binds []arq.Bind, stores ...*store.Store) {
	f.Helper()
	bound, refused := raceBinds(f, binds, stores...)
	if bound != raceHandles || refused != raceRefusals {
		f.Errorf("%d bound and %d refused, want %d and %d", bound, refused, raceHandles, raceRefusals)
	}
	inUse := 0
	for _, d := range f.inventory() {
		for _, p := range d.Deployables {
			for _, h := range p.Handles {
				if h.InUse != (len(h.ARQs) == 1) {
					f.Errorf("handle %+v", h)
				}
				if h.InUse {
					inUse++
				}
			}
		}
	}
	if inUse != raceHandles {
		f.Errorf("%d handles in use", inUse)
	}
}

func raceManyDeployables(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	for range raceRuns {
		f.host = "race-" + uuid.NewString()
		var ds []reconcile.Device
		for i := range raceHandles {
			ds = append(ds, f.device(i, 1))
		}
		var ps []reconcile.Deployable
		for _, d := range f.insert(ds...) {
			ps = append(ps, d.Deployables[0])
		}
		f.wantRace(f.bindsTo(ps...), f.Store)
	}
}

func raceTwoStores(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	second := target.Open(t, nil)
	p := f.insert(f.device(1, raceHandles))[0].Deployables[0]
	f.wantRace(f.bindsTo(p), f.Store, second)
}

// raceRemoval lets a bind and the removal of the same device run against each
// other: one of them wins, and nothing is left half done.
func raceRemoval(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	const pairs = 50
	var reported []reconcile.Device
	for i := range pairs {
		reported = append(reported, f.device(i, 1))
	}
	ds := f.insert(reported...)
	qs := f.requests(pairs)
	binds, removals := make([]error, pairs), make([]error, pairs)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Add(2)
		go func() {
			defer wg.Done()
			_, binds[i] = f.Begin(f.ctx, f.bindTo(qs[i], ds[i].Deployables[0]))
		}()
		go func() {
			defer wg.Done()
			removals[i] = f.Remove(f.ctx, &ds[i])
		}()
	}
	wg.Wait()
	left := map[int64]bool{}
	for _, d := range f.inventory() {
		left[d.ID] = true
		if n := len(d.Deployables); n != 1 || len(d.Deployables[0].Handles) != 1 || len(d.Deployables[0].Attributes) != 2 {
			t.Errorf("half a device: %+v", d)
		}
	}
	for i := range pairs {
		var none *arq.NotFoundError
		switch {
		case binds[i] == nil && errors.Is(removals[i], reconcile.ErrHeld) && left[ds[i].ID]:
		case errors.As(binds[i], &none) && removals[i] == nil && !left[ds[i].ID]:
		default:
			t.Errorf("pair %d: bind %v, removal %v, left %v", i, binds[i], removals[i], left[ds[i].ID])
		}
	}
}

// raceUpdate lets the change of a handle's text and its allocation run against
// each other: a handle that was allocated first refuses, and never changes
// under the guest.
func raceUpdate(t *testing.T, target Target) {
	f := newFixture(t, target, nil)
	const pairs = 30
	var reported []reconcile.Device
	for i := range pairs {
		reported = append(reported, f.device(i, 1))
	}
	ds := f.insert(reported...)
	qs := f.requests(pairs)
	bound, updated := make([]arq.Request, pairs), make([]error, pairs)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Add(2)
		go func() {
			defer wg.Done()
			var err error
			if bound[i], err = f.Begin(f.ctx, f.bindTo(qs[i], ds[i].Deployables[0])); err != nil {
				t.Errorf("bind: %v", err)
			}
		}()
		go func() {
			defer wg.Done()
			_, updated[i] = f.UpdateAttachInfo(f.ctx, f.update(ds[i], `{"managed": false}`))
		}()
	}
	wg.Wait()
	for i := range pairs {
		now := handleOf(f.inventory(), bound[i].Handle.ID)
		seen := bound[i].Handle.Info.String()
		var stale *cyborg.StaleHandleError
		switch {
		case seen != now.Info:
			t.Errorf("pair %d: bound with %s, stored %s", i, seen, now.Info)
		case updated[i] == nil && now.Info == `{"managed": false}`:
		case errors.As(updated[i], &stale) && now.Info == ds[i].Deployables[0].Handles[0].Info:
		default:
			t.Errorf("pair %d: %v, stored %s", i, updated[i], now.Info)
		}
	}
}
