//go:build unix

package amqp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

type echoArgs struct {
	Nonce string `json:"nonce"`
	Delay int    `json:"delay"` // milliseconds the handler takes
}

var (
	echo     = rpc.NewMethod[echoArgs, string]("echo", "1.0").Idempotent()
	echoOnce = rpc.NewMethod[echoArgs, string]("echo_once", "1.0")
)

const (
	faultTopic    = "T"
	faultServer   = "H"
	faultExchange = "faults"
	callTimeout   = 20 * time.Second
	heartbeat     = 4 * time.Second
)

// rig is a client and a server, each with a transport of its own, both behind a relay.
type rig struct {
	t      *testing.T
	node   *node
	relay  *relay
	client *rpc.Client
	remote rpc.Remote
	ready  atomic.Int32
	stop   func()
}

func newRig(t *testing.T, n *node, routeWait time.Duration, hosts ...string) *rig {
	t.Helper()
	r := &rig{t: t, node: n, relay: newRelay(t, n.address())}
	if len(hosts) == 0 {
		hosts = []string{r.relay.address()}
	}
	open := func() *amqp.Transport {
		tr, err := amqp.Open(amqp.Config{
			URL: n.oslo(append([]string(nil), hosts...)...), ControlExchange: faultExchange, OpTimeout: 3 * time.Second, Tick: 2 * time.Second,
			Options: amqp.Options{Heartbeat: heartbeat, RetryInterval: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	clientSide, serverSide := open(), open()
	r.client = rpc.NewClient(clientSide, rpc.ClientConfig{RouteWait: routeWait})
	r.remote = rpc.Remote{Client: r.client, Target: rpc.Target{Topic: faultTopic}, Timeout: callTimeout}
	ep := rpc.NewEndpoint("", "1.0")
	for _, m := range []*rpc.Method[echoArgs, string]{echo, echoOnce} {
		m.Handle(ep, func(ctx context.Context, a echoArgs) (string, error) {
			select {
			case <-time.After(time.Duration(a.Delay) * time.Millisecond):
			case <-ctx.Done():
			}
			return a.Nonce, nil
		})
	}
	server, err := rpc.NewServer(serverSide, rpc.ServerConfig{
		Target: rpc.Target{Topic: faultTopic, Server: faultServer}, Endpoints: []*rpc.Endpoint{ep}, Workers: 256,
		Ready: func(up bool) {
			if up {
				r.ready.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		closing, done := context.WithTimeout(context.Background(), 30*time.Second)
		defer done()
		if err := r.client.Close(closing); err != nil {
			t.Errorf("close client: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("server: %v", err)
		}
		for _, tr := range []*amqp.Transport{clientSide, serverSide} {
			if err := tr.Close(closing); err != nil {
				t.Errorf("close transport: %v", err)
			}
		}
		r.relay.close()
	})
	t.Cleanup(r.stop)
	until(t, 20*time.Second, "the server to listen", func() bool { return r.ready.Load() > 0 })
	r.mustCall()
	return r
}

// mustCall makes one call that has to succeed.
func (r *rig) mustCall() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if got, err := echo.Call(ctx, r.remote, echoArgs{Nonce: "now"}); err != nil || got != "now" {
		r.t.Errorf("call: %q, %v", got, err)
	}
}

// outcome counts what 1,000 calls came to.
type outcome struct {
	calls                                                int64
	ok, timeout, undeliverable, other, wrong, late, slow atomic.Int64 // slow: undeliverable, but not at once
	first                                                sync.Map
}

func (o *outcome) String() string {
	var others []string
	o.first.Range(func(k, _ any) bool { others = append(others, k.(string)); return true })
	return fmt.Sprintf("ok %d, timeout %d, undeliverable %d (%d slowly), other %d, wrong %d, late %d %s",
		o.ok.Load(), o.timeout.Load(), o.undeliverable.Load(), o.slow.Load(), o.other.Load(), o.wrong.Load(), o.late.Load(), strings.Join(others, "; "))
}

// load keeps 1,000 calls in flight over 1.5 s while fault happens and waits for all.
func (r *rig) load(m *rpc.Method[echoArgs, string], fault func()) *outcome {
	calls := 1000
	if testing.Short() {
		calls = 100
	}
	o := &outcome{calls: int64(calls)}
	var wg sync.WaitGroup
	started := make(chan struct{})
	for i := range calls {
		wg.Go(func() {
			timer := time.NewTimer(time.Duration(i) * 1500 * time.Millisecond / time.Duration(calls))
			<-timer.C
			if i == calls/3 {
				close(started)
			}
			r.one(m, o, i)
		})
	}
	<-started
	fault()
	wg.Wait()
	return o
}

func (r *rig) one(m *rpc.Method[echoArgs, string], o *outcome, i int) {
	nonce, begin := fmt.Sprintf("nonce-%d", i), time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	got, err := m.Call(ctx, r.remote, echoArgs{Nonce: nonce, Delay: i * 7 % 400})
	took := time.Since(begin)
	if took > callTimeout+time.Second {
		o.late.Add(1)
	}
	switch {
	case err == nil && got == nonce:
		o.ok.Add(1)
	case err == nil:
		o.wrong.Add(1)
	case errors.Is(err, rpc.ErrUndeliverable):
		o.undeliverable.Add(1)
		if took > time.Second {
			o.slow.Add(1)
		}
	case errors.Is(err, context.DeadlineExceeded):
		o.timeout.Add(1)
		o.first.Store(err.Error()[strings.LastIndex(err.Error(), ":")+1:], true)
	default:
		o.other.Add(1)
		o.first.Store(err.Error(), true)
	}
}

// fault is one row of the table: what is broken and whether every idempotent call has to survive it.
type fault struct {
	name    string
	breakIt func(t *testing.T, r *rig)
	// losesQueues: queues or exchanges were deleted, so calls may fail, but only at once and as undeliverable, save the few
	// that were in a queue, or of which the broker does not say that they were not.
	losesQueues bool
	// routeWait is what the client waits for a topic's queue. A broker that stops loses the queues, and the server is back with
	// its second or third try to reconnect.
	routeWait time.Duration
}

func pause(d time.Duration) { <-time.NewTimer(d).C }

func faults() []fault {
	return []fault{
		{name: "all connections closed three times", breakIt: func(_ *testing.T, r *rig) {
			for range 3 {
				r.node.ctl("close_all_connections", "test")
				pause(300 * time.Millisecond)
			}
		}},
		{name: "broker application stopped and started", routeWait: 15 * time.Second, breakIt: func(_ *testing.T, r *rig) {
			r.node.ctl("stop_app")
			pause(time.Second)
			r.node.ctl("start_app")
		}},
		{name: "reply queue deleted", losesQueues: true, breakIt: func(_ *testing.T, r *rig) {
			for _, q := range r.node.queues("reply_") {
				r.node.ctl("delete_queue", q)
			}
		}},
		{name: "server queues deleted", losesQueues: true, breakIt: func(_ *testing.T, r *rig) {
			for _, q := range []string{faultTopic, faultTopic + "." + faultServer} {
				r.node.ctl("delete_queue", q)
			}
		}},
		{name: "exchange deleted", losesQueues: true, breakIt: func(_ *testing.T, r *rig) {
			r.node.channel(func(ch *amqp091.Channel) error { return ch.ExchangeDelete(faultExchange, false, false) })
		}},
		{name: "TCP cut five times", breakIt: func(_ *testing.T, r *rig) {
			for range 5 {
				r.relay.cut()
				pause(250 * time.Millisecond)
			}
		}},
		{name: "network frozen for 12 s", breakIt: func(_ *testing.T, r *rig) {
			r.relay.freeze()
			pause(12 * time.Second)
			r.relay.thaw()
		}},
		{name: "memory alarm", breakIt: func(_ *testing.T, r *rig) {
			r.node.ctl("set_vm_memory_high_watermark", "0.0000001")
			pause(3 * time.Second)
			r.node.ctl("set_vm_memory_high_watermark", "0.4")
		}},
	}
}

func TestIntegrationFaults(t *testing.T) {
	n := startNode(t)
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			n.t = t
			before, goroutines := "", 0
			methods := []*rpc.Method[echoArgs, string]{echo, echoOnce}
			if testing.Short() {
				methods = methods[:1]
			}
			for _, m := range methods {
				n.settle(t, &before, &goroutines)
				r := newRig(t, n, f.routeWait)
				o := r.load(m, func() { f.breakIt(t, r) })
				fmt.Printf("faults: %s, %s: %s\n", f.name, m.Name(), o)
				f.judge(t, m, o)
				r.recovers(f.losesQueues)
				r.stop()
				n.settle(t, &before, &goroutines)
			}
		})
	}
}

func (f fault) judge(t *testing.T, m *rpc.Method[echoArgs, string], o *outcome) {
	t.Helper()
	if o.late.Load() > 0 || o.wrong.Load() > 0 || o.other.Load() > 0 {
		t.Errorf("%s: %s", m.Name(), o)
	}
	if m == echo && !f.losesQueues && o.timeout.Load()+o.undeliverable.Load() > 0 {
		t.Errorf("idempotent calls failed: %s", o)
	}
	if f.losesQueues && (o.slow.Load() > 0 || o.timeout.Load() > max(2, o.calls/100)) {
		t.Errorf("calls did not fail at once: %s", o)
	}
}

// recovers makes the next call work; bindings that were deleted come back with the next tick.
func (r *rig) recovers(patient bool) {
	r.t.Helper()
	if patient {
		r.remote.Client = r.client
		until(r.t, 10*time.Second, "calls to work again", func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
			defer cancel()
			_, err := echo.Call(ctx, r.remote, echoArgs{Nonce: "again"})
			return err == nil
		})
	}
	r.mustCall()
}

// settle compares broker lists and goroutines with those before the rig; the first call records them.
func (n *node) settle(t *testing.T, before *string, goroutines *int) {
	t.Helper()
	forget := func(lists string) string { // the shared queues stay, without a consumer, as oslo.messaging's do
		var kept []string
		for line := range strings.Lines(lists) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "list_queues "+faultTopic) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "\n")
	}
	if *goroutines == 0 {
		*before, *goroutines = forget(n.lists()), runtime.NumGoroutine()
		return
	}
	var now string
	count := 0
	deadline := time.Now().Add(15 * time.Second)
	for {
		now, count = forget(n.lists()), runtime.NumGoroutine()
		if now == *before && count <= *goroutines+2 || time.Now().After(deadline) {
			break
		}
	}
	if now != *before {
		t.Errorf("the broker holds\n%s\nbefore it held\n%s", now, *before)
	}
	if count > *goroutines+2 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines, before %d\n%s", count, *goroutines, buf[:runtime.Stack(buf, true)])
	}
}

