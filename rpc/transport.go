package rpc

import (
	"context"
	"sync/atomic"
	"time"
)

// Transport is the seam between this package and a message broker. It moves encoded bodies and knows nothing about calls,
// replies or versions. Two verbs are enough because everything else can be built on them once, for every broker.
//
// A Transport may also implement interface{ Impediment() error }: nil while messages can be sent, otherwise the reason why
// they cannot. It serves the text of a [TimeoutError].
type Transport interface {
	// Send hands a message over and returns at once. done is called exactly once, from any goroutine and possibly before
	// Send returns, never under a lock of the transport; it must not block. Its argument is nil when the broker has taken
	// the message and put it into at least one queue (a fanout message needs none), otherwise an [*UndeliverableError],
	// [ErrNacked], [ErrUnconfirmed], [ErrClosed], the reason why the broker refuses the exchange, or, if ctx ended while the
	// message was still waiting to be sent, the cause.
	// Two messages sent to one queue one after the other arrive in that order while nothing breaks.
	Send(ctx context.Context, m Message, done func(error))
	// Listen declares what s describes, consumes it and hands deliveries to r, one after the other. It blocks and survives
	// the loss of the connection; it ends only with ctx, after deleting the queues that belong to this listener alone, and
	// then returns nil, or earlier with an error if s cannot be served at all or the transport is closed.
	Listen(ctx context.Context, s Source, r Receiver) error
	// NewReplyQueue returns a name for a reply queue, unique on the broker.
	NewReplyQueue() string
}

// Message is a message to send. Its body must not be changed after Send.
type Message struct {
	To   Address
	Body []byte
	// TTL is how long the message may wait, from Send until a server takes it; 0 means for ever.
	TTL time.Duration
	// Resend allows sending the message again when its confirmation was lost. Without it a message that may have reached a
	// queue is never sent again.
	Resend bool
	// Progress, if not nil, is told when the message is written.
	Progress *Progress
}

// Progress tells how far a message got; the zero value is ready.
type Progress struct {
	began time.Time    // what sent counts from
	sent  atomic.Int64 // nanoseconds until the message was last given to the broker; 0 = not yet
}

// MarkSent is called by the transport when the message has been given to the broker.
func (p *Progress) MarkSent() {
	if p != nil {
		p.sent.Store(max(1, int64(time.Since(p.began))))
	}
}

// Sent reports whether the message has been given to the broker.
func (p *Progress) Sent() bool { return p.sent.Load() != 0 }

// ago is how long ago the message was last given to the broker, which it was.
func (p *Progress) ago() time.Duration { return time.Since(p.began) - time.Duration(p.sent.Load()) }

// Address says where a message goes: to a reply queue, or to a topic, one server of it, or all.
type Address struct {
	Exchange, Topic, Server string
	Fanout                  bool
	// Queue, if set, is a reply queue and the only field in use.
	Queue string
}

// Source says what to consume: either a reply queue, or the queues of one server of a topic: the topic's, the server's and
// one for fanout messages.
type Source struct {
	Exchange, Topic, Server string
	ReplyQueue              string
	// Prefetch is the number of deliveries that may be unsettled at a time; 0 means no limit.
	Prefetch int
}

// Receiver takes what a listener consumes. Both methods are called from one goroutine.
type Receiver interface {
	// Listening tells that consumption has begun (true) or was interrupted or ended (false).
	Listening(up bool)
	// Deliver takes a delivery. It may block: that is the back-pressure. ctx ends when the listener is to stop.
	Deliver(ctx context.Context, d Delivery)
}

// Delivery is a message from a queue.
type Delivery struct {
	// Body is the receiver's to keep, and not to change.
	Body []byte
	// TTL is how long the sender waits at the most, counted from the call of Deliver; 0 means no limit. In memory it is what
	// the message had left then; over AMQP it is what it was sent with, whatever it has spent of that in its queue, where the
	// broker sees to it, and in the library's buffer behind deliveries that block, where nobody does.
	TTL time.Duration
	// Invalid, if not nil, says why the body must not be acted upon, such as a wrong content type. The receiver may still
	// look into it to answer the sender, and then rejects it.
	Invalid error
	// Settle acknowledges the message (true) or rejects it without requeue (false). It is called at most once, before
	// Deliver returns. A message that is not settled goes back into its queue when listening ends or the connection is lost.
	// An error means that somebody else will get it.
	Settle func(ok bool) error
}
