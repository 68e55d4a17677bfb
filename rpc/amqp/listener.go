package amqp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

const (
	ackBatch = 64                    // replies acknowledged at once, if the broker may send as many
	ackDelay = 50 * time.Millisecond // or after this long
)

// listener consumes the queues of one source over one link.
type listener struct {
	link     *link
	queues   []Queue
	prefetch int
	receiver rpc.Receiver
	batch    int   // replies acknowledged at once, since a redelivered one finds nobody waiting; 0 = each delivery at once
	offset   int64 // where the fanout stream is read on; 0 = at its last message
}

// maxBody is the largest body that is looked at, in bytes, compressed or not.
const maxBody = 64 << 20

// maxQueues is how many queues a source has at the most.
const maxQueues = 3

func newListener(config *resolved, s rpc.Source, r rpc.Receiver, fanout string) *listener {
	l := &listener{receiver: r, prefetch: s.Prefetch}
	name := "replies"
	if s.ReplyQueue != "" {
		l.queues = []Queue{config.Options.ReplyQueue(s.ReplyQueue)}
	} else {
		exchange := s.Exchange
		if exchange == "" {
			exchange = config.ControlExchange
		}
		name = s.Topic + "." + s.Server
		l.queues = config.Options.ServerQueues(exchange, s.Topic, s.Server, fanout)
	}
	if config.Options.Prefetch > 0 {
		l.prefetch = config.Options.Prefetch
	}
	if s.ReplyQueue != "" {
		l.batch = ackBatch
		if l.prefetch > 0 { // the broker must not wait for acknowledgements that wait for more deliveries
			l.batch = min(ackBatch, max(1, l.prefetch/2))
		}
	}
	l.link = newLink(name, config, l.session)
	return l
}

// consumer is the running session of a listener.
type consumer struct {
	*listener
	conn       *conn
	deliveries [maxQueues]<-chan amqp091.Delivery
	flush      <-chan time.Time // when the batch is acknowledged; nil = nothing waits
	unacked    int              // replies settled and not yet acknowledged
	lastTag    uint64           // of the latest of them
}

// session declares, consumes and delivers until the connection is lost or ctx ends; then it deletes the queues that belong
// to this listener alone. What was not settled goes back to the broker with the connection.
func (l *listener) session(ctx context.Context, c *conn, ready func()) error {
	k := &consumer{listener: l, conn: c}
	if err := c.do("declare and consume", k.start); err != nil {
		return err
	}
	ready()
	l.receiver.Listening(true)
	defer l.receiver.Listening(false)
	err := k.loop(ctx)
	if err != nil || ctx.Err() == nil {
		return err
	}
	return c.do("delete own queues", k.windUp)
}

func (k *consumer) start() error {
	for _, q := range k.queues {
		if err := k.declare(q); err != nil {
			return err
		}
	}
	if k.prefetch > 0 {
		if err := k.conn.channel.Qos(k.prefetch, 0, false); err != nil {
			return fmt.Errorf("set prefetch: %w", err)
		}
	}
	for i, q := range k.queues {
		args := amqp091.Table(q.Consume)
		if _, stream := args[streamOffset]; stream && k.offset > 0 {
			args = amqp091.Table{streamOffset: k.offset}
		}
		deliveries, err := k.conn.channel.Consume(q.Name, strconv.Itoa(i+1), false, false, false, false, args)
		if err != nil {
			return fmt.Errorf("consume %s: %w", q.Name, err)
		}
		k.deliveries[i] = deliveries
	}
	return nil
}

func (k *consumer) declare(q Queue) error {
	if q.Exchange != nil {
		if err := k.link.declareExchange(k.conn, *q.Exchange); err != nil {
			return fmt.Errorf("declare exchange %s: %w", q.Exchange.Name, err)
		}
	}
	if _, err := k.conn.channel.QueueDeclare(q.Name, q.Durable, q.AutoDelete, false, false, q.Arguments); err != nil {
		return fmt.Errorf("declare queue %s: %w", q.Name, err)
	}
	return k.bind(q)
}

func (k *consumer) bind(q Queue) error {
	if q.Exchange == nil {
		return nil
	}
	if err := k.conn.channel.QueueBind(q.Name, q.Key, q.Exchange.Name, false, nil); err != nil {
		return fmt.Errorf("bind queue %s: %w", q.Name, err)
	}
	return nil
}

// redeclare makes sure that exchanges and bindings are still there: their deletion is announced to nobody.
func (k *consumer) redeclare() error {
	for _, q := range k.queues {
		if q.Exchange == nil {
			continue
		}
		if err := k.link.declareExchange(k.conn, *q.Exchange); err != nil {
			return fmt.Errorf("declare exchange %s: %w", q.Exchange.Name, err)
		}
		if err := k.bind(q); err != nil {
			return err
		}
	}
	return nil
}