// alone runs a test on a node that nobody else uses, and checks that it leaves nothing there or here.
func alone(t *testing.T, test func(n *node)) {
	n := startNode(t)
	before, goroutines := "", 0
	n.settle(t, &before, &goroutines)
	test(n)
	n.settle(t, &before, &goroutines)
}

func TestIntegrationTwoHostsFirstDown(t *testing.T) {
	alone(t, func(n *node) {
		dead := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		r := newRig(t, n, 0, dead, n.address())
		r.mustCall()
		r.stop()
	})
}

func TestIntegrationLargeMessage(t *testing.T) {
	alone(t, func(n *node) {
		r := newRig(t, n, 0)
		ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
		defer cancel()
		nonce := strings.Repeat("0123456789abcdef", 1<<20)
		got, err := echo.Call(ctx, r.remote, echoArgs{Nonce: nonce})
		if err != nil || got != nonce {
			t.Errorf("16 MiB there and back: %d bytes, %v", len(got), err)
		}
		r.stop()
	})
}

func TestIntegrationHandlerOutlastsHeartbeats(t *testing.T) {
	alone(t, func(n *node) {
		r := newRig(t, n, 0)
		got, err := echo.Call(t.Context(), r.remote, echoArgs{Nonce: "slow", Delay: int(3 * heartbeat / time.Millisecond)})
		if err != nil || got != "slow" {
			t.Errorf("a handler of three heartbeats: %q, %v", got, err)
		}
		r.stop()
	})
}
