package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

func TestDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var ran atomic.Int32
		var events []rpc.EventKind
		serveOn(t, bus, rpc.ServerConfig{
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) { ran.Add(1); return "", nil })},
			Observe:   func(e rpc.Event) { events = append(events, e.Kind) },
		})
		same(t, "settled", []bool{true}, bus.deliver(rpc.Delivery{Body: request("ping", "1", "")}).all())
		same(t, "settled", []bool{true}, bus.deliver(rpc.Delivery{Body: request("ping", "1", "")}).all())
		same(t, "runs", int32(1), ran.Load())
		same(t, "events", []rpc.EventKind{rpc.EventDuplicate}, events)
		for range 2 { // without an id there is nothing to compare
			bus.deliver(rpc.Delivery{Body: request("ping", "2", `, "_unique_id": null`)})
		}
		synctest.Wait()
		same(t, "runs", int32(3), ran.Load())
	})
}

// breakable is a tap that loses its connection when told to.
type breakable struct {
	*tap
	lose chan struct{}
}

func (b *breakable) Listen(ctx context.Context, _ rpc.Source, r rpc.Receiver) error {
	r.Listening(true)
	defer r.Listening(false)
	for {
		select {
		case <-b.lose:
			r.Listening(false)
			r.Listening(true)
		case d := <-b.inbox:
			r.Deliver(ctx, d)
		case <-ctx.Done():
			return nil
		}
	}
}

// TestRepeatedRequestGetsItsAnswer: a request that comes again after a loss is not run again, but its reply may have been lost
// with the broker, so that is sent again; without a loss it is not, as in Python, nor while the request runs.
func TestRepeatedRequestGetsItsAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := &breakable{tap: newTap(), lose: make(chan struct{})}
		var ran atomic.Int32
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) {
			ran.Add(1)
			pause(time.Second)
			return "pong", nil
		})}})
		body := request("ping", "1", "")
		deliver := func(when string, want int) {
			t.Helper()
			same(t, "settled "+when, []bool{true}, bus.deliver(rpc.Delivery{Body: body}).all())
			same(t, "answers "+when, want, len(bus.sent))
		}
		deliver("at first", 0)
		bus.lose <- struct{}{}
		deliver("while it runs", 0)
		pause(2 * time.Second)
		deliver("without a loss since", 1)
		bus.lose <- struct{}{}
		deliver("after a loss", 2)
		first, again := <-bus.sent, <-bus.sent
		if first.To != again.To || !bytes.Equal(first.Body, again.Body) || !again.Resend {
			t.Errorf("%v %s\n%v %s", first.To, first.Body, again.To, again.Body)
		}
		same(t, "runs", int32(1), ran.Load())
		body = request("ping", "2", `, "_unique_id": null`)
		deliver("without an id", 0)
		bus.lose <- struct{}{}
		deliver("without an id", 0)
		pause(2 * time.Second)
		same(t, "answers without an id", 2, len(bus.sent))
	})
}

// TestNotRunUnlessAcknowledged: when the acknowledgement fails the broker gives the request to somebody else, maybe to us
// again, and then it is no repetition.
func TestNotRunUnlessAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var ran atomic.Int32
		serveOn(t, bus, rpc.ServerConfig{
			Workers:   1,
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) { ran.Add(1); return "", nil })},
		})
		for range 3 {
			bus.inbox <- rpc.Delivery{Body: request("ping", "1", ""), Settle: func(bool) error { return errors.New("connection lost") }}
		}
		synctest.Wait()
		same(t, "runs", int32(0), ran.Load())
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		synctest.Wait()
		same(t, "runs", int32(1), ran.Load())
	})
}

// TestBusyWorkers: nothing is accepted while all workers are busy, and what waited too long is not run any more.
func TestBusyWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var events []rpc.EventKind
		serveOn(t, bus, rpc.ServerConfig{
			Workers: 1,
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) {
				pause(10 * time.Second)
				return "", nil
			})},
			Observe: func(e rpc.Event) { events = append(events, e.Kind) },
		})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		waiting := bus.deliver(rpc.Delivery{Body: request("ping", "2", ""), TTL: 5 * time.Second})
		pause(9 * time.Second)
		same(t, "settled", 0, len(waiting.all()))
		pause(2 * time.Second)
		synctest.Wait()
		same(t, "settled", []bool{true}, waiting.all())
		same(t, "events", []rpc.EventKind{rpc.EventExpired}, events)
		same(t, "reply", "1", decodeReply(t, <-bus.sent).MsgID)
		if len(bus.sent) != 0 {
			t.Error("an expired request was answered")
		}
	})
}

// TestUnreadable: rejected and never seen again, answered if the sender can be told.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var events []rpc.EventKind
		var log bytes.Buffer
		serveOn(t, bus, rpc.ServerConfig{
			Endpoints: pinging(), Observe: func(e rpc.Event) { events = append(events, e.Kind) },
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		same(t, "settled", []bool{false}, bus.deliver(rpc.Delivery{Body: []byte("garbage")}).all())
		same(t, "settled", []bool{false}, bus.deliver(rpc.Delivery{Body: request("ping", "1", ""), Invalid: errors.New("content type")}).all())
		m := <-bus.sent
		same(t, "address", rpc.Address{Queue: "reply_of_1"}, m.To)
		var f wire.Failure
		if err := f.Decode(decodeReply(t, m).Failure); err != nil || f.Class != "ValueError" || !strings.Contains(f.Message, "content type") {
			t.Errorf("%+v, %v", f, err)
		}
		same(t, "events", []rpc.EventKind{rpc.EventRejected, rpc.EventRejected}, events)
		same(t, "log lines", 2, strings.Count(log.String(), "request rejected"))
		if len(bus.sent) != 0 {
			t.Error("garbage was answered")
		}
	})
}
