package rpc_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// forgetful is a broker that confirms every request and loses it when it restarts.
type forgetful struct {
	bodies   chan []byte
	receiver chan rpc.Receiver
	answer   func(n int) error // what the sender of the n-th message is told
	n        int
}

func (f *forgetful) Send(_ context.Context, m rpc.Message, done func(error)) {
	f.n++
	f.bodies <- m.Body
	done(f.answer(f.n))
}

func (f *forgetful) Listen(ctx context.Context, _ rpc.Source, r rpc.Receiver) error {
	r.Listening(true)
	f.receiver <- r
	<-ctx.Done()
	r.Listening(false)
	return nil
}

func (f *forgetful) NewReplyQueue() string { return "reply_1" }

func TestIdempotentCallIsSentAgainAfterALoss(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method *rpc.Method[struct{}, rpc.Null]
		want   int
	}{
		"idempotent": {rpc.NewMethod[struct{}, rpc.Null]("m", "1.0").Idempotent(), 3},
		"once":       {rpc.NewMethod[struct{}, rpc.Null]("m", "1.0"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// The first copy after the restart finds no queue: the server is not back yet.
				f := &forgetful{bodies: make(chan []byte, 10), receiver: make(chan rpc.Receiver, 1), answer: func(n int) error {
					if n == 2 {
						return &rpc.UndeliverableError{RoutingKey: "t"}
					}
					return nil
				}}
				client := rpc.NewClient(f, rpc.ClientConfig{})
				defer client.Close(t.Context())
				go func() {
					r := <-f.receiver
					time.Sleep(time.Second)
					r.Listening(false)
					r.Listening(true)
				}()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				_, err := c.method.Call(ctx, rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}, struct{}{})
				if err == nil {
					t.Error("a call without a reply succeeded")
				}
				if len(f.bodies) != c.want {
					t.Fatalf("sent %d times, want %d", len(f.bodies), c.want)
				}
				first := <-f.bodies
				for range c.want - 1 {
					if copied := <-f.bodies; !bytes.Equal(first, copied) {
						t.Errorf("a copy differs, so a server could not recognise it:\n%s\n%s", first, copied)
					}
				}
			})
		})
	}
}

// TestLossRightAfterSending: the loss is noticed even if listening was renewed before the caller began to wait.
func TestLossRightAfterSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &forgetful{bodies: make(chan []byte, 10), receiver: make(chan rpc.Receiver, 1)}
		f.answer = func(n int) error {
			if n == 1 {
				r := <-f.receiver
				r.Listening(false)
				r.Listening(true)
			}
			return nil
		}
		client := rpc.NewClient(f, rpc.ClientConfig{Timeout: time.Second})
		defer client.Close(t.Context())
		m := rpc.NewMethod[struct{}, rpc.Null]("m", "1.0").Idempotent()
		if _, err := m.Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}, struct{}{}); err == nil {
			t.Error("a call without a reply succeeded")
		}
		if len(f.bodies) != 2 {
			t.Errorf("sent %d times, want 2", len(f.bodies))
		}
	})
}
