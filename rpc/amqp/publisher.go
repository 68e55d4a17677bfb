package amqp

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// window is how many messages may be written and not yet settled.
const window = 1024

// maxName is the size of the longest name in AMQP, in bytes. A client's message may ask for replies to a longer one.
const maxName = 255

// publisher sends everything over one link. The link's goroutine writes; a settler waits for confirms and returns.
type publisher struct {
	link   *link
	outbox *outbox
	drain  chan struct{} // closed when what is in the outbox shall be sent and then nothing more
	done   chan struct{} // closed when the link has ended

	// Both belong to the link's goroutine and outlive a session.
	head   *item   // its publish failed: it was not delivered and comes first
	resend []*item // written, not confirmed, and allowed to be sent again, or certainly not delivered
	// refused holds by exchange why the broker last refused its declaration or a message; each reason is logged once.
	refused map[string]error
}

func newPublisher(config *resolved) *publisher {
	p := &publisher{outbox: newOutbox(), drain: make(chan struct{}), done: make(chan struct{}), refused: map[string]error{}}
	p.link = newLink("publish", config, p.session)
	return p
}

// run keeps the link until ctx ends and completes what is left then.
func (p *publisher) run(ctx context.Context) {
	defer close(p.done)
	p.link.run(ctx)
	p.outbox.close(rpc.ErrClosed)
	if p.head != nil {
		p.head.done(rpc.ErrClosed)
	}
	for _, i := range p.resend {
		if i.confirm != nil {
			i.done(rpc.ErrUnconfirmed)
		} else {
			i.done(rpc.ErrClosed)
		}
	}
	p.head, p.resend = nil, nil
}

// session publishes until the connection is lost, or until everything is sent once draining began.
func (p *publisher) session(ctx context.Context, c *conn, ready func()) error {
	c.blocked = c.amqp.NotifyBlocked(make(chan amqp091.Blocking, 8))
	returns := c.channel.NotifyReturn(make(chan amqp091.Return, window))
	err := c.do("prepare publishing", func() error {
		if err := p.link.declareExchange(c, p.link.config.Options.TopicExchange(p.link.config.ControlExchange)); err != nil {
			return err
		}
		return c.channel.Confirm(false)
	})
	if err != nil {
		return err
	}
	s := newSettler(c, returns, p.link.config.Observe)
	go s.run()
	ready()
	p.outbox.watch(false)
	defer p.outbox.watch(true)
	w := writer{publisher: p, conn: c, settler: s, declared: map[string]bool{p.link.config.ControlExchange: true}}
	err = w.run(ctx)
	close(s.queue)
	if err != nil || ctx.Err() != nil {
		c.kill() // lets the settler see the end of every confirmation
		err = c.cause(err)
	}
	<-s.finished
	p.collect(s.unsettled, err)
	return err
}

// next is the item to send now, or nil.
func (p *publisher) next() *item {
	if i := p.head; i != nil {
		p.head = nil
		return i
	}
	if len(p.resend) > 0 {
		i := p.resend[0]
		p.resend = p.resend[1:]
		return i
	}
	return p.outbox.take()
}

// writer is the link's goroutine during a session.
type writer struct {
	*publisher
	conn     *conn
	settler  *settler
	declared map[string]bool // exchanges known on this connection
	blocked  bool
}

func (w *writer) run(ctx context.Context) error {
	yielded := false
	for {
		if !w.blocked {
			sent, err := w.step(ctx)
			if err != nil {
				return err
			}
			if sent {
				yielded = false
				continue
			}
			if !yielded { // who is about to send gets into the same write
				yielded = true
				runtime.Gosched()
				continue
			}
		}
		if err := w.conn.socket.release(); err != nil { // nor may a heartbeat be held back while this waits
			return err
		}
		if !w.blocked && w.draining() {
			return w.flush(ctx)
		}
		if over, err := w.wait(ctx); over {
			return err
		}
	}
}

// step sends one item if there is one, after looking whether the connection still stands.
func (w *writer) step(ctx context.Context) (sent bool, err error) {
	select {
	case b, ok := <-w.conn.blocked:
		if ok {
			w.block(b)
			return true, nil
		}
	case e := <-w.conn.refused:
		return false, reason(e)
	default:
	}
	i := w.next()
	if i == nil {
		return false, nil
	}
	return true, w.send(ctx, i)
}

// wait sleeps until there is something to do.
func (w *writer) wait(ctx context.Context) (over bool, err error) {
	drain := w.drain
	if w.draining() {
		drain = nil
	}
	select {
	case <-ctx.Done():
		return true, nil
	case e := <-w.conn.refused:
		return true, reason(e)
	case b, ok := <-w.conn.blocked:
		if !ok {
			return true, reason(<-w.conn.refused)
		}
		w.block(b)
	case <-w.outbox.wake:
	case <-drain:
	}
	return false, nil
}

func (w *writer) draining() bool {
	select {
	case <-w.drain:
		return true
	default:
		return false
	}
}

// flush waits for the outstanding confirms at the end of a drained session.
func (w *writer) flush(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		w.settler.waitIdle()
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	case e := <-w.conn.refused:
		return reason(e)
	}
	w.conn.kill()
	<-idle
	return errLost
}

