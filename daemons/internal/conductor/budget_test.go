package conductor_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// counted counts the requests that go through.
type counted struct {
	http.RoundTripper
	n atomic.Int32
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// TestReportBudget: an unchanged report of 512 devices takes at most 10 statements, transaction control counted, and 2
// requests to Placement; a first one at most 3 requests for each device and 4 more: the root, its tree, a class and a trait.
func TestReportBudget(t *testing.T) {
	t.Parallel()
	const n = 512
	h := newHosts(t, hostname)
	var statements atomic.Int32
	requests := &counted{RoundTripper: placementtest.Client(h).Transport}
	r := newRig(t, rigConfig{Placement: requests, Fault: func(p store.Point) error {
		if p.Stage != store.StageCommitted {
			statements.Add(1)
		}
		return nil
	}})
	all := devices(hostname, n, 1)
	report := func(what string, maxStatements, maxRequests int32) {
		t.Helper()
		statements.Store(0)
		requests.n.Store(0)
		start := time.Now()
		if err := r.conductor.ReportData(as(t, true, ""), hostname, all); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d devices in %s, %d statements, %d requests", what, n, time.Since(start), statements.Load(), requests.n.Load())
		if statements.Load() > maxStatements || requests.n.Load() > maxRequests {
			t.Errorf("%s: %d statements and %d requests, want at most %d and %d", what, statements.Load(), requests.n.Load(), maxStatements, maxRequests)
		}
	}
	report("first", 4*n, 3*n+4)
	report("unchanged", 10, 2)
	report("unchanged again", 10, 1)
}
