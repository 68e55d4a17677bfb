package storetest

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

// injector fails the points that want chooses, counting the attempts.
type injector struct {
	want     atomic.Pointer[func(store.Point) error]
	attempts atomic.Int32
}

func (i *injector) fault(p store.Point) error {
	if p.Stage == store.StageBegin {
		i.attempts.Add(1)
	}
	if want := i.want.Load(); want != nil {
		return (*want)(p)
	}
	return nil
}

func (i *injector) set(want func(store.Point) error) {
	i.attempts.Store(0)
	i.want.Store(&want)
}

// first fails the first n points of a stage.
func first(n int32, stage store.Stage, err error) func(store.Point) error {
	var seen atomic.Int32
	return func(p store.Point) error {
		if p.Stage == stage && seen.Add(1) <= n {
			return err
		}
		return nil
	}
}

func retries(t *testing.T, target Target) {
	var in injector
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = in.fault })
	p := f.insert(f.device(1, 20))[0].Deployables[0]
	conflicts := map[string]error{
		"deadlock": &mysql.MySQLError{Number: 1213}, "lock wait": &mysql.MySQLError{Number: 1205}, "record changed": &mysql.MySQLError{Number: 1020},
		"galera": &mysql.MySQLError{Number: 1047}, "serialisation": &pq.Error{Code: "40001"}, "pq deadlock": &pq.Error{Code: "40P01"},
		"lost": driver.ErrBadConn, "shutdown": &pq.Error{Code: "57P01"},
	}
	for name, conflict := range conflicts {
		for _, stage := range []store.Stage{store.StageRead, store.StageWrite, store.StageCommit} {
			q := f.requests(1)[0]
			in.set(first(2, stage, conflict))
			got, err := f.Begin(f.ctx, f.bindTo(q, p))
			in.want.Store(nil)
			if err != nil || got.State != arq.Bound || in.attempts.Load() != 3 {
				t.Errorf("%s at %s: %s after %d attempts, %v", name, stage, got.State, in.attempts.Load(), err)
			}
			f.release(q, arq.LeaveDelete)
		}
	}
	for name, final := range map[string]error{
		"duplicate": &mysql.MySQLError{Number: 1062}, "missing parent": &mysql.MySQLError{Number: 1452}, "null": &mysql.MySQLError{Number: 1048},
		"too long": &pq.Error{Code: "22001"},
	} {
		q := f.requests(1)[0]
		in.set(first(1, store.StageCommit, final))
		_, err := f.Begin(f.ctx, f.bindTo(q, p))
		in.want.Store(nil)
		if err == nil || in.attempts.Load() != 1 {
			t.Errorf("%s: %d attempts, %v", name, in.attempts.Load(), err)
		}
	}
	q := f.requests(1)[0]
	in.set(first(1000, store.StageCommit, conflicts["deadlock"]))
	_, err := f.Begin(f.ctx, f.bindTo(q, p))
	in.want.Store(nil)
	var engine *store.Error
	if !errors.As(err, &engine) || engine.Kind != store.Contention || in.attempts.Load() > 10 {
		t.Errorf("for ever: %d attempts, %v", in.attempts.Load(), err)
	}
	var n atomic.Int32
	q = f.requests(1)[0]
	in.set(func(p store.Point) error { // a server that was away, and the rush when it is back
		if p.Stage != store.StageCommit || n.Add(1) > 9 {
			return nil
		}
		if n.Load() < 7 {
			return conflicts["lost"]
		}
		return conflicts["deadlock"]
	})
	got, err := f.Begin(f.ctx, f.bindTo(q, p))
	in.want.Store(nil)
	if err != nil || got.State != arq.Bound || in.attempts.Load() != 10 {
		t.Errorf("lost and then conflicting: %s after %d attempts, %v", got.State, in.attempts.Load(), err)
	}
	if used := f.db.Stats().InUse; used != 0 {
		t.Errorf("%d connections still in use", used)
	}
}