var errCancelled = errors.New("the broker cancelled the consumer: its queue was deleted")

func (k *consumer) loop(ctx context.Context) error {
	tick := time.NewTicker(k.link.config.Tick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-k.conn.refused:
			return reason(e)
		case <-tick.C:
			if err := k.conn.do("declare again", k.redeclare); err != nil {
				return err
			}
		case <-k.flush:
			if err := k.acknowledge(); err != nil {
				return err
			}
		case d, ok := <-k.deliveries[0]:
			if err := k.deliver(ctx, 0, d, ok); err != nil {
				return err
			}
		case d, ok := <-k.deliveries[1]:
			if err := k.deliver(ctx, 1, d, ok); err != nil {
				return err
			}
		case d, ok := <-k.deliveries[2]:
			if err := k.deliver(ctx, 2, d, ok); err != nil {
				return err
			}
		}
	}
}

func (k *consumer) deliver(ctx context.Context, queue int, d amqp091.Delivery, ok bool) error {
	if !ok {
		return k.ended(queue)
	}
	delivery := rpc.Delivery{TTL: ttl(d.Expiration), Settle: k.settler(d.DeliveryTag)}
	delivery.Body, delivery.Invalid = readBody(d)
	if offset, ok := d.Headers[streamOffset].(int64); ok && k.isStream(queue) {
		delivery.Settle = k.passing(offset, delivery.Settle)
	}
	k.receiver.Deliver(ctx, delivery)
	if k.batch > 0 && k.unacked >= k.batch {
		return k.acknowledge()
	}
	return nil
}

// ended is why a consumer ended. A stream that was deleted is a new one when it is declared again, and its offsets begin anew.
func (k *consumer) ended(queue int) error {
	select {
	case e := <-k.conn.refused:
		return reason(e)
	default:
	}
	if k.isStream(queue) {
		k.offset = 0
	}
	return errCancelled
}

func (k *consumer) isStream(queue int) bool {
	_, ok := k.queues[queue].Consume[streamOffset]
	return ok
}

// passing moves the offset past a message once that is settled: before, the receiver has not taken it, and nobody but this
// consumer will offer it again.
func (k *consumer) passing(offset int64, settle func(bool) error) func(bool) error {
	return func(ok bool) error {
		err := settle(ok)
		if err == nil {
			k.offset = offset + 1
		}
		return err
	}
}

// settler acknowledges a request at once and a reply with its batch. Receivers settle before Deliver returns.
func (k *consumer) settler(tag uint64) func(bool) error {
	return func(ok bool) error {
		switch {
		case !ok:
			return k.conn.channel.Reject(tag, false)
		case k.batch == 0:
			return k.conn.channel.Ack(tag, false)
		}
		if k.unacked == 0 {
			k.flush = time.After(ackDelay)
		}
		k.unacked++
		k.lastTag = tag
		return nil
	}
}

// acknowledge settles every reply settled so far.
func (k *consumer) acknowledge() error {
	k.flush = nil
	if k.unacked == 0 {
		return nil
	}
	k.unacked = 0
	return k.conn.channel.Ack(k.lastTag, true)
}

func (k *consumer) windUp() error {
	if err := k.acknowledge(); err != nil {
		return err
	}
	for _, q := range k.queues {
		if !q.Owned {
			continue
		}
		if _, err := k.conn.channel.QueueDelete(q.Name, false, false, false); err != nil {
			return fmt.Errorf("delete queue %s: %w", q.Name, err)
		}
	}
	return nil
}

// ttl reads the expiration property, milliseconds as text.
func ttl(expiration string) time.Duration {
	ms, err := strconv.ParseInt(expiration, 10, 64)
	if err != nil || ms <= 0 {
		return 0
	}
	return time.Duration(min(ms, int64(maxTTL/time.Millisecond))) * time.Millisecond
}

const maxTTL = 1000 * time.Hour

// readBody undoes compression and says what makes a message unusable. The body is returned even then, so that the receiver
// can answer its sender.
func readBody(d amqp091.Delivery) ([]byte, error) {
	if len(d.Body) > maxBody {
		return d.Body, &rpc.TooLargeError{Size: len(d.Body), Limit: maxBody}
	}
	compression, _ := d.Headers[wire.CompressionHeader].(string)
	body, err := wire.Decompress(d.Body, compression, maxBody)
	if err != nil {
		return d.Body, err
	}
	return body, wire.CheckContent(d.ContentType, d.ContentEncoding)
}
