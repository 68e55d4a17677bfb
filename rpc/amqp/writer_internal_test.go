package amqp

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
)

// TestBlockedWriterHoldsNothing: when the broker takes no messages in the middle of a burst, what was held back for the rest
// of it is written, and heartbeats are not held back.
func TestBlockedWriterHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, err := Config{}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		c := &conn{socket: &plug{Conn: r, timeout: time.Minute}, blocked: make(chan amqp091.Blocking, 1), refused: make(chan *amqp091.Error)}
		c.socket.hold()
		writeAll(t, c.socket, "burst")
		c.blocked <- amqp091.Blocking{Active: true}
		w := writer{publisher: newPublisher(&config), conn: c}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.run(ctx) }()
		synctest.Wait()
		writeAll(t, c.socket, "heartbeat")
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if want := []string{"burst", "heartbeat"}; !slices.Equal(r.writes, want) {
			t.Errorf("written: %q, want %q", r.writes, want)
		}
	})
}

// TestFullWindowSeesTheEnd: a writer that waits for confirms which do not come still hears of an alarm, and ends when the
// transport is closed, with what it had in hand.
func TestFullWindowSeesTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, err := Config{ControlExchange: "x"}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		c := &conn{socket: &plug{Conn: r, timeout: time.Minute}, blocked: make(chan amqp091.Blocking, 1), refused: make(chan *amqp091.Error)}
		c.socket.hold()
		writeAll(t, c.socket, "burst")
		p := newPublisher(&config)
		w := writer{publisher: p, conn: c, settler: newSettler(c, nil, config.Observe), declared: map[string]bool{"x": true}}
		for range window {
			w.settler.slots <- struct{}{}
		}
		mine := &item{ctx: t.Context(), done: func(error) { t.Error("completed") }}
		p.outbox.put(mine)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.run(ctx) }()
		synctest.Wait()
		if want := []string{"burst"}; !slices.Equal(r.writes, want) {
			t.Errorf("written: %q, want %q", r.writes, want)
		}
		c.blocked <- amqp091.Blocking{Active: true}
		synctest.Wait()
		if state := p.link.health().State; state != StateBlocked {
			t.Errorf("state is %s", state)
		}
		cancel()
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) || p.head != mine {
				t.Errorf("ended with %v and %v in hand", err, p.head)
			}
		default:
			t.Error("the writer goes on waiting")
			close(c.refused)
		}
	})
}

// TestOffsetsOfStreamsOnly: a header that anybody may put into a request does not move the place where the stream is read on.
func TestOffsetsOfStreamsOnly(t *testing.T) {
	t.Parallel()
	config, err := Config{Options: Options{StreamFanout: true, TransientQuorum: true, Prefetch: 1}}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(&config, rpc.Source{Topic: "t", Server: "h"}, taker{}, "")
	k := &consumer{listener: l, conn: &conn{}}
	l.batch = ackBatch // acknowledges later, without a broker here
	for queue, want := range []int64{0, 0, 8} {
		d := amqp091.Delivery{Headers: amqp091.Table{streamOffset: int64(7)}, ContentType: "application/json"}
		if err := k.deliver(t.Context(), queue, d, true); err != nil || l.offset != want {
			t.Errorf("queue %d: offset %d, %v, want %d", queue, l.offset, err, want)
		}
	}
}

// taker settles what it gets.
type taker struct{}

func (taker) Listening(bool) {}

func (taker) Deliver(_ context.Context, d rpc.Delivery) { _ = d.Settle(true) }

