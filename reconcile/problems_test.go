package reconcile_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
)

// TestProblemsAreLoggedOncePerChange: what stays wrong is said once.
func TestProblemsAreLoggedOncePerChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	w.runner.Log = slog.New(slog.NewTextHandler(&b, nil))
	broken := reported(0, num(-1))
	for range 3 {
		w.report(t, broken)
	}
	w.report(t, vf(0))
	w.report(t, broken)
	if warnings, solved := strings.Count(b.String(), "level=WARN"), strings.Count(b.String(), "solved"); warnings != 2 || solved != 1 {
		t.Errorf("%d warnings, %d solved:\n%s", warnings, solved, b.String())
	}
}

// TestNotLookedAtIsNotSolved: a problem of a device that a stub freezes, or that
// the run did not get to, stands; it is neither solved nor said again.
func TestNotLookedAtIsNotSolved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	w.runner.Log = slog.New(slog.NewTextHandler(&b, nil))
	logged := func(what string, warnings, solved int) {
		t.Helper()
		if n, m := strings.Count(b.String(), "level=WARN"), strings.Count(b.String(), "solved"); n != warnings || m != solved {
			t.Errorf("%s: %d warnings and %d solved, want %d and %d:\n%s", what, n, m, warnings, solved, b.String())
		}
		b.Reset()
	}
	frozen := reconcile.Device{ControlPath: vf(0).ControlPath, Stub: true}
	w.report(t, vf(0), vf(1))
	w.report(t, reported(0, num(-1)), vf(1))
	logged("a problem of the plan", 1, 0)
	w.report(t, frozen, vf(1))
	logged("frozen", 0, 0)
	w.report(t, reported(0, num(-1)), vf(1))
	logged("still there", 0, 0)
	unreadable := func(detail string) {
		t.Helper()
		plan, err := w.runner.Plan(context.Background(), host, []reconcile.Device{frozen, vf(1)})
		if err != nil {
			t.Fatal(err)
		}
		plan.Refuse(reconcile.Problem{Host: host, Device: vf(0).ControlPath.Info, Reason: reconcile.ReasonInvalid, Detail: detail})
		w.runner.Apply(context.Background(), plan)
	}
	unreadable("device 0 of the report")
	logged("unreadable", 1, 0)
	unreadable("device 1 of the report")
	logged("unreadable elsewhere", 1, 0)
	w.report(t, reported(0, num(-1)), vf(1))
	logged("readable", 0, 1)
	w.report(t, reported(0, num(-2)), vf(1))
	logged("another of the plan", 1, 1)
	w.report(t, vf(0), vf(1))
	logged("gone", 0, 1)

	refuse := func(context.Context, reconcile.ProviderState) (int, error) { return 0, errors.New("no such trait") }
	w.runner.Placement = brokenPlacement{Placement: w.placement, sync: refuse}
	w.report(t, reported(0, num(2)), vf(1))
	logged("a problem of carrying it out", 1, 0)
	w.report(t, frozen, vf(1))
	logged("frozen again", 0, 0)
	ctx, cancel := context.WithCancel(context.Background())
	w.runner.Placement = brokenPlacement{Placement: w.placement, sync: func(ctx context.Context, _ reconcile.ProviderState) (int, error) {
		cancel()
		return 0, ctx.Err()
	}}
	plan, err := w.runner.Plan(ctx, host, []reconcile.Device{reported(0, num(2)), vf(1)})
	if err != nil {
		t.Fatal(err)
	}
	w.runner.Apply(ctx, plan)
	logged("stopped", 0, 0)
	w.runner.Placement = brokenPlacement{Placement: w.placement, sync: refuse}
	w.report(t, reported(0, num(2)), vf(1))
	logged("still refused", 0, 0)
	unreachable := func(context.Context, reconcile.ProviderState) (int, error) {
		return 0, &reconcile.TransportError{Op: "PUT", Err: errors.New("connection refused")}
	}
	w.runner.Placement = brokenPlacement{Placement: w.placement, sync: unreachable}
	w.report(t, reported(0, num(2)), vf(1))
	logged("another problem in its place", 1, 0)
	w.runner.Placement = w.placement
	w.report(t, reported(0, num(2)), vf(1))
	logged("done", 0, 1)
}
