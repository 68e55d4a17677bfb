package rpc_test

import (
	"context"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// tap is a transport whose other end is the test: what is sent comes out of sent, and the test delivers what it likes.
type tap struct {
	sent  chan rpc.Message
	inbox chan rpc.Delivery
	// outcome is what a sent message is completed with.
	outcome func(rpc.Message) error
}

func newTap() *tap {
	return &tap{sent: make(chan rpc.Message, 4096), inbox: make(chan rpc.Delivery), outcome: func(rpc.Message) error { return nil }}
}

func (t *tap) Send(_ context.Context, m rpc.Message, done func(error)) {
	m.Progress.MarkSent()
	t.sent <- m
	done(t.outcome(m))
}

func (t *tap) Listen(ctx context.Context, _ rpc.Source, r rpc.Receiver) error {
	r.Listening(true)
	defer r.Listening(false)
	for {
		select {
		case d := <-t.inbox:
			r.Deliver(ctx, d)
		case <-ctx.Done():
			return nil
		}
	}
}

func (t *tap) NewReplyQueue() string { return "reply_0123456789abcdef0123456789abcdef" }

// settlement is what became of a delivery.
type settlement struct {
	mu       sync.Mutex
	outcomes []bool
}

func (s *settlement) settle(ok bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, ok)
	return nil
}

// all waits until nothing moves any more and gives the outcomes.
func (s *settlement) all() []bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.outcomes)
}

// deliver hands a body over and returns what became of it, to be looked at when it has been settled.
func (t *tap) deliver(d rpc.Delivery) *settlement {
	s := &settlement{}
	d.Settle = s.settle
	t.inbox <- d
	return s
}

// pause lets the time of a bubble pass.
func pause(d time.Duration) { <-time.After(d) }
