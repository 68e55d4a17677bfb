package conductor_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// broken fails the request with a number, and lets all others through.
type broken struct {
	http.RoundTripper
	at    int32
	fault func(next http.RoundTripper, r *http.Request) (*http.Response, error)
	n     atomic.Int32
	hit   atomic.Bool
	path  string
}

func (b *broken) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.n.Add(1)-1 == b.at {
		b.hit.Store(true)
		b.path = r.Method + " " + r.URL.Path
		return b.fault(b.RoundTripper, r)
	}
	return b.RoundTripper.RoundTrip(r)
}

func answering(status int, code string) func(http.RoundTripper, *http.Request) (*http.Response, error) {
	return func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"errors": [{"code": "` + code + `", "detail": "injected"}]}`)),
		}, nil
	}
}

// placementFaults are the ways a request can fail.
var placementFaults = map[string]func(http.RoundTripper, *http.Request) (*http.Response, error){
	"500":     answering(500, ""),
	"503":     answering(503, ""),
	"409":     answering(409, "placement.concurrent_update"),
	"timeout": func(http.RoundTripper, *http.Request) (*http.Response, error) { return nil, errors.New("i/o timeout") },
	"half-applied": func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		return nil, errors.New("connection reset")
	},
}

// lookUp is how the host's provider, or its tree, is read. It comes before anything else: when it fails nothing is done
// at all, and only then a report is answered with an error.
const lookUp = "GET /resource_providers"

// refused checks how a report with a broken request was answered. It says whether nothing was to be done.
func (b *broken) refused(t *testing.T, err error, before, after []string) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if b.path != lookUp {
		t.Errorf("call %d (%s) fails the whole report: %v", b.at, b.path, err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("call %d (%s): refused, but something was done: %s", b.at, b.path, diff)
	}
	return true
}

// TestPlacementFaultAtEveryCall: whichever request of a report fails in whichever way, at most the device it was for
// stays off offer, and the next report repairs it.
func TestPlacementFaultAtEveryCall(t *testing.T) {
	t.Parallel()
	const n = 3
	all := devices(hostname, n, 1)
	want := func() []string {
		h := newHosts(t, hostname)
		r := newRig(t, rigConfig{Placement: placementtest.Client(h).Transport})
		if err := r.conductor.ReportData(as(t, true, ""), hostname, all); err != nil {
			t.Fatal(err)
		}
		return r.state(t, h)
	}()
	for name, fault := range placementFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			for again := true; again; calls++ {
				again = faultAt(t, int32(calls), fault, all, want)
			}
			if calls < 3*n {
				t.Errorf("only %d calls were broken", calls)
			}
		})
	}
}

// faultAt reports whether there was a request to break.
func faultAt(t *testing.T, at int32, fault func(http.RoundTripper, *http.Request) (*http.Response, error), all []*cyborg.DriverDevice, want []string) bool {
	t.Helper()
	h := newHosts(t, hostname)
	b := &broken{RoundTripper: placementtest.Client(h).Transport, at: at, fault: fault}
	r := newRig(t, rigConfig{Placement: b, Configure: func(c *conductor.Config) { c.PlacementWorkers = 1 }})
	defer r.stop()
	before := r.state(t, h)
	err := r.conductor.ReportData(as(t, true, ""), hostname, all)
	if !b.hit.Load() {
		return false
	}
	have, readErr := r.store.Inventory(t.Context(), hostname)
	if readErr != nil {
		t.Fatal(readErr)
	}
	off := 0
	for i := range have.Devices {
		if have.Devices[i].Deployables[0].Offer == "" {
			off++
		}
	}
	if !b.refused(t, err, before, r.state(t, h)) && (len(have.Devices) != len(all) || off > 1) {
		t.Errorf("call %d (%s): %d devices, %d off offer", at, b.path, len(have.Devices), off)
	}
	if err := r.conductor.ReportData(as(t, true, ""), hostname, all); err != nil {
		t.Fatalf("call %d (%s): the next report: %v", at, b.path, err)
	}
	if diff := cmp.Diff(want, r.state(t, h)); diff != "" {
		t.Errorf("call %d (%s): %s", at, b.path, diff)
	}
	return true
}

// TestPlacementFaultAtEveryChange: the same for a report that changes, adds, removes and retains devices: the rows and
// providers of at most one device differ from those of an undisturbed report, and the next one repairs it.
func TestPlacementFaultAtEveryChange(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, transport func(http.RoundTripper) http.RoundTripper) (r *rig, s *crashScene, before []string, err error) {
		t.Helper()
		s = newCrashScene(t)
		r = newRig(t, rigConfig{File: s.file, Placement: transport(placementtest.Client(s.placement).Transport), Configure: func(c *conductor.Config) { c.PlacementWorkers = 1 }})
		before = r.state(t, s.placement)
		return r, s, before, r.conductor.ReportData(as(t, true, ""), hostname, crashAfter())
	}
	r, s, _, err := run(t, func(next http.RoundTripper) http.RoundTripper { return next })
	if err != nil {
		t.Fatal(err)
	}
	want := r.state(t, s.placement)
	for name, fault := range placementFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := int32(0); ; at++ {
				b := &broken{at: at, fault: fault}
				r, s, before, err := run(t, func(next http.RoundTripper) http.RoundTripper {
					b.RoundTripper = next
					return b
				})
				if !b.hit.Load() {
					if at < 10 {
						t.Errorf("only %d calls were broken", at)
					}
					r.stop()
					return
				}
				after := r.state(t, s.placement)
				if others := disturbed(difference(want, after)); !b.refused(t, err, before, after) && len(others) > 1 {
					t.Errorf("call %d (%s): several devices differ: %v", at, b.path, others)
				}
				if err := r.conductor.ReportData(as(t, true, ""), hostname, crashAfter()); err != nil {
					t.Fatalf("call %d (%s): the next report: %v", at, b.path, err)
				}
				if diff := cmp.Diff(want, r.state(t, s.placement)); diff != "" {
					t.Errorf("call %d (%s): %s", at, b.path, diff)
				}
				r.stop()
			}
		})
	}
}

// disturbed are the deployables that lines speak of.
func disturbed(lines []string) map[string]bool {
	found := map[string]bool{}
	for _, line := range lines {
		for i := range 10 {
			if strings.Contains(line, crashName(i)) {
				found[crashName(i)] = true
			}
		}
	}
	return found
}