func (w *writer) block(b amqp091.Blocking) {
	w.blocked = b.Active
	w.outbox.watch(b.Active)
	state, kind := StateUp, rpc.EventUnblocked
	var err error
	if b.Active {
		state, kind, err = StateBlocked, rpc.EventBlocked, errors.New("broker blocked publishing: "+b.Reason)
		w.link.config.Logger.Warn("the broker takes no messages", "link", w.link.name, "reason", b.Reason)
	} else {
		w.link.config.Logger.Info("the broker takes messages again", "link", w.link.name)
	}
	w.link.enter(state, "", err)
	w.link.config.Observe(rpc.Event{Kind: kind, Link: w.link.name, Err: err})
}

// send publishes an item and hands it to the settler. On an error the item was not delivered and is kept as the head.
func (w *writer) send(ctx context.Context, i *item) error {
	if i.ctx.Err() != nil {
		i.done(i.abandoned())
		return nil
	}
	left, ok := i.remaining()
	if !ok {
		i.done(context.DeadlineExceeded)
		return nil
	}
	exchange, key, mandatory := w.route(i.To)
	if len(exchange) > maxName || len(key) > maxName { // such a queue cannot exist, and the library would drop the connection
		i.done(&rpc.UndeliverableError{Exchange: exchange, RoutingKey: key})
		return nil
	}
	if err := w.declare(i.To, exchange); err != nil {
		if refusal := asRefusal(err); refusal != nil { // which concerns no other message
			w.tell(exchange, refusal)
			i.done(refusal)
			return nil
		}
		w.head = i
		return err
	}
	message, err := w.message(i, left)
	if err != nil {
		i.done(err)
		return nil
	}
	if err := w.reserve(ctx); err != nil {
		w.head = i
		return err
	}
	w.conn.socket.hold()
	confirm, err := w.conn.channel.PublishWithDeferredConfirm(exchange, key, mandatory, false, message)
	if err != nil {
		w.settler.release()
		w.head = i
		return err
	}
	i.confirm = confirm
	i.Progress.MarkSent()
	w.settler.queue <- settling{item: i, exchange: exchange, key: key}
	return nil
}

// reserve takes a slot of the window. It waits for the broker to settle something, which it may never do while the connection
// stands, and so for the end as well.
func (w *writer) reserve(ctx context.Context) error {
	select {
	case w.settler.slots <- struct{}{}:
		return nil
	default:
	}
	if err := w.conn.socket.release(); err != nil {
		return err
	}
	blocked := w.conn.blocked
	for {
		select {
		case w.settler.slots <- struct{}{}:
			return nil
		case e := <-w.conn.refused:
			return reason(e)
		case b, ok := <-blocked:
			if !ok {
				blocked = nil // the reason is on its way
				continue
			}
			w.block(b)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// route gives exchange and routing key of an address; a fanout nobody hears is no error, so it is not mandatory.
func (p *publisher) route(to rpc.Address) (exchange, key string, mandatory bool) {
	exchange = to.Exchange
	if exchange == "" {
		exchange = p.link.config.ControlExchange
	}
	switch {
	case to.Queue != "":
		return "", to.Queue, true
	case to.Fanout:
		return p.link.config.Options.FanoutExchange(to.Topic).Name, "", false
	case to.Server != "":
		return exchange, to.Topic + "." + to.Server, true
	}
	return exchange, to.Topic, true
}

// declare makes sure that an exchange exists before the first message of this connection goes there: publishing to a
// missing one would close the channel.
func (w *writer) declare(to rpc.Address, exchange string) error {
	if exchange == "" || w.declared[exchange] {
		return nil
	}
	x := w.link.config.Options.TopicExchange(exchange)
	if to.Fanout {
		x = w.link.config.Options.FanoutExchange(to.Topic)
	}
	if err := w.conn.declareAside(x); err != nil {
		return err
	}
	// A fanout exchange disappears with its last queue, so it is declared before every message.
	w.declared[exchange] = !to.Fanout
	if _, write := errors.AsType[*AccessError](w.refused[exchange]); !write { // which declaring it says nothing about
		delete(w.refused, exchange)
	}
	return nil
}

// tell reports that the broker refuses an exchange, once per reason.
func (p *publisher) tell(exchange string, refusal error) {
	if last := p.refused[exchange]; last != nil && last.Error() == refusal.Error() {
		return
	}
	p.refused[exchange] = refusal
	p.link.config.Logger.Error("messages to an exchange fail: the broker refuses it", "link", p.link.name, "exchange", exchange, "error", refusal)
	p.link.config.Observe(rpc.Event{Kind: rpc.EventMismatch, Link: p.link.name, Queue: exchange, Err: refusal})
}

// message is the body with the properties that every oslo.messaging message has.
func (w *writer) message(i *item, left time.Duration) (amqp091.Publishing, error) {
	p := amqp091.Publishing{
		Headers: amqp091.Table{}, ContentType: wire.ContentType, ContentEncoding: wire.ContentEncoding, DeliveryMode: amqp091.Persistent, Body: i.Body,
	}
	if w.link.config.Options.Compression == "gzip" {
		body, err := wire.Compress(i.Body)
		if err != nil {
			return p, err
		}
		p.Body = body
		p.Headers[wire.CompressionHeader] = wire.Gzip
	}
	if left > 0 {
		p.Expiration = strconv.FormatInt(max(left.Milliseconds(), 1), 10)
	}
	i.wire = p.Body
	return p, nil
}