// TestWhatALostConnectionLeaves: what was written and not confirmed is sent again only if it may be, in its order and before
// what was waiting for that already; what the broker refused for its size never is, and everything else is told once.
func TestWhatALostConnectionLeaves(t *testing.T) {
	t.Parallel()
	config, err := Config{}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]error{}
	message := func(name string, resend bool, size int) *item {
		return &item{
			Message: rpc.Message{Body: []byte(name), Resend: resend}, wire: make([]byte, size), ctx: t.Context(),
			done: func(err error) { outcomes[name] = errors.Join(outcomes[name], err) },
		}
	}
	p := newPublisher(&config)
	p.resend = []*item{message("older", true, 1)}
	p.collect([]*item{message("first", true, 1), message("once", false, 1), message("big", true, 9), message("second", true, 8)},
		&amqp091.Error{Code: amqp091.PreconditionFailed, Reason: "PRECONDITION_FAILED - message size 9 is larger than configured max size 8"})
	var order []string
	for i := p.next(); i != nil; i = p.next() {
		order = append(order, string(i.Body))
	}
	if want := []string{"first", "second", "older"}; !slices.Equal(order, want) {
		t.Errorf("sent again: %q, want %q", order, want)
	}
	if len(outcomes) != 2 || !errors.Is(outcomes["once"], rpc.ErrUnconfirmed) || !errors.Is(outcomes["big"], rpc.ErrNacked) {
		t.Errorf("told: %v", outcomes)
	}
}

// TestWhatARefusedExchangeLeaves: the broker names the exchange and not the message, which was the last one there or one before
// it. What follows was never looked at; what is before it may have been delivered.
func TestWhatARefusedExchangeLeaves(t *testing.T) {
	t.Parallel()
	config, err := Config{ControlExchange: "x"}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cause  amqp091.Error
		again  []string
		denied []string
		exact  string // the exchange in the error
	}{
		"missing": {
			amqp091.Error{Code: amqp091.NotFound, Reason: "NOT_FOUND - no exchange 'x' in vhost '/'", Server: true},
			[]string{"x resend", "x last", "y after"},
			nil, "",
		},
		"denied": {
			amqp091.Error{Code: amqp091.AccessRefused, Reason: "ACCESS_REFUSED - access to exchange 'x' in vhost '/' refused for user 'u'", Server: true},
			[]string{"y after"},
			[]string{"x last", "x resend"},
			"x",
		},
		"denied in the words of later brokers": {
			amqp091.Error{Code: amqp091.AccessRefused, Reason: "ACCESS_REFUSED - write access to exchange 'x' in vhost '/' refused for user 'u'", Server: true},
			[]string{"y after"},
			[]string{"x last", "x resend"},
			"x",
		},
		"not the broker's word": {
			amqp091.Error{Code: amqp091.NotFound, Reason: "NOT_FOUND - no exchange 'x' in vhost '/'"}, []string{"x resend"}, nil, "",
		},
		"another exchange": {
			amqp091.Error{Code: amqp091.NotFound, Reason: "NOT_FOUND - no exchange 'z' in vhost '/'", Server: true}, []string{"x resend"}, nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPublisher(&config)
			var denied, again []string
			message := func(name string) *item {
				return &item{
					Message: rpc.Message{To: rpc.Address{Exchange: name[:1], Topic: "t"}, Body: []byte(name), Resend: name == "x resend"},
					ctx:     t.Context(), confirm: &amqp091.DeferredConfirmation{},
					done: func(err error) {
						if access, ok := errors.AsType[*AccessError](err); ok && access.Exchange == c.exact {
							denied = append(denied, name)
						} else if !errors.Is(err, rpc.ErrUnconfirmed) {
							t.Errorf("%s ended with %v", name, err)
						}
					},
				}
			}
			p.collect([]*item{message("y before"), message("x first"), message("x resend"), message("x last"), message("y after")}, &c.cause)
			for i := p.next(); i != nil; i = p.next() {
				again = append(again, string(i.Body))
				if !i.Resend && i.abandoned() != nil {
					t.Errorf("%s counts as sent", i.Body)
				}
			}
			slices.Sort(denied)
			if !slices.Equal(again, c.again) || !slices.Equal(denied, c.denied) {
				t.Errorf("sent again: %q, want %q; denied: %q, want %q", again, c.again, denied, c.denied)
			}
		})
	}
}
