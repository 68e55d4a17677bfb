package rpc_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// TestHeartbeats: every half of the timeout, cut to whole seconds first, and none after the answer, whatever that is.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]int{
		"4": 2, "4.9": 2, `"4"`: 2, "2": 4, "3": 3, "1": 0, "0": 0, "-5": 0, "1.9": 0, "null": 0, `"abc"`: 0, "true": 0, "1e9": 0, "[]": 0,
	} {
		for _, method := range []string{"slow", "nope"} {
			synctest.Test(t, func(t *testing.T) {
				bus := newTap()
				serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("slow", func(context.Context) (string, error) {
					pause(4900 * time.Millisecond)
					return "slept", nil
				})}})
				bus.deliver(rpc.Delivery{Body: request(method, "1", `, "_timeout": `+timeout)})
				pause(time.Minute)
				beats := 0
				for len(bus.sent) > 1 {
					r := decodeReply(t, <-bus.sent)
					same(t, "heartbeat", &wire.Reply{MsgID: "1"}, r)
					beats++
				}
				if method == "nope" {
					want = 0
				}
				same(t, "heartbeats for timeout "+timeout, want, beats)
				same(t, "ending", true, decodeReply(t, <-bus.sent).Ending)
			})
		}
	}
}

func TestHeartbeatsEndWithTheirQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		bus.outcome = func(rpc.Message) error { return rpc.ErrUndeliverable }
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("slow", func(context.Context) (string, error) {
			pause(time.Minute)
			return "", nil
		})}})
		bus.deliver(rpc.Delivery{Body: request("slow", "1", `, "_timeout": 2`)})
		pause(59 * time.Second)
		same(t, "heartbeats", 1, len(bus.sent))
	})
}