// lostCommit loses the answer of a COMMIT that took effect: the caller gets
// one success, once.
func lostCommit(t *testing.T, target Target) {
	var in injector
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = in.fault })
	d := f.insert(f.device(1, 2))[0]
	p := d.Deployables[0]
	q := f.requests(1)[0]
	lose := func() { in.set(first(1, store.StageCommitted, driver.ErrBadConn)) }
	lose()
	got, err := f.Begin(f.ctx, f.bindTo(q, p))
	f.ok(err)
	held := 0
	for _, h := range f.inventory()[0].Deployables[0].Handles {
		if h.Held() {
			held++
		}
	}
	if got.State != arq.Bound || got.Handle == nil || held != 1 {
		t.Errorf("bound %+v, %d handles held", got, held)
	}
	var none *arq.NotFoundError
	nothing := f.requests(1)[0]
	lose()
	if got, err := f.Begin(f.ctx, arq.Bind{UUID: nothing.UUID, DeviceRPUUID: "no such"}); !errors.As(err, &none) || got.State != arq.BindFailed {
		t.Errorf("refusal: %s, %v", got.State, err)
	}
	lose()
	r, err := f.Release(f.ctx, q.UUID, arq.LeaveUnbind)
	if err != nil || r.After.State != arq.Unbound {
		t.Errorf("unbind: %+v, %v", r, err)
	}
	lose()
	if _, err := f.Release(f.ctx, q.UUID, arq.LeaveDelete); err != nil {
		t.Errorf("delete: %v", err)
	}
	lose()
	claims, err := f.Withdraw(f.ctx, []reconcile.Version{{ID: p.ID, UpdatedAt: p.UpdatedAt}})
	f.ok(err)
	claims[0].Offer = p.Offer
	lose()
	f.ok2(f.Offer(f.ctx, claims))
	lose()
	if _, err := f.UpdateAttachInfo(f.ctx, f.update(f.inventory()[0], `{"managed": false}`)); err != nil {
		t.Errorf("update: %v", err)
	}
	lose()
	if _, err := f.CreateProfile(f.ctx, store.Profile{Name: f.host, Groups: []arq.Group{{}}}); err != nil {
		t.Errorf("profile: %v", err)
	}
	lose()
	if qs, err := f.CreateARQs(f.ctx, []arq.New{{ProfileName: f.host}, {ProfileName: f.host}}); err != nil || len(qs) != 2 {
		t.Errorf("requests: %v", err)
	}
	lose()
	if _, err := f.Insert(f.ctx, f.host, []reconcile.Device{f.device(5, 1)}); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("insert: %v", err)
	}
}

// faultEverywhere lets every writer fail at each of its points in turn: the
// rows are as before. (The same with the process killed is in the store's own
// tests.)
func faultEverywhere(t *testing.T, target Target) {
	var in injector
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = in.fault })
	broken := errors.New("injected")
	for _, w := range Writers() {
		s := NewScene(t, f.Store, f.host+"-"+w.Name)
		before := s.mustRows(t)
		for n := 0; ; n++ {
			reached := false
			in.set(func(p store.Point) error {
				if p.N == n && p.Stage != store.StageCommitted {
					reached = true
					return broken
				}
				return nil
			})
			err := w.Run(f.ctx, s)
			in.want.Store(nil)
			if !reached {
				f.ok(err)
				break
			}
			if !errors.Is(err, broken) {
				t.Errorf("%s, point %d: %v", w.Name, n, err)
			}
			if diff := cmp.Diff(before, s.mustRows(t)); diff != "" {
				t.Fatalf("%s, point %d: rows changed:\n%s", w.Name, n, diff)
			}
		}
		if cmp.Equal(before, s.mustRows(t)) {
			t.Errorf("%s changed nothing", w.Name)
		}
	}
}

func cancelled(t *testing.T, target Target) {
	var in injector
	f := newFixture(t, target, func(cfg *store.Config) { cfg.Fault = in.fault })
	p := f.insert(f.device(1, 1))[0].Deployables[0]
	q := f.requests(1)[0]
	ctx, cancel := context.WithCancel(f.ctx)
	in.set(func(p store.Point) error {
		if p.Stage == store.StageCommit {
			cancel()
		}
		return nil
	})
	_, err := f.Begin(ctx, f.bindTo(q, p))
	in.want.Store(nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("bind: %v", err)
	}
	if _, err := f.Inventory(ctx, f.host); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if h := f.inventory()[0].Deployables[0].Handles[0]; h.Held() {
		t.Error("a cancelled bind holds a handle")
	}
	f.bind(q, p)
}
