package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

var ping = rpc.NewMethod[struct{}, string]("ping", "1.0")

func remoteOf(tr rpc.Transport) rpc.Remote {
	return rpc.Remote{Client: rpc.NewClient(tr, rpc.ClientConfig{}), Target: rpc.Target{Topic: "t"}}
}

func decodeRequest(t *testing.T, body []byte) *wire.Request {
	t.Helper()
	r := &wire.Request{}
	if err := r.Decode(body); err != nil {
		t.Fatal(err)
	}
	return r
}

// serveMemory runs a server on a fresh bus until the test ends, and gives a remote for it.
func serveMemory(t *testing.T, s rpc.ServerConfig, c rpc.ClientConfig) rpc.Remote {
	t.Helper()
	bus := memory.New()
	serveOn(t, bus, s)
	client := rpc.NewClient(bus, c)
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}
}

// serveOn runs a server until the test ends, or until the returned function is called, which gives what Run returned.
func serveOn(t *testing.T, tr rpc.Transport, cfg rpc.ServerConfig) (stop func() error) {
	t.Helper()
	cfg.Target = rpc.Target{Topic: "t", Server: "h"}
	srv, err := rpc.NewServer(tr, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var result error
	go func() {
		defer close(ended)
		result = srv.Run(ctx)
	}()
	stop = func() error {
		cancel()
		<-ended
		return result
	}
	t.Cleanup(func() { _ = stop() })
	synctest.Wait()
	return stop
}

func reply(id, rest string) rpc.Delivery {
	return rpc.Delivery{Body: fmt.Appendf(nil, `{%s, "_msg_id": "%s"}`, rest, id)}
}

// call starts a call over a tap and gives its request and a function that waits for its end.
func call(t *testing.T, ctx context.Context, bus *tap, to rpc.Remote) (*wire.Request, func() (string, error)) {
	t.Helper()
	var (
		result string
		err    error
		done   = make(chan struct{})
	)
	go func() {
		defer close(done)
		result, err = ping.Call(ctx, to, struct{}{})
	}()
	request := decodeRequest(t, (<-bus.sent).Body)
	return request, func() (string, error) {
		<-done
		return result, err
	}
}

func closeClient(t *testing.T, to rpc.Remote) {
	t.Helper()
	if err := to.Client.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReplyInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		defer closeClient(t, to)
		r, wait := call(t, t.Context(), bus, to)
		bus.deliver(reply("someone else", `"result": "no", "failure": null, "ending": true`))
		bus.deliver(rpc.Delivery{Body: []byte("garbage")})
		bus.deliver(rpc.Delivery{Body: reply(r.MsgID, `"result": "no", "failure": null, "ending": true`).Body, Invalid: errors.New("odd content")})
		bus.deliver(reply(r.MsgID, `"result": "first", "failure": null, "ending": false`))
		bus.deliver(reply(r.MsgID, `"result": null, "failure": null, "ending": false`))
		bus.deliver(reply(r.MsgID, `"result": null, "failure": null, "ending": true`))
		bus.deliver(reply(r.MsgID, `"result": "late", "failure": null, "ending": true`))
		if got, err := wait(); got != "first" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestLargeReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		defer closeClient(t, to)
		r, wait := call(t, t.Context(), bus, to)
		want := strings.Repeat("x", 2<<20)
		bus.deliver(reply(r.MsgID, `"result": "`+want+`", "failure": null, "ending": true`))
		if got, err := wait(); got != want || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		for range 3 { // the piece that ends an answer does not overtake the large one before it
			r, wait = call(t, t.Context(), bus, to)
			bus.deliver(reply(r.MsgID, `"result": "small", "failure": null, "ending": false`))
			bus.deliver(reply(r.MsgID, `"result": "`+want+`", "failure": null, "ending": false`))
			bus.deliver(reply(r.MsgID, `"result": null, "failure": null, "ending": true`))
			if got, err := wait(); got != want || err != nil {
				t.Errorf("%d bytes in pieces, %v", len(got), err)
			}
		}
	})
}

