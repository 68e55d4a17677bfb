package messaging

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

var update = flag.Bool("update", false, "rewrite golden files")

// page is what Prometheus reads.
func page(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// measured is a client and a server of the test's methods, counted.
type measured struct {
	registry *prometheus.Registry
	metrics  *Metrics
	remote   rpc.Remote
	bus      *memory.Bus
	stop     func()
}

type args struct {
	Outcome string `json:"outcome"`
}

var (
	work = rpc.NewMethod[args, string]("work", "1.0")
	note = rpc.NewMethod[args, rpc.Null]("note", "1.0")
)

// newMeasured must be called in a bubble: work takes 30 ms of its time.
func newMeasured(t *testing.T) *measured {
	t.Helper()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	m := &measured{registry: prometheus.NewRegistry(), bus: memory.New()}
	m.metrics = NewMetrics(m.registry, "cyborg-test")
	wire, cfg := cyborgrpc.NewWire(registry), load(t, "[DEFAULT]\nhost = h\nrpc_response_timeout = 5\n")
	ep := rpc.NewEndpoint("", "1.1")
	work.Handle(ep, func(_ context.Context, a args) (string, error) {
		<-time.After(30 * time.Millisecond)
		switch a.Outcome {
		case "not found":
			return "", &arq.NotFoundError{Resource: "ExtArq", Msg: "x"}
		case "unmapped":
			return "", errors.New("secret")
		case "slow":
			<-time.After(time.Minute)
		case "relayed":
			return "", &rpc.RemoteError{Class: rpc.Class{Module: "somewhere", Name: "Odd"}}
		}
		return "done", nil
	})
	note.Handle(ep, func(context.Context, args) (rpc.Null, error) { return rpc.Null{}, nil })
	server, err := NewServer(cfg, m.bus, Service{Topic: "t", Endpoint: ep, Wire: wire, Metrics: m.metrics})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	synctest.Wait()
	client := NewClient(cfg, m.bus, wire, nil, m.metrics)
	m.remote = rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}
	m.stop = func() {
		cancel()
		if err := errors.Join(<-ended, client.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}
	return m
}

// TestMetricsPage: dashboards break when a name, a label or the meaning of a number changes.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	const golden = "testdata/metrics.golden"
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t)
		ctx := context.Background()
		for _, outcome := range []string{"", "", "not found", "unmapped", "relayed", "slow"} {
			_, _ = work.Call(ctx, m.remote, args{Outcome: outcome}) // the page tells how each ended
		}
		_, _ = work.Call(ctx, m.remote.On("h"), args{})
		_, _ = work.Call(ctx, m.remote.On("gone"), args{})
		_, _ = rpc.NewMethod[args, rpc.Null]("work", "1.2").Call(ctx, m.remote, args{})
		_, _ = rpc.NewMethod[map[string]int, rpc.Null]("note", "1.0").Call(ctx, m.remote, map[string]int{"x": 1})
		if err := errors.Join(note.Cast(ctx, m.remote, args{}), note.CastAll(ctx, m.remote, args{})); err != nil {
			t.Error(err)
		}
		<-time.After(time.Minute) // until the slow one is answered, and nobody waits for that
		synctest.Wait()
		for range 3 {
			m.metrics.Observe(rpc.Event{Kind: rpc.EventConnected, Link: "t.h"})
			m.metrics.Observe(rpc.Event{Kind: rpc.EventLost, Link: "t.h"})
		}
		m.metrics.Observe(rpc.Event{Kind: rpc.EventConnected, Link: "publish"})
		m.metrics.Observe(rpc.Event{Kind: rpc.EventReturned, Link: "publish", Queue: "t.gone"})
		m.metrics.watch(states{{Link: "publish", State: amqp.StateBlocked}, {Link: "replies", State: amqp.StateUp}, {Link: "t.h", State: amqp.StateWaiting}})
		got := page(t, m.registry)
		m.stop()
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("(-golden +page):\n%s", diff)
		}
	})
}

type states []amqp.LinkState

func (s states) Health() []amqp.LinkState { return s }

// TestMetricsAreBounded: whatever peers ask for or answer, and however many hosts are called, no series is added to the page
// or remembered.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t)
		play := func(n int) {
			id := fmt.Sprintf("%08d", n)
			for _, body := range []string{
				`{"method": "m` + id + `", "args": {}, "version": "1.0"`,
				`{"method": "work", "args": {}, "version": "1.0.` + id + `"`,
				`{"method": "work", "args": {}, "version": "1.` + id + `9"`,
				`{"method": "work", "args": {}, "version": "1.0", "namespace": "n` + id + `"`,
				`{"method": "note", "args": {"x` + id + `": 1}, "version": "1.0"`,
			} {
				m.bus.Send(context.Background(), rpc.Message{To: rpc.Address{Topic: "t"}, Body: []byte(body + `, "_msg_id": "` + id + `", "_reply_q": "q` + id + `"}`)}, func(error) {})
			}
			synctest.Wait()
			<-time.After(time.Second)
			_, _ = work.Call(context.Background(), m.remote.On("host-"+id), args{})
			m.metrics.client.measure(context.Background(), rpc.CallInfo{Side: rpc.SideClient, Kind: rpc.KindCall, Method: "work"}, func(context.Context) error {
				return &rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "Class" + id}}
			})
			m.metrics.Observe(rpc.Event{Kind: rpc.EventReturned, Queue: "reply_" + id, MessageID: id})
			m.metrics.Observe(rpc.Event{Kind: rpc.EventConnected, Link: "topic.host-" + id})
			m.metrics.Observe(rpc.Event{Kind: rpc.EventConnected, Link: "topic.host-" + id})
		}
		play(0)
		before, remembered := seriesOf(page(t, m.registry)), m.metrics.server.size()+m.metrics.client.size()
		for n := range 20 {
			play(n + 1)
		}
		after := seriesOf(page(t, m.registry))
		m.stop()
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("series were added (-before +after):\n%s", diff)
		}
		if n := m.metrics.server.size() + m.metrics.client.size(); n != remembered {
			t.Errorf("%d series are remembered, before %d", n, remembered)
		}
	})
}

func (c *calls) size() (n int) {
	c.known.Range(func(any, any) bool { n++; return true })
	return n
}

// seriesOf are the lines of a page without their values.
func seriesOf(page string) []string {
	var names []string
	for line := range strings.Lines(page) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" {
			names = append(names, name)
		}
	}
	return names
}

// TestIntegrationTransportIsCounted: the connections and the returned messages of a real broker.
func TestIntegrationTransportIsCounted(t *testing.T) {
	t.Parallel()
	url := os.Getenv("CYBORG_TEST_AMQP_URL")
	if url == "" {
		t.Skip("CYBORG_TEST_AMQP_URL is not set: no RabbitMQ to test with")
	}
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry, "cyborg-test")
	cfg := load(t, "[DEFAULT]\ntransport_url = "+url+"\n")
	bus, err := Open(cfg, nil, m)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	bus.Send(t.Context(), rpc.Message{To: rpc.Address{Topic: "nobody", Server: "here"}, Body: []byte("{}")}, func(err error) { done <- err })
	if err := <-done; !errors.Is(err, rpc.ErrUndeliverable) {
		t.Fatal(err)
	}
	got := page(t, registry)
	for _, line := range []string{`cyborg_amqp_connected{link="publish"} 1`, `cyborg_amqp_blocked 0`, `cyborg_rpc_events_total{event="returned"} 1`} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the page lacks %s:\n%s", line, got)
		}
	}
	if err := bus.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
