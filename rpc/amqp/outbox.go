package amqp

import (
	"context"
	"slices"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
)

// outboxLimit is how many messages may wait for a broker; more are refused at once, so that memory stays bounded.
const outboxLimit = 1 << 16

// item is a message on its way. It is in exactly one place at a time: the outbox, the writer's hand, the settler's queue or
// the list to be sent again; that place completes it or hands it over.
type item struct {
	rpc.Message
	ctx      context.Context
	deadline time.Time // when TTL is over; zero = never
	done     func(error)
	stop     func() bool // forgets the watch on ctx; nil = none
	confirm  *amqp091.DeferredConfirmation
	wire     []byte // the body as published
}

// remaining is what is left of the message's TTL; ok is false when nothing is.
func (i *item) remaining() (left time.Duration, ok bool) {
	if i.deadline.IsZero() {
		return 0, true
	}
	left = time.Until(i.deadline)
	return left, left > 0
}

// abandoned is what the sender of an item is told when its context ended before the item could be sent, or sent again.
func (i *item) abandoned() error {
	if i.confirm != nil {
		return rpc.ErrUnconfirmed
	}
	return context.Cause(i.ctx)
}

// outbox holds what the writer has not taken yet, first in, first out.
type outbox struct {
	mu       sync.Mutex
	items    []*item
	closed   bool
	watching bool          // nothing is taken now: contexts that end are noticed at once
	wake     chan struct{} // holds one token while there may be something to take
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1), watching: true} }

// watch says whether waiting items must notice the end of their contexts by themselves. While the writer takes them it
// looks itself, and the watch, which is not cheap, is spared.
func (o *outbox) watch(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watching = on
	for _, i := range o.items {
		if on && i.stop == nil {
			o.watchItem(i)
		}
	}
}

func (o *outbox) watchItem(i *item) {
	if i.ctx.Done() != nil {
		i.stop = context.AfterFunc(i.ctx, func() { o.abandon(i) })
	}
}

// put adds an item and completes it if that is not possible.
func (o *outbox) put(i *item) {
	o.mu.Lock()
	var refused error
	switch {
	case o.closed:
		refused = rpc.ErrClosed
	case len(o.items) >= outboxLimit:
		refused = rpc.ErrNacked
	default:
		o.items = append(o.items, i)
		if o.watching {
			o.watchItem(i)
		}
	}
	o.mu.Unlock()
	if refused != nil {
		i.done(refused)
		return
	}
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns the oldest item, or nil when there is none.
func (o *outbox) take() *item {
	o.mu.Lock()
	if len(o.items) == 0 {
		o.mu.Unlock()
		return nil
	}
	i := o.items[0]
	o.items[0] = nil
	o.items = o.items[1:]
	if len(o.items) > 0 {
		o.signal()
	} else {
		o.items = nil
	}
	stop := i.stop
	o.mu.Unlock()
	if stop != nil {
		stop()
	}
	return i
}

// abandon completes an item that still waits when its context ends.
func (o *outbox) abandon(i *item) {
	o.mu.Lock()
	n := slices.Index(o.items, i)
	if n >= 0 {
		o.items = slices.Delete(o.items, n, n+1)
	}
	o.mu.Unlock()
	if n >= 0 {
		i.done(context.Cause(i.ctx))
	}
}

// close refuses further items and completes the waiting ones with err.
func (o *outbox) close(err error) {
	o.mu.Lock()
	rest := o.items
	o.items, o.closed = nil, true
	o.mu.Unlock()
	for _, i := range rest {
		if i.stop != nil {
			i.stop()
		}
		i.done(err)
	}
}
