package conductord

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// closeWithin is how much of the time for a stop is left to the parts behind the RPC server: message bus and database.
const closeWithin = 5 * time.Second

// serveThenFinish serves until ctx ends, then finishes what goes on after its answer. Where the limit of the whole stop
// (0: none) does not allow that, finish is told to end in time for what is closed after it: the next report of
// a host completes what is cut short, and a sweep ends binds.
func serveThenFinish(ctx context.Context, limit time.Duration, log *slog.Logger, serve, finish func(context.Context) error) error {
	asked := make(chan time.Time, 1)
	unasked := context.AfterFunc(ctx, func() { asked <- time.Now() })
	served := serve(ctx)
	from := time.Now()
	if !unasked() {
		from = <-asked
	}
	closing := context.WithoutCancel(ctx)
	if limit > 0 {
		var cancel context.CancelFunc
		closing, cancel = context.WithDeadline(closing, from.Add(max(limit-closeWithin, limit/2)))
		defer cancel()
	}
	finished := finish(closing)
	if errors.Is(finished, context.DeadlineExceeded) {
		log.Warn("work was cut short by the stop: the next report of a host completes it, a sweep ends binds", "limit", limit)
		finished = nil
	}
	return errors.Join(served, finished)
}
