package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

const (
	defaultTimeout = 60 * time.Second
	// routeRetry is the time between two attempts to send what no queue takes.
	routeRetry = 250 * time.Millisecond
	// asideSize is the size of a reply above which it is decoded in a goroutine of its own, so that others are not held up.
	asideSize = 1 << 20
)

// ClientConfig configures a [Client]; the zero value is usable.
type ClientConfig struct {
	// Serializer encodes arguments and decodes results; nil means [JSON].
	Serializer Serializer
	// Exceptions makes the program's own errors from remote ones; nil leaves them as [*RemoteError].
	Exceptions Exceptions
	// Timeout bounds calls whose context has no deadline and whose remote has no timeout; 0 means 60 s (rpc_response_timeout).
	Timeout time.Duration
	// RouteWait is how long a call or cast that no queue takes is tried again; 0 fails it at once. It suits calls to a topic
	// whose servers may be restarting; requests to a named server always fail at once.
	RouteWait time.Duration
	// Interceptors run around every call, the first outermost.
	Interceptors []Interceptor
	// Logger gets replies that cannot be used; nil discards.
	Logger *slog.Logger
	// Observe is told of events; nil means nobody.
	Observe func(Event)
}

// Client sends requests over a transport and receives the replies in one queue, which it opens with the first call. One
// client serves any number of remotes.
type Client struct {
	transport  Transport
	cfg        ClientConfig
	serializer Serializer
	timeout    time.Duration
	log        *slog.Logger

	closed  chan struct{}
	replies replyListener
}

// NewClient makes a client. It starts nothing until the first call.
func NewClient(t Transport, cfg ClientConfig) *Client {
	c := &Client{transport: t, cfg: cfg, serializer: cfg.Serializer, timeout: cfg.Timeout, log: cfg.Logger, closed: make(chan struct{})}
	if c.serializer == nil {
		c.serializer = JSON{}
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.replies.init(c)
	return c
}

// Close fails the calls that still wait with [ErrClosed] and deletes the reply queue. It returns when that is done, or with
// the cause of ctx's end. It does not close the transport.
func (c *Client) Close(ctx context.Context) error {
	done := c.replies.close()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Client) observe(e Event) {
	if c.cfg.Observe != nil {
		c.cfg.Observe(e)
	}
}

// replyListener consumes the reply queue and hands the replies to those who wait.
type replyListener struct {
	client *Client
	queue  string

	up      atomic.Bool
	running sync.WaitGroup // the listener, and replies being decoded aside
	large   chan struct{}  // closed when the last large reply was handed over; only used by the listener's goroutine

	mu      sync.Mutex
	stop    context.CancelFunc // nil until the first call
	isUp    chan struct{}      // closed while up
	renewed chan struct{}      // closed, and replaced, when listening begins again after a loss
	failed  error              // why listening ended for good
	closing bool
	waiters map[string]*waiter
}

func (l *replyListener) init(c *Client) {
	l.client = c
	l.isUp = make(chan struct{})
	l.renewed = make(chan struct{})
	l.waiters = map[string]*waiter{}
}

// open starts the listener if need be and waits until it consumes.
func (l *replyListener) open(ctx context.Context) error {
	if l.up.Load() {
		return nil
	}
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return ErrClosed
	}
	if l.stop == nil {
		l.start()
	}
	isUp := l.isUp
	l.mu.Unlock()
	select {
	case <-isUp:
		return nil
	case <-l.client.closed:
		return l.reason()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *replyListener) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.queue = l.client.transport.NewReplyQueue()
	l.running.Go(func() {
		err := l.client.transport.Listen(ctx, Source{ReplyQueue: l.queue}, l)
		if ctx.Err() == nil {
			l.fail(err)
		}
	})
}

// fail ends the client because there will be no replies any more.
func (l *replyListener) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	l.closing = true
	l.failed = ErrClosed
	if err != nil && !errors.Is(err, ErrClosed) {
		l.failed = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	close(l.client.closed)
}

func (l *replyListener) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// close ends the listener and returns a channel that is closed when it has ended.
func (l *replyListener) close() <-chan struct{} {
	l.fail(nil)
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the listener
		l.running.Wait()
		close(done)
	}()
	return done
}

// Listening implements [Receiver].
func (l *replyListener) Listening(up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if up == l.up.Load() {
		return
	}
	l.up.Store(up)
	if !up {
		l.isUp = make(chan struct{})
		return
	}
	close(l.isUp)
	close(l.renewed)
	l.renewed = make(chan struct{})
}

// renewal is closed when listening begins again after it was lost. A broker that restarted has lost what stood in its
// queues, confirmed or not.
func (l *replyListener) renewal() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewed
}

