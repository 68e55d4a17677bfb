package conductord

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStopLeavesTime: what goes on after its answer is told to stop early enough for the parts behind it, counted from
// when the stop was asked for.
func TestStopLeavesTime(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit, drain, work time.Duration // of the whole stop; that running requests and then the rest take
		ends               time.Duration
		cut                bool
	}{
		"done in time":           {time.Minute, 2 * time.Second, 3 * time.Second, 5 * time.Second, false},
		"long report":            {time.Minute, 2 * time.Second, time.Hour, 55 * time.Second, true},
		"long request as well":   {time.Minute, 58 * time.Second, time.Hour, 58 * time.Second, true},
		"short limit":            {4 * time.Second, time.Second, time.Hour, 2 * time.Second, true},
		"no limit":               {0, time.Second, time.Hour, time.Hour + time.Second, false},
		"the rest takes no time": {time.Minute, 0, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var asked time.Time
				time.AfterFunc(time.Hour, func() { asked = time.Now(); cancel() })
				serve := func(ctx context.Context) error {
					<-ctx.Done()
					<-time.After(tt.drain)
					return nil
				}
				finish := func(ctx context.Context) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(tt.work):
						return nil
					}
				}
				var log strings.Builder
				err := serveThenFinish(ctx, tt.limit, slog.New(slog.NewTextHandler(&log, nil)), serve, finish)
				if took := time.Since(asked); err != nil || took != tt.ends {
					t.Errorf("%v after %s, want the end after %s", err, took, tt.ends)
				}
				if cut := strings.Contains(log.String(), "cut short"); cut != tt.cut {
					t.Errorf("cut short: %t, want %t", cut, tt.cut)
				}
			})
		})
	}
}

// TestServerFails: what goes on is waited for then, too, and the error is the part's.
func TestServerFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken, start := errors.New("no queue"), time.Now()
		err := serveThenFinish(t.Context(), time.Minute, slog.New(slog.DiscardHandler),
			func(context.Context) error { return broken },
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if took := time.Since(start); !errors.Is(err, broken) || errors.Is(err, context.DeadlineExceeded) || took != 55*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}
