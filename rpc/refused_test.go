package rpc_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// TestRefusedRequestsAreCounted: what a request asks for in vain is logged once with its message id, and counted.
func TestRefusedRequestsAreCounted(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no method":       `{"args": {}, "version": "1.0"`,
		"unknown method":  `{"method": "nope", "args": {}, "version": "1.0"`,
		"unknown version": `{"method": "ping", "args": {}, "version": "1.1"`,
		"broken version":  `{"method": "ping", "args": {}, "version": "x"`,
		"no such space":   `{"method": "ping", "args": {}, "version": "1.0", "namespace": "other"`,
		"arguments":       `{"method": "ping", "args": {"x": 1}, "version": "1.0"`,
		"list of them":    `{"method": "ping", "args": [1], "version": "1.0"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bus := newTap()
				var events []rpc.Event
				var log bytes.Buffer
				serveOn(t, bus, rpc.ServerConfig{
					Endpoints: pinging(), Observe: func(e rpc.Event) { events = append(events, e) }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				settled := bus.deliver(rpc.Delivery{Body: []byte(body + `, "_msg_id": "m1", "_reply_q": "reply_of_1"}`)})
				if r := decodeReply(t, <-bus.sent); r.Failure == nil {
					t.Error("answered without a failure")
				}
				same(t, "settled", []bool{true}, settled.all())
				if len(events) != 1 || events[0].Kind != rpc.EventRefused || events[0].MessageID != "m1" || events[0].Err == nil {
					t.Errorf("events: %+v", events)
				}
				if strings.Count(log.String(), "rpc request refused") != 1 || !strings.Contains(log.String(), "message_id=m1") {
					t.Errorf("log: %s", &log)
				}
			})
		})
	}
}

// TestUselessRepliesAreCounted: replies to nobody and replies that cannot be read, with their ids.
func TestUselessRepliesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var events []rpc.Event
		var log bytes.Buffer
		to := remoteOf(bus)
		to.Client = rpc.NewClient(bus, rpc.ClientConfig{Observe: func(e rpc.Event) { events = append(events, e) }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		defer closeClient(t, to)
		r, wait := call(t, t.Context(), bus, to)
		bus.deliver(reply("stray", `"result": 1, "failure": null, "ending": true`))
		bus.deliver(reply("deep", `"result": `+strings.Repeat("[", 10000)+strings.Repeat("]", 10000)+`, "ending": true`))
		bus.deliver(reply(r.MsgID, `"result": "x", "failure": null, "ending": true`))
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(events) != 2 || events[0].Kind != rpc.EventStray || events[0].MessageID != "stray" ||
			events[1].Kind != rpc.EventRejected || events[1].MessageID != "deep" {
			t.Errorf("events: %+v", events)
		}
		for _, id := range []string{"message_id=stray", "message_id=deep"} {
			if strings.Count(log.String(), id) != 1 {
				t.Errorf("%s is logged %d times", id, strings.Count(log.String(), id))
			}
		}
	})
}

// TestReplyTooLarge: a reply that is larger than this process reads ends its call at once, and no other.
func TestReplyTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		to := remoteOf(bus)
		defer closeClient(t, to)
		large, waitLarge := call(t, t.Context(), bus, to)
		small, waitSmall := call(t, t.Context(), bus, to)
		start := time.Now()
		d := reply(large.MsgID, `"result": "x", "failure": null, "ending": true`)
		d.Invalid = &rpc.TooLargeError{Size: 5, Limit: 4}
		settled := bus.deliver(d)
		_, err := waitLarge()
		if _, ok := errors.AsType[*rpc.TooLargeError](err); !ok || errors.Is(err, rpc.ErrNacked) || !strings.Contains(err.Error(), "ping") {
			t.Errorf("the call ended with %v", err)
		}
		same(t, "settled", []bool{false}, settled.all())
		bus.deliver(reply(small.MsgID, `"result": "y", "failure": null, "ending": true`))
		if got, err := waitSmall(); err != nil || got != "y" {
			t.Errorf("the other call: %q, %v", got, err)
		}
		same(t, "time", time.Duration(0), time.Since(start))
	})
}
