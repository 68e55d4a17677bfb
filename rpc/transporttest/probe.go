package transporttest

import (
	"context"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

const (
	// patience is how long anything that must happen may take.
	patience = 30 * time.Second
	// silence is how long nothing must happen to be believed.
	silence = 200 * time.Millisecond
)

// verdict is what a probe does with a delivery.
type verdict int

const (
	acknowledge verdict = iota
	reject
	leave
)

// probe is a receiver that shows what it gets.
type probe struct {
	up     chan bool
	bodies chan string
	judge  func(body string) verdict
	hold   chan struct{} // if not nil, Deliver blocks until it is closed, or listening ends
	stop   func(t *testing.T)
}

func (p *probe) Listening(up bool) { p.up <- up }

func (p *probe) Deliver(ctx context.Context, d rpc.Delivery) {
	if p.hold != nil {
		select {
		case <-p.hold:
		case <-ctx.Done():
			return
		}
	}
	what := acknowledge
	if p.judge != nil {
		what = p.judge(string(d.Body))
	}
	if what == leave || d.Settle(what == acknowledge) == nil {
		p.bodies <- string(d.Body)
	}
}

// listen starts a probe and returns when it consumes.
func listen(t *testing.T, tr rpc.Transport, s rpc.Source, p *probe) *probe {
	t.Helper()
	p.up, p.bodies = make(chan bool, 64), make(chan string, 4096)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- tr.Listen(ctx, s, p) }()
	stopped := false
	p.stop = func(t *testing.T) {
		t.Helper()
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := receive(t, ended, "the end of listening"); err != nil {
			t.Errorf("listen: %v", err)
		}
	}
	t.Cleanup(func() { p.stop(t) })
	if !receive(t, p.up, "listening") {
		t.Fatal("listening was reported as down first")
	}
	return p
}

// receive waits for something that must come.
func receive[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("waited %s in vain for %s", patience, what)
		panic("unreachable")
	}
}

// quiet checks that nothing comes.
func quiet(t *testing.T, ch <-chan string) {
	t.Helper()
	timer := time.NewTimer(silence)
	defer timer.Stop()
	select {
	case body := <-ch:
		t.Errorf("unexpected delivery of %q", body)
	case <-timer.C:
	}
}

// pause lets time pass.
func pause(d time.Duration) { <-time.After(d) }

// send sends a body and waits for the outcome.
func send(t *testing.T, tr rpc.Transport, to rpc.Address, body string, ttl time.Duration) error {
	t.Helper()
	done := make(chan error, 1)
	tr.Send(t.Context(), rpc.Message{To: to, Body: []byte(body), TTL: ttl}, func(err error) { done <- err })
	return receive(t, done, "the outcome of sending "+body)
}

func mustSend(t *testing.T, tr rpc.Transport, to rpc.Address, body string) {
	t.Helper()
	if err := send(t, tr, to, body, 0); err != nil {
		t.Fatalf("send %s: %v", body, err)
	}
}

// newTopic gives a topic that nobody else uses.
func newTopic() string { return "suite-" + wire.NewID()[:12] }