// Deliver implements [Receiver]. A reply is settled before it is looked at: if that fails it comes again, and then finds
// nobody waiting.
func (l *replyListener) Deliver(_ context.Context, d Delivery) {
	if d.Invalid != nil {
		_ = d.Settle(false)
		var reply wire.Reply
		reply.Salvage(d.Body)
		l.reject(reply.MsgID, d.Invalid)
		if tooLarge, ok := errors.AsType[*TooLargeError](d.Invalid); ok {
			l.giveUp(reply.MsgID, fmt.Errorf("the answer cannot be read: %w", tooLarge))
		}
		return
	}
	_ = d.Settle(true)
	if len(d.Body) > asideSize {
		l.takeAside(d.Body)
		return
	}
	reply, ok := l.decode(d.Body)
	switch {
	case !ok:
	case reply.Ending && reply.Result == nil && reply.Failure == nil && l.busy():
		// The end of an answer in pieces, one of which may still be aside.
		large := l.large
		l.running.Go(func() {
			<-large
			l.take(reply)
		})
	default:
		l.take(reply)
	}
}

// takeAside decodes a large reply in a goroutine of its own. Large ones stay in order.
func (l *replyListener) takeAside(body []byte) {
	before, done := l.large, make(chan struct{})
	l.large = done
	l.running.Go(func() {
		defer close(done)
		reply, ok := l.decode(body)
		if before != nil {
			<-before
		}
		if ok {
			l.take(reply)
		}
	})
}

// busy reports whether a large reply is still aside.
func (l *replyListener) busy() bool {
	select {
	case <-l.large:
		l.large = nil
	default:
	}
	return l.large != nil
}

func (l *replyListener) decode(body []byte) (reply wire.Reply, ok bool) {
	if err := reply.Decode(body); err != nil {
		l.reject(reply.MsgID, err)
		return reply, false
	}
	return reply, true
}

func (l *replyListener) take(reply wire.Reply) {
	l.mu.Lock()
	w := l.waiters[reply.MsgID]
	if w != nil && w.merge(reply) {
		delete(l.waiters, reply.MsgID)
	}
	l.mu.Unlock()
	if w == nil {
		l.client.log.Info("reply to nobody", "message_id", reply.MsgID)
		l.client.observe(Event{Kind: EventStray, Link: "replies", Queue: l.queue, MessageID: reply.MsgID})
	}
}

func (l *replyListener) reject(id string, err error) {
	l.client.log.Warn("reply that cannot be used", "message_id", id, "queue", l.queue, "error", err)
	l.client.observe(Event{Kind: EventRejected, Link: "replies", Queue: l.queue, MessageID: id, Err: err})
}

// giveUp ends the wait for a reply that was there and could not be read.
func (l *replyListener) giveUp(id string, err error) {
	l.mu.Lock()
	w := l.waiters[id]
	delete(l.waiters, id)
	l.mu.Unlock()
	if w != nil {
		w.settle(err)
	}
}

func (l *replyListener) add(id string, w *waiter) {
	l.mu.Lock()
	l.waiters[id] = w
	l.mu.Unlock()
}

func (l *replyListener) remove(id string) {
	l.mu.Lock()
	delete(l.waiters, id)
	l.mu.Unlock()
}

// waiter is a call that waits, or a cast.
type waiter struct {
	wake      chan struct{} // of capacity one: there is something to take
	progress  Progress
	pending   atomic.Bool // the transport has the message
	confirmed atomic.Bool // the broker has it
	partial   wire.Reply  // guarded by the listener's mutex
	monitor   *time.Timer // nil without call monitoring
	period    time.Duration

	mu      sync.Mutex
	outcome error // of sending; meaningful when sent is set
	sent    bool
	reply   *wire.Reply // the complete answer
}

// merge adds an answer and reports whether it was the last. The last result or failure that is not null wins.
func (w *waiter) merge(r wire.Reply) bool {
	if w.monitor != nil {
		w.monitor.Reset(w.period)
	}
	if r.Failure != nil {
		w.partial.Failure = r.Failure
	}
	if r.Result != nil {
		w.partial.Result = r.Result
	}
	if r.Ending {
		w.mu.Lock()
		w.reply = &w.partial
		w.mu.Unlock()
		w.signal()
	}
	return r.Ending
}

// settle stores an outcome of sending that decides. If the one of an earlier copy is still unread, that says enough.
func (w *waiter) settle(err error) {
	w.mu.Lock()
	if !w.sent {
		w.outcome, w.sent = err, true
	}
	w.mu.Unlock()
	w.signal()
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take gives what was stored since the last call.
func (w *waiter) take() (reply *wire.Reply, sent bool, outcome error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent, w.sent = w.sent, false
	return w.reply, sent, w.outcome
}
