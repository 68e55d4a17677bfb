package conductord

import (
	"context"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestHealth: database and Placement are looked at every 15 s, each by itself.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var database, placement error
		state := func(of *error) error {
			mu.Lock()
			defer mu.Unlock()
			return *of
		}
		become := func(db, place error) {
			mu.Lock()
			defer mu.Unlock()
			database, placement = db, place
		}
		h := &health{
			readiness: service.NewReadiness(nil), metrics: newMetrics(prometheus.NewRegistry()),
			counts:    func(context.Context) (store.Counts, error) { return store.Counts{}, state(&database) },
			placement: func(context.Context) error { return state(&placement) },
		}
		h.readiness.Watch(conditionDatabase, conditionPlacement)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.run(ctx) }()
		reasons := func() (out []string) {
			synctest.Wait()
			for _, r := range h.readiness.Reasons() {
				out = append(out, r.Condition+": "+r.Reason)
			}
			return out
		}
		if got := reasons(); got != nil {
			t.Errorf("not ready: %v", got)
		}
		become(nil, errors.New("log in with [placement]: connection refused"))
		<-time.After(lookEvery)
		if diff := cmp.Diff([]string{"placement: log in with [placement]: connection refused"}, reasons()); diff != "" {
			t.Error(diff)
		}
		become(errors.New("gone"), nil)
		<-time.After(lookEvery)
		if diff := cmp.Diff([]string{"database: gone"}, reasons()); diff != "" {
			t.Error(diff)
		}
		become(nil, nil)
		<-time.After(lookEvery)
		if got := reasons(); got != nil {
			t.Errorf("not ready: %v", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestMetricsPage: dashboards break when one of these goes.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	const golden = "testdata/metrics.golden"
	registry := prometheus.NewRegistry()
	m := newMetrics(registry)
	m.count(store.Counts{Devices: map[store.DeviceKind]int{{Type: "GPU", State: reconcile.StateAvailable}: 1}})
	m.count(store.Counts{
		Requests: map[arq.State]int{arq.Bound: 3, arq.BindFailed: 1},
		Devices:  map[store.DeviceKind]int{{Type: "FPGA"}: 2, {Type: "NVME", State: reconcile.StateError}: 1},
	})
	m.retained.Set(2)
	m.moves.WithLabelValues("Bound").Observe(0.1)
	m.placement().Observe("GET", "/", 200, 20*time.Millisecond)
	m.placement().Observe("GET", "/", 0, 20*time.Second)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	got := w.Body.String()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-golden +page):\n%s", diff)
	}
}
