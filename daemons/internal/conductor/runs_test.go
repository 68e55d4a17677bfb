package conductor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// report is a report of n devices; runs never look into it.
func report(n int) []cyborgrpc.ReportedDevice { return make([]cyborgrpc.ReportedDevice, n) }

// wait passes time in a synctest bubble.
func wait(d time.Duration) { <-time.After(d) }

// TestRunsOfOneHostAreCoalesced: one at a time, and of those that wait only the newest is carried out.
func TestRunsOfOneHostAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var carried []int
		running := 0
		s := &runs{carryOut: func(_ context.Context, _ string, reported []cyborgrpc.ReportedDevice, durable func()) error {
			if running++; running > 1 {
				t.Error("two runs of one host at once")
			}
			wait(10 * time.Second)
			carried = append(carried, len(reported))
			running--
			return nil
		}}
		answers := make(chan error, 4)
		for n := range 4 {
			go func() {
				wait(time.Duration(n) * time.Second)
				answers <- s.submit(t.Context(), "h", report(n), time.Minute)
			}()
		}
		for range 4 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if len(carried) != 2 || carried[0] != 0 || carried[1] != 3 {
			t.Errorf("carried out %v, want the first and the last", carried)
		}
		if err := s.background.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestTheSameReportJoins: an agent that repeats its report while the run of it goes on is answered by that run, within
// the budget; it does not wait for a run of its own behind one that may take minutes.
func TestTheSameReportJoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carried := 0
		s := &runs{carryOut: func(_ context.Context, _ string, _ []cyborgrpc.ReportedDevice, durable func()) error {
			carried++
			durable()
			wait(10 * time.Minute)
			return nil
		}}
		device := func() []cyborgrpc.ReportedDevice {
			return []cyborgrpc.ReportedDevice{{Device: &cyborg.DriverDevice{Vendor: ovo.Of("10de")}}}
		}
		const budget = 5 * time.Second
		for range 5 {
			began := time.Now()
			if err := s.submit(t.Context(), "h", device(), budget); err != nil || time.Since(began) != budget {
				t.Errorf("answered %v after %s", err, time.Since(began))
			}
			wait(time.Minute - budget)
		}
		if carried != 1 {
			t.Errorf("%d runs of one report", carried)
		}
		// Another report is not the one that is carried out, and the older one is not the last word after it.
		answers := make(chan error, 2)
		go func() { answers <- s.submit(t.Context(), "h", report(2), budget) }()
		wait(time.Second)
		go func() { answers <- s.submit(t.Context(), "h", device(), budget) }()
		for range 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if err := s.background.close(t.Context()); err != nil {
			t.Error(err)
		}
		if carried != 2 {
			t.Errorf("%d runs", carried)
		}
	})
}

// TestFinishedRunIsNotJoined: a report that comes after the answer to the same one is carried out.
func TestFinishedRunIsNotJoined(t *testing.T) {
	t.Parallel()
	const reports = 20000
	carried := 0
	s := &runs{carryOut: func(context.Context, string, []cyborgrpc.ReportedDevice, func()) error {
		carried++
		return nil
	}}
	for range reports {
		if err := s.submit(t.Context(), "h", report(1), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.background.close(t.Context()); err != nil || carried != reports {
		t.Errorf("%d of %d reports were carried out, %v", carried, reports, err)
	}
}

// TestHostsRunSideBySide: another host does not wait.
func TestHostsRunSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &runs{carryOut: func(context.Context, string, []cyborgrpc.ReportedDevice, func()) error {
			wait(10 * time.Second)
			return nil
		}}
		began := time.Now()
		answers := make(chan error, 2)
		for _, host := range []string{"a", "b"} {
			go func() { answers <- s.submit(t.Context(), host, nil, time.Minute) }()
		}
		<-answers
		<-answers
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("two hosts took %s", took)
		}
	})
}

// TestReplyBudget: the answer comes when the run is done, or at the budget once rows are durable; the run goes on.
func TestReplyBudget(t *testing.T) {
	t.Parallel()
	const budget = 5 * time.Second
	for name, tt := range map[string]struct {
		durable, done, answered time.Duration
		err                     error
	}{
		"done at once":             {0, 0, 0, nil},
		"done within the budget":   {time.Second, 4 * time.Second, 4 * time.Second, nil},
		"durable, done later":      {time.Second, time.Minute, budget, nil},
		"durable after the budget": {20 * time.Second, time.Minute, 20 * time.Second, nil},
		"fails":                    {time.Second, 2 * time.Second, 2 * time.Second, errors.New("no root")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				finished := false
				s := &runs{carryOut: func(_ context.Context, _ string, _ []cyborgrpc.ReportedDevice, durable func()) error {
					wait(tt.durable)
					durable()
					wait(tt.done - tt.durable)
					finished = true
					return tt.err
				}}
				began := time.Now()
				err := s.submit(t.Context(), "h", nil, budget)
				if took := time.Since(began); took != tt.answered || !errors.Is(err, tt.err) {
					t.Errorf("answered %v after %s, want %v after %s", err, took, tt.err, tt.answered)
				}
				if err := s.background.close(t.Context()); err != nil || !finished {
					t.Errorf("close() = %v, finished %t", err, finished)
				}
			})
		})
	}
}

// TestCallerGone: a caller that gives up gets its context's error; the run goes on, and is told to stop only when
// closing takes too long.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &runs{carryOut: func(ctx context.Context, _ string, _ []cyborgrpc.ReportedDevice, _ func()) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		caller, give := context.WithTimeout(t.Context(), time.Second)
		defer give()
		if err := s.submit(caller, "h", nil, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("submit() = %v", err)
		}
		closing, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := s.background.close(closing); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close() = %v", err)
		}
		if err := s.submit(t.Context(), "h", nil, time.Minute); !errors.Is(err, errClosing) {
			t.Errorf("submit() after close() = %v", err)
		}
	})
}
