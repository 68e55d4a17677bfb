package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// absent makes the tap return messages to some queues.
func absent(gone func(queue string) bool) func(rpc.Message) error {
	return func(m rpc.Message) error {
		if gone(m.To.Queue) {
			return &rpc.UndeliverableError{RoutingKey: m.To.Queue}
		}
		return nil
	}
}

// TestReplyToAMissingQueue: tried every quarter of a second for a minute, then the queue is forgotten for a minute; nobody
// else waits meanwhile, not even with a single worker.
func TestReplyToAMissingQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		bus.sent = make(chan rpc.Message, 1<<14)
		bus.outcome = absent(func(queue string) bool { return strings.HasPrefix(queue, "reply_of_dead") })
		var log bytes.Buffer
		var dropped atomic.Int32
		serveOn(t, bus, rpc.ServerConfig{
			Endpoints: pinging(), Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(e rpc.Event) {
				if e.Kind == rpc.EventReplyDropped {
					dropped.Add(1)
				}
			},
		})
		start := time.Now()
		for i := range 50 {
			bus.deliver(rpc.Delivery{Body: request("ping", fmt.Sprintf("dead%d", i), "")})
		}
		bus.deliver(rpc.Delivery{Body: request("ping", "alive", "")})
		for (<-bus.sent).To.Queue != "reply_of_alive" {
		}
		same(t, "waited", time.Duration(0), time.Since(start))
		pause(70 * time.Second)
		synctest.Wait()
		same(t, "dropped", int32(50), dropped.Load())
		same(t, "log lines", 50, strings.Count(log.String(), "reply dropped"))
		same(t, "attempts for one", 240, attempts(bus, "reply_of_dead7")) // after the first, which was taken above

		bus.deliver(rpc.Delivery{Body: request("ping", "dead7", `, "_unique_id": "again"`)}) // the same queue within the minute
		pause(10 * time.Second)
		same(t, "attempts within the minute", 0, attempts(bus, "reply_of_dead7"))
		same(t, "dropped", int32(51), dropped.Load())
		pause(time.Minute)
		bus.deliver(rpc.Delivery{Body: request("ping", "dead7", `, "_unique_id": "later"`)})
		pause(time.Second)
		if attempts(bus, "reply_of_dead7") == 0 {
			t.Error("the queue was not tried again after a minute")
		}
	})
}

// TestReplyRetry: the configured time counts for the attempts, and the queue is forgotten for a minute in any case.
func TestReplyRetry(t *testing.T) {
	t.Parallel()
	for retry, want := range map[time.Duration]int{5 * time.Second: 21, -1: 1, 2 * time.Minute: 481} {
		synctest.Test(t, func(t *testing.T) {
			bus := newTap()
			bus.outcome = absent(func(string) bool { return true })
			serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging(), ReplyRetry: retry})
			bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
			pause(max(retry, 0) + time.Second)
			same(t, "attempts", want, attempts(bus, "reply_of_1"))
			pause(58 * time.Second)
			bus.deliver(rpc.Delivery{Body: request("ping", "1", `, "_unique_id": "again"`)})
			synctest.Wait()
			same(t, "attempts within the minute", 0, attempts(bus, "reply_of_1"))
			pause(2 * time.Second)
			bus.deliver(rpc.Delivery{Body: request("ping", "1", `, "_unique_id": "later"`)})
			synctest.Wait()
			same(t, "attempts after the minute", 1, attempts(bus, "reply_of_1"))
		})
	}
}

// attempts empties the tap and counts what went to a queue.
func attempts(bus *tap, queue string) int {
	n := 0
	for {
		select {
		case m := <-bus.sent:
			if m.To.Queue == queue {
				n++
			}
		default:
			return n
		}
	}
}

// TestReplyQueueComesBack: the client reconnects, and gets its answer.
func TestReplyQueueComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		back := time.Now().Add(5 * time.Second)
		bus.outcome = absent(func(string) bool { return time.Now().Before(back) })
		serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging(), Observe: func(e rpc.Event) { t.Errorf("event %v", e) }})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		pause(time.Minute)
		same(t, "attempts", 21, len(bus.sent))
	})
}

// TestLargeRepliesDoNotPileUp: what waits for clients that are gone is bounded in bytes too.
func TestLargeRepliesDoNotPileUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		bus.outcome = absent(func(string) bool { return true })
		var dropped []string
		serveOn(t, bus, rpc.ServerConfig{
			Workers:   1, // so that the events come from one goroutine
			Endpoints: []*rpc.Endpoint{handling("fill", func(context.Context) (string, error) { return strings.Repeat("x", 24<<20), nil })},
			Observe:   func(e rpc.Event) { dropped = append(dropped, e.MessageID) },
		})
		for _, id := range []string{"1", "2", "3"} {
			bus.deliver(rpc.Delivery{Body: request("fill", id, "")})
			synctest.Wait()
		}
		same(t, "dropped", []string{"3"}, dropped)
		pause(59 * time.Second)
		same(t, "dropped within the minute", 1, len(dropped))
	})
}

// TestStopDropsHopelessReplies: a stopping server does not wait a minute for clients that are gone.
func TestStopDropsHopelessReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		bus.outcome = absent(func(string) bool { return true })
		stop := serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) {
			pause(2 * time.Second)
			return "", nil
		})}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		synctest.Wait()
		bus.deliver(rpc.Delivery{Body: request("ping", "2", "")})
		synctest.Wait()
		start := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, "time", 2*time.Second, time.Since(start))
	})
}

// TestAnswerTooLarge: an answer that the broker does not take becomes a failure, once.
func TestAnswerTooLarge(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]struct {
		sent    int
		dropped int
	}{1 << 12: {sent: 2, dropped: 1}, 10: {sent: 2, dropped: 2}} {
		synctest.Test(t, func(t *testing.T) {
			bus := newTap()
			bus.outcome = func(m rpc.Message) error {
				if len(m.Body) <= limit {
					return nil
				}
				return fmt.Errorf("%w: %w", rpc.ErrNacked, &rpc.TooLargeError{Size: len(m.Body), Limit: limit})
			}
			var events []rpc.Event
			serveOn(t, bus, rpc.ServerConfig{
				Endpoints: []*rpc.Endpoint{handling("fill", func(context.Context) (string, error) { return strings.Repeat("x", 1<<13), nil })},
				Observe:   func(e rpc.Event) { events = append(events, e) },
			})
			bus.deliver(rpc.Delivery{Body: request("fill", "1", "")})
			synctest.Wait()
			same(t, "sent", want.sent, len(bus.sent))
			<-bus.sent
			m := <-bus.sent
			r := decodeReply(t, m)
			if m.To.Queue != "reply_of_1" || !m.Resend || r.MsgID != "1" || !r.Ending || r.Result != nil {
				t.Errorf("sent to %v: %+v", m.To, r)
			}
			for _, word := range []string{`\"class\": \"RuntimeError\"`, `\"module\": \"builtins\"`, "too large", fmt.Sprint(limit)} {
				if !strings.Contains(string(r.Failure), word) {
					t.Errorf("failure %s lacks %s", r.Failure, word)
				}
			}
			same(t, "events", want.dropped, len(events))
			for _, e := range events {
				if _, ok := errors.AsType[*rpc.TooLargeError](e.Err); !ok || e.Kind != rpc.EventReplyDropped || e.MessageID != "1" {
					t.Errorf("event %+v", e)
				}
			}
		})
	}
}
