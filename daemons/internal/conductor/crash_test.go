package conductor_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKilledReport kills a conductor at every write point of a report, and at random times: after one more report the
// state is that of an undisturbed run.
func TestKilledReport(t *testing.T) {
	t.Parallel()
	undisturbed := newCrashScene(t)
	end := undisturbed.run(t, crashJob{Point: -1, Workers: 1}, 0)
	want := undisturbed.recover(t, crashAfter(), sweepFirst)
	killed := crashes{
		points: end.points, took: end.took, least: 40,
		job: func(*crashScene) crashJob { return crashJob{} },
		check: func(t *testing.T, s *crashScene, when string) {
			same(t, "killed "+when, want, s.recover(t, crashAfter(), sweepFirst))
		},
	}
	killed.run(t, "report")
}

// TestKilledBind kills a conductor at every write point of patches that bind a plain request and one of each device that
// needs a step outside the database, and at random times. After a restart each request is bound, has failed or was never
// begun, Nova knows it, and nothing else differs; when the caller repeats what is not bound the state is that of an
// undisturbed run.
func TestKilledBind(t *testing.T) {
	t.Parallel()
	before := newCrashScene(t).recover(t, crashBefore(), sweepFirst)
	undisturbed := newCrashScene(t)
	end := undisturbed.run(t, crashJob{Point: -1, Workers: 1, Patches: undisturbed.patches}, 0)
	after := undisturbed.recover(t, crashBefore(), sweepFirst)
	if n := bound(after); n != 5 {
		t.Fatalf("the undisturbed child left %d bound requests: %v", n, after)
	}
	killed := crashes{
		points: end.points, took: end.took, least: 30,
		job: func(s *crashScene) crashJob { return crashJob{Patches: s.patches} },
	}
	for _, how := range []recovery{sweepFirst, reportFirst} {
		if testing.Short() { // every point once, by turns
			killed.first, killed.skip = int(how), 1
		}
		killed.check = func(t *testing.T, s *crashScene, when string) {
			got := s.recover(t, crashBefore(), how)
			same(t, fmt.Sprintf("killed %s, %s", when, how), s.between(before, after, got), got)
			same(t, fmt.Sprintf("killed %s, %s, patched again", when, how), after, s.repeat(t))
		}
		killed.run(t, "bind, "+how.String())
	}
}

// crashes is a job that is killed at every write point and at random times.
type crashes struct {
	points int           // write points of the undisturbed job
	took   time.Duration // of the undisturbed job
	least  int           // write points that there must be
	first  int           // write point to be killed at
	skip   int           // write points between two kills
	job    func(*crashScene) crashJob
	check  func(t *testing.T, s *crashScene, when string)
}

func (c *crashes) run(t *testing.T, what string) {
	t.Helper()
	began := time.Now()
	stops := 0
	for point := c.first; point < c.points; point += 1 + c.skip {
		stops++
		s := newCrashScene(t)
		job := c.job(s)
		job.Point, job.Workers = point, 1
		if end := s.run(t, job, 0); !end.killed {
			t.Errorf("%s: not killed at point %d of %d, the job has %d", what, point, c.points, end.points)
		}
		c.check(t, s, fmt.Sprintf("at point %d", point))
	}
	kills, times := 0, 50
	if testing.Short() {
		times = 5
	}
	for tries := 0; kills < times && tries < 20*times; tries++ {
		s := newCrashScene(t)
		job := c.job(s)
		job.Point = -1
		after := rand.N(c.took)
		if s.run(t, job, after).killed {
			kills++
			c.check(t, s, fmt.Sprintf("after %s", after))
		}
	}
	fmt.Fprintf(os.Stdout, "crash test: %s killed at %d of %d write points and %d random times in %.1f s\n", what, stops, c.points, kills, time.Since(began).Seconds())
	if c.points < c.least || kills < times {
		t.Errorf("%s: only %d write points and %d random times", what, c.points, kills)
	}
}

// same compares two states, line by line.
func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	diff := difference(want, got)
	if diff == nil && len(want) != len(got) { // lines that are there twice
		diff = []string{cmp.Diff(want, got)}
	}
	if diff != nil {
		t.Errorf("%s:\n%s", what, strings.Join(diff, "\n"))
	}
}