// TestMonitor: a sign of life restarts the monitor's clock and nothing else.
func TestMonitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		to.Monitor, to.Timeout = 4*time.Second, 11*time.Second
		defer closeClient(t, to)
		start := time.Now()
		r, wait := call(t, t.Context(), bus, to)
		same(t, "_timeout", "4", string(r.Timeout))
		for range 2 {
			pause(3 * time.Second)
			bus.deliver(reply(r.MsgID, `"result": null, "failure": null, "ending": false`))
		}
		_, err := wait()
		var timeout *rpc.TimeoutError
		if !errors.As(err, &timeout) || timeout.Reached != "no heartbeat" {
			t.Errorf("got %v", err)
		}
		same(t, "time", 10*time.Second, time.Since(start))

		start = time.Now()
		r, wait = call(t, t.Context(), bus, to)
		for range 3 {
			pause(3 * time.Second)
			bus.deliver(reply(r.MsgID, `"result": null, "failure": null, "ending": false`))
		}
		if _, err = wait(); !errors.As(err, &timeout) || timeout.Reached != "confirmed" {
			t.Errorf("got %v", err)
		}
		same(t, "time", 11*time.Second, time.Since(start))
	})
}

// TestMonitorWaitsForTheRequest: no sign of life can be missed while the broker is away and the request is still here. The
// wait for it begins when the request is sent, or sent again.
func TestMonitorWaitsForTheRequest(t *testing.T) {
	t.Parallel()
	const monitor = 4 * time.Second
	for _, sent := range [][]time.Duration{{time.Millisecond}, {3 * time.Second}, {4 * time.Second}, {10*time.Second + time.Millisecond}, {time.Second, 3 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			to := remoteOf(&stuck{sends: func(m rpc.Message, _ func(error)) {
				for _, d := range sent {
					time.AfterFunc(d, m.Progress.MarkSent)
				}
			}})
			to.Monitor, to.Timeout = monitor, time.Minute
			defer closeClient(t, to)
			start := time.Now()
			_, err := ping.Call(t.Context(), to, struct{}{})
			if timeout, ok := errors.AsType[*rpc.TimeoutError](err); !ok || timeout.Reached != "no heartbeat" {
				t.Error(err)
			}
			same(t, "time", sent[len(sent)-1]+monitor, time.Since(start))
		})
	}
}

// TestTimeoutTellsHowFar: the one field that an operator needs.
func TestTimeoutTellsHowFar(t *testing.T) {
	t.Parallel()
	for reached, bus := range map[string]*stuck{
		"confirmed":           {sends: func(m rpc.Message, done func(error)) { m.Progress.MarkSent(); done(nil) }},
		"sent, unconfirmed":   {sends: func(m rpc.Message, _ func(error)) { m.Progress.MarkSent() }},
		"not sent (no route)": {sends: func(rpc.Message, func(error)) {}, impediment: errors.New("no route")},
		"not sent":            {sends: func(rpc.Message, func(error)) {}},
		"not sent (late)":     {sends: func(_ rpc.Message, done func(error)) { done(context.DeadlineExceeded) }, impediment: errors.New("late")},
		"reply queue down":    {deaf: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			to := remoteOf(bus)
			to.Timeout = 3 * time.Second
			defer closeClient(t, to)
			start := time.Now()
			_, err := ping.Call(t.Context(), to, struct{}{})
			var timeout *rpc.TimeoutError
			if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) || !timeout.Timeout() {
				t.Fatal(err)
			}
			same(t, "reached", reached, timeout.Reached)
			same(t, "time", 3*time.Second, time.Since(start))
		})
	}
}

// stuck is a transport on which things get stuck.
type stuck struct {
	sends      func(rpc.Message, func(error))
	impediment error
	deaf       bool
}

func (s *stuck) Send(_ context.Context, m rpc.Message, done func(error)) { s.sends(m, done) }

func (s *stuck) Listen(ctx context.Context, _ rpc.Source, r rpc.Receiver) error {
	if !s.deaf {
		r.Listening(true)
		defer r.Listening(false)
	}
	<-ctx.Done()
	return nil
}

func (s *stuck) NewReplyQueue() string { return "q" }

func (s *stuck) Impediment() error { return s.impediment }

