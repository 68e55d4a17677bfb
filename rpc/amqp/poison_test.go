//go:build unix

package amqp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// TestIntegrationImpossibleReplyQueue: a request that wants its answer in a queue no broker can have does not take the
// publishing connection down.
func TestIntegrationImpossibleReplyQueue(t *testing.T) {
	tr, _ := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	ep := rpc.NewEndpoint("", "1.0")
	ping := rpc.NewMethod[struct{}, string]("ping", "1.0")
	ping.Handle(ep, func(context.Context, struct{}) (string, error) { return "pong", nil })
	stop := serving(t, tr, topic, ep)
	body := fmt.Appendf(nil, `{"method": "ping", "args": {}, "version": "1.0", "_msg_id": "1", "_reply_q": "%s"}`, strings.Repeat("q", 256))
	must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: topic}, Body: body}))
	client := rpc.NewClient(tr, rpc.ClientConfig{Timeout: 5 * time.Second})
	for range 2 {
		if got, err := ping.Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}, struct{}{}); err != nil || got != "pong" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: strings.Repeat("t", 256)}, Body: []byte("{}")}); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("a topic of 256 bytes: %v", err)
	}
	must(t, client.Close(t.Context()))
	stop()
	cleanTopic(t, topic)
}

// TestIntegrationOverTheBrokersLimit: a request or an answer larger than the broker admits fails at once, with both sizes,
// and is not sent again for ever.
func TestIntegrationOverTheBrokersLimit(t *testing.T) {
	n := startNode(t)
	n.ctl("eval", "application:set_env(rabbit, max_message_size, 1048576).")
	tr := open(t, n.oslo(n.address()))
	type size struct {
		N   int    `json:"n"`
		Pad string `json:"pad"`
	}
	ep := rpc.NewEndpoint("", "1.0")
	fill := rpc.NewMethod[size, string]("fill", "1.0").Idempotent()
	fill.Handle(ep, func(_ context.Context, s size) (string, error) { return strings.Repeat("x", s.N), nil })
	stop := serving(t, tr, "limit", ep)
	client := rpc.NewClient(tr, rpc.ClientConfig{Timeout: 10 * time.Second})
	to := rpc.Remote{Client: client, Target: rpc.Target{Topic: "limit"}}
	tooLarge := func(when string) {
		start := time.Now()
		_, err := fill.Call(t.Context(), to, size{Pad: strings.Repeat("x", 2<<20)})
		if e, ok := errors.AsType[*rpc.TooLargeError](err); !ok || e.Limit != 1<<20 || !errors.Is(err, rpc.ErrNacked) || time.Since(start) > time.Second {
			t.Errorf("a large request, %s, after %s: %v", when, time.Since(start), err)
		}
	}
	tooLarge("alone")
	// While others publish, one of them finds the channel closed before the reason is known.
	busy, idle := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range 16 {
		others.Go(func() {
			for busy.Err() == nil {
				if _, err := fill.Call(t.Context(), to, size{N: 3}); err != nil {
					t.Errorf("a call beside large requests: %v", err)
				}
			}
		})
	}
	for range 20 {
		tooLarge("among others")
	}
	idle()
	others.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := fill.Call(ctx, to, size{N: 2 << 20}); !errors.Is(err, rpc.Class{Module: "builtins", Name: "RuntimeError"}) || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("a large answer: %d bytes, %v", len(got), err)
	}
	if got, err := fill.Call(t.Context(), to, size{N: 3}); err != nil || got != "xxx" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	must(t, client.Close(t.Context()))
	stop()
}

// TestIntegrationOverOurLimit: an answer that the broker takes and this client does not read ends the call at once.
func TestIntegrationOverOurLimit(t *testing.T) {
	tr, _ := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	ep := rpc.NewEndpoint("", "1.0")
	fill := rpc.NewMethod[struct{}, string]("fill", "1.0")
	fill.Handle(ep, func(context.Context, struct{}) (string, error) { return strings.Repeat("x", 64<<20), nil })
	stop := serving(t, tr, topic, ep)
	client := rpc.NewClient(tr, rpc.ClientConfig{Timeout: 30 * time.Second})
	got, err := fill.Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}, struct{}{})
	if tooLarge, ok := errors.AsType[*rpc.TooLargeError](err); !ok || tooLarge.Limit != 64<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, client.Close(t.Context()))
	stop()
	cleanTopic(t, topic)
}
