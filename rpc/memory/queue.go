package memory

import (
	"errors"
	"slices"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// message is a message in a queue. The zero time means that it never expires.
type message struct {
	body    []byte
	expires time.Time
}

func (m *message) expired(now time.Time) bool { return !m.expires.IsZero() && !now.Before(m.expires) }

// queue holds messages until a consumer has room for them. Everything here is guarded by the bus's mutex.
type queue struct {
	bus       *Bus
	name      string
	waiting   []message
	consumers []*consumer
	turn      int // of the consumer that is asked next
}

// push adds a message and hands out what can be handed out.
func (q *queue) push(m message) {
	q.waiting = append(q.waiting, m)
	q.dispatch()
}

// dispatch hands messages to consumers in turn, dropping those that expired.
func (q *queue) dispatch() {
	now := time.Now()
	taken := 0
	for ; taken < len(q.waiting); taken++ {
		m := q.waiting[taken]
		if m.expired(now) {
			continue
		}
		c := q.pick()
		if c == nil {
			break
		}
		c.give(m)
	}
	q.waiting = slices.Delete(q.waiting, 0, taken)
}

// pick gives the next consumer with room, nil if there is none.
func (q *queue) pick() *consumer {
	for i := range q.consumers {
		c := q.consumers[(q.turn+i)%len(q.consumers)]
		if c.limit == 0 || len(c.unsettled) < c.limit {
			q.turn = (q.turn + i + 1) % len(q.consumers)
			return c
		}
	}
	return nil
}

// consumer is one listener's interest in one queue.
type consumer struct {
	listener  *listener
	queue     *queue
	limit     int // of unsettled deliveries; 0 for none
	unsettled []*delivery
}

type delivery struct {
	message
	consumer *consumer // nil when settled or taken back
}

func (c *consumer) give(m message) {
	d := &delivery{message: m, consumer: c}
	c.unsettled = append(c.unsettled, d)
	c.listener.inbox = append(c.listener.inbox, d)
	select {
	case c.listener.wake <- struct{}{}:
	default:
	}
}

// listener is a call of Listen.
type listener struct {
	bus       *Bus
	wake      chan struct{}
	consumers []*consumer
	inbox     []*delivery
	own       *queue // deleted at the end
	fanout    string // the topic that own is bound to, "" for a reply queue
}

func (l *listener) consume(q *queue, limit int) {
	c := &consumer{listener: l, queue: q, limit: limit}
	l.consumers = append(l.consumers, c)
	q.consumers = append(q.consumers, c)
	q.dispatch()
}

// next takes a delivery from the inbox.
func (l *listener) next() (rpc.Delivery, bool) {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	if len(l.inbox) == 0 {
		return rpc.Delivery{}, false
	}
	d := l.inbox[0]
	l.inbox = slices.Delete(l.inbox, 0, 1)
	out := rpc.Delivery{Body: d.body, Settle: func(bool) error { return l.settle(d) }}
	if !d.expires.IsZero() {
		out.TTL = max(time.Until(d.expires), 1)
	}
	return out, true
}

var errTakenBack = errors.New("rpc memory: the message was taken back or settled before")

// settle removes a delivery for good: rejected messages are not queued again.
func (l *listener) settle(d *delivery) error {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	c := d.consumer
	if c == nil {
		return errTakenBack
	}
	d.consumer = nil
	c.unsettled = slices.DeleteFunc(c.unsettled, func(other *delivery) bool { return other == d })
	c.queue.dispatch()
	return nil
}

// detach gives back what was not settled and deletes the listener's own queue.
func (l *listener) detach() {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range l.consumers {
		c.queue.consumers = slices.DeleteFunc(c.queue.consumers, func(other *consumer) bool { return other == c })
		c.queue.turn = 0
		back := make([]message, len(c.unsettled))
		for i, d := range c.unsettled {
			d.consumer = nil
			back[i] = d.message
		}
		c.queue.waiting = slices.Insert(c.queue.waiting, 0, back...)
	}
	delete(b.queues, l.own.name)
	if l.fanout != "" {
		b.fanouts[l.fanout] = slices.DeleteFunc(b.fanouts[l.fanout], func(q *queue) bool { return q == l.own })
	}
	for _, c := range l.consumers {
		c.queue.dispatch()
	}
}