// TestOutcomesOfSending: what the broker says decides, except that a call goes on waiting when its confirmation was lost.
func TestOutcomesOfSending(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{&rpc.UndeliverableError{Exchange: "x", RoutingKey: "t"}, rpc.ErrNacked, rpc.ErrClosed, rpc.ErrUnconfirmed} {
		synctest.Test(t, func(t *testing.T) {
			bus := newTap()
			bus.outcome = func(rpc.Message) error { return outcome }
			to := remoteOf(bus)
			to.Timeout = time.Second
			defer closeClient(t, to)
			if err := ping.Cast(t.Context(), to, struct{}{}); !errors.Is(err, outcome) {
				t.Errorf("a cast ended with %v, want %v", err, outcome)
			}
			_, err := ping.Call(t.Context(), to, struct{}{})
			want := outcome
			if errors.Is(outcome, rpc.ErrUnconfirmed) {
				want = context.DeadlineExceeded
			}
			if !errors.Is(err, want) {
				t.Errorf("a call ended with %v, want %v", err, want)
			}
		})
	}
}

func TestWhatIsAskedOfTheTransport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus).On("h")
		to.Timeout = 7 * time.Second
		defer closeClient(t, to)
		if _, err := ping.Idempotent().Call(t.Context(), to, struct{}{}); err == nil {
			t.Error("no timeout")
		}
		m := <-bus.sent
		same(t, "address", rpc.Address{Topic: "t", Server: "h"}, m.To)
		same(t, "time to live", 7*time.Second, m.TTL)
		same(t, "resend", true, m.Resend)
		if err := ping.CastAll(t.Context(), to, struct{}{}); err != nil {
			t.Error(err)
		}
		m = <-bus.sent
		same(t, "address", rpc.Address{Topic: "t", Fanout: true}, m.To)
		same(t, "time to live", time.Duration(0), m.TTL)
		same(t, "resend", false, m.Resend)
		r := decodeRequest(t, m.Body)
		if r.MsgID != "" || r.ReplyQueue != "" || r.Timeout != nil || r.UniqueID == "" {
			t.Errorf("a cast has the members of a call: %s", m.Body)
		}
	})
}

func TestDeadlineOfTheCallerWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		to.Timeout = time.Second
		defer closeClient(t, to)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := ping.Call(ctx, to, struct{}{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		same(t, "time", 90*time.Second, time.Since(start))
		to.Timeout = 0
		start = time.Now()
		if _, err := ping.Call(t.Context(), to, struct{}{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		same(t, "default", time.Minute, time.Since(start))

		cause := errors.New("changed my mind")
		stoppable, stop := context.WithCancelCause(t.Context())
		<-bus.sent
		<-bus.sent
		_, wait := call(t, stoppable, bus, to)
		stop(cause)
		_, err := wait()
		var timeout *rpc.TimeoutError
		if !errors.Is(err, cause) || errors.As(err, &timeout) {
			t.Errorf("a call given up ended with %v", err)
		}
	})
}

func TestRouteWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		tries := 0
		bus.outcome = func(rpc.Message) error {
			if tries++; tries < 5 {
				return &rpc.UndeliverableError{RoutingKey: "t"}
			}
			return nil
		}
		to := rpc.Remote{Client: rpc.NewClient(bus, rpc.ClientConfig{RouteWait: 5 * time.Second}), Target: rpc.Target{Topic: "t"}}
		defer closeClient(t, to)
		if err := ping.Cast(t.Context(), to, struct{}{}); err != nil || tries != 5 {
			t.Errorf("%v after %d tries", err, tries)
		}
		bus.outcome = func(rpc.Message) error { return &rpc.UndeliverableError{RoutingKey: "t"} }
		start := time.Now()
		if err := ping.Cast(t.Context(), to, struct{}{}); !errors.Is(err, rpc.ErrUndeliverable) {
			t.Error(err)
		}
		same(t, "time", 5*time.Second, time.Since(start))
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		_, wait := call(t, t.Context(), bus, to)
		closeClient(t, to)
		if _, err := wait(); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("a waiting call ended with %v", err)
		}
		if _, err := ping.Call(t.Context(), to, struct{}{}); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("a call afterwards ended with %v", err)
		}
		closeClient(t, to)
		closeClient(t, remoteOf(bus)) // never used
	})
}
