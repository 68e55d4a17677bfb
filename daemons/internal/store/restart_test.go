package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// absence is how long the server stays away in the last round.
const absence = 30 * time.Second

// TestServerKilledIntegration kills a server of the test's own in the middle of binds that race, at each stage of a
// transaction, and starts it again. What a caller was told is what the rows say, no handle is given out twice, and the
// same store goes on.
func TestServerKilledIntegration(t *testing.T) {
	t.Parallel()
	for engine, start := range map[string]func(*testing.T) *ownServer{"mysql": ownMariaDB, "postgres": ownPostgreSQL} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			needs(t, engine)
			server := start(t)
			upgrade(t, connect(t, server.url))
			var fault atomic.Pointer[func(store.Point)]
			s := opener(server.url)(t, func(cfg *store.Config) {
				cfg.Fault = func(p store.Point) error {
					if f := fault.Load(); f != nil {
						(*f)(p)
					}
					return nil
				}
			})
			for _, stage := range []store.Stage{store.StageBegin, store.StageRead, store.StageWrite, store.StageCommit, store.StageCommitted} {
				t.Run(string(stage), func(t *testing.T) { killAmongBinds(t, server, s, &fault, stage, 0) })
			}
			t.Run("frozen", func(t *testing.T) { frozen(t, server, s) })
			t.Run("wrong password", func(t *testing.T) { wrongPassword(t, server) })
			if !testing.Short() {
				t.Run("absent", func(t *testing.T) { killAmongBinds(t, server, s, &fault, store.StageWrite, absence) })
			}
			allReturned(t, s)
		})
	}
}

// allReturned waits until no connection is in use. Those that the pool has begun to open for callers that have gone
// count too, until they are open.
func allReturned(t *testing.T, s *store.Store) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.Raw().Stats().InUse != 0 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d connections still in use", s.Raw().Stats().InUse)
		}
	}
}

// killAmongBinds kills the server at the 60th point of a stage and starts it again after a time.
func killAmongBinds(t *testing.T, server *ownServer, s *store.Store, fault *atomic.Pointer[func(store.Point)], stage store.Stage, away time.Duration) {
	binds := raceBinds(t, s)
	back := make(chan struct{})
	var points atomic.Int32
	down := func(p store.Point) {
		if p.Op == "Begin" && p.Stage == stage && points.Add(1) == 60 {
			server.kill()
			go func() {
				defer close(back)
				<-time.After(away)
				server.up()
			}()
		}
	}
	fault.Store(&down)
	defer fault.Store(nil)
	answers, refused := make([]arq.Request, len(binds)), atomic.Int32{}
	var wg sync.WaitGroup
	for i, b := range binds {
		wg.Go(func() { answers[i] = bindUntilAnswered(t, s, b, back, &refused) })
	}
	wg.Wait()
	fault.Store(nil)
	<-back
	t.Logf("%d calls were told that the server is away", refused.Load())
	if away > 0 && refused.Load() == 0 {
		t.Error("nobody noticed")
	}
	wantAnswers(t, s, binds[0].Hostname, answers)
}

// bindUntilAnswered repeats a bind, as a caller does, while the server is away.
func bindUntilAnswered(t *testing.T, s *store.Store, b arq.Bind, back <-chan struct{}, refused *atomic.Int32) arq.Request {
	for again := false; ; again = true {
		q, err := s.Begin(context.Background(), b)
		var none *arq.NotFoundError
		var bad *arq.BadStateError
		var engine *store.Error
		switch {
		case err == nil, errors.As(err, &none):
			return q
		case again && errors.As(err, &bad): // the call before was committed
			if q, err = s.Request(context.Background(), b.UUID); err != nil {
				t.Error(err)
			}
			return q
		case errors.As(err, &engine) && engine.Kind == store.Unavailable && strings.HasPrefix(err.Error(), "Begin: database not available: "):
			refused.Add(1)
			<-back
		default:
			t.Errorf("bind: %v", err)
			return q
		}
	}
}

// wantAnswers compares what callers were told with the rows.
func wantAnswers(t *testing.T, s *store.Store, host string, answers []arq.Request) {
	t.Helper()
	ctx := context.Background()
	holders := map[string]int64{}
	for _, a := range answers {
		q, err := s.Request(ctx, a.UUID)
		if err != nil || q.State != a.State || (q.Handle == nil) != (a.Handle == nil) || q.Handle != nil && q.Handle.ID != a.Handle.ID {
			t.Errorf("told %+v, stored %+v, %v", a, q, err)
		}
		if q.State == arq.Bound {
			holders[q.UUID] = q.Handle.ID
		} else if q.State != arq.BindFailed {
			t.Errorf("%s is %s", q.UUID, q.State)
		}
	}
	inv, err := s.Inventory(ctx, host)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, h := range inv.Devices[0].Deployables[0].Handles {
		if h.InUse != (len(h.ARQs) == 1) || h.InUse && holders[h.ARQs[0]] != h.ID {
			t.Errorf("handle %+v", h)
		}
		if h.InUse {
			held++
		}
	}
	if held != 50 || len(holders) != 50 {
		t.Errorf("%d handles held by %d requests, want 50", held, len(holders))
	}
}

// frozen: a server that neither answers nor closes. The caller's deadline ends the call.
func frozen(t *testing.T, server *ownServer, s *store.Store) {
	binds := raceBinds(t, s)
	server.signal(syscall.SIGSTOP)
	thaw := sync.OnceFunc(func() { server.signal(syscall.SIGCONT) })
	defer thaw()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.Begin(ctx, binds[0])
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("frozen server: %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("the call goes on after its deadline")
		thaw()
		<-ended
	}
	thaw()
	q, err := s.Begin(context.Background(), binds[1])
	if err != nil || q.State != arq.Bound {
		t.Errorf("after the thaw: %s, %v", q.State, err)
	}
}

// wrongPassword is refused at once, and told without the password.
func wrongPassword(t *testing.T, server *ownServer) {
	var denied *store.Error
	_, err := store.Connect(context.Background(), store.Config{URL: strings.Replace(server.url, "p%40ss/word", "guessed", 1), Attempts: -1})
	if !errors.As(err, &denied) || denied.Kind != store.Denied || strings.Contains(err.Error(), "guessed") ||
		!strings.HasPrefix(err.Error(), "connect: access to the database denied: ") {
		t.Errorf("wrong password: %v", err)
	}
}
