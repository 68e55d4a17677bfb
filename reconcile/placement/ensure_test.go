package placement_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/reconcile"
)

// TestSyncsEnsureOnce: devices written at the same time ask for their common trait and class once.
func TestSyncsEnsureOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, trait, class := newWire(t), make(chan struct{}), make(chan struct{})
		w.before = func(r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/traits/"):
				<-trait
			case strings.HasPrefix(r.URL.Path, "/resource_classes/"):
				<-class
			}
		}
		names := []string{"p", "q", "r", "s"}
		for _, name := range names {
			go func() {
				if _, err := w.Sync(t.Context(), w.state(name)); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		close(trait)
		synctest.Wait()
		close(class)
		synctest.Wait()
		asked := 0
		for _, r := range w.sent() {
			if strings.HasPrefix(r, "PUT /traits/") || strings.HasPrefix(r, "PUT /resource_classes/") {
				asked++
			}
		}
		if asked != 2 {
			t.Errorf("a trait and a class took %d requests", asked)
		}
		for _, name := range names {
			if got := w.holds(t, name); !strings.HasPrefix(got, "generation 2") {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// TestSyncEnsuresForItself: who waits for another's request for a name does not fail with it, and leaves when told to.
func TestSyncEnsuresForItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, gate := newWire(t), make(chan struct{})
		var refused atomic.Bool
		w.answer = func(r *http.Request) *http.Response {
			if !strings.HasPrefix(r.URL.Path, "/traits/") || !refused.CompareAndSwap(false, true) {
				return nil
			}
			<-gate
			return status(r, http.StatusInternalServerError, "")
		}
		sync := func(ctx context.Context, name string) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := w.Sync(ctx, w.state(name))
				done <- err
			}()
			synctest.Wait()
			return done
		}
		ctx, leave := context.WithCancel(t.Context())
		first, left, second, third := sync(t.Context(), "p"), sync(ctx, "s"), sync(t.Context(), "q"), sync(t.Context(), "r")
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who was told to leave: %v", err)
		}
		close(gate)
		if unreachable := new(reconcile.TransportError); !errors.As(<-first, &unreachable) {
			t.Error("the refused request is no error")
		}
		if err := errors.Join(<-second, <-third); err != nil {
			t.Errorf("who waited: %v", err)
		}
	})
}
