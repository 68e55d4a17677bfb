package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// Bus is a message broker inside the process; it implements [rpc.Transport]. The zero Bus is not usable.
type Bus struct {
	mu       sync.Mutex
	queues   map[string]*queue
	bindings map[binding][]*queue // of topic exchanges
	fanouts  map[string][]*queue  // by topic
}

type binding struct{ exchange, key string }

// New returns an empty bus.
func New() *Bus {
	return &Bus{queues: map[string]*queue{}, bindings: map[binding][]*queue{}, fanouts: map[string][]*queue{}}
}

// NewReplyQueue implements [rpc.Transport].
func (b *Bus) NewReplyQueue() string { return "reply_" + wire.NewID() }

// Send implements [rpc.Transport]. done is called before Send returns.
func (b *Bus) Send(ctx context.Context, m rpc.Message, done func(error)) {
	if ctx.Err() != nil {
		done(context.Cause(ctx))
		return
	}
	m.Progress.MarkSent()
	done(b.route(m))
}

func (b *Bus) route(m rpc.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	item := message{body: m.Body}
	if m.TTL > 0 {
		item.expires = time.Now().Add(m.TTL)
	}
	to := m.To
	switch {
	case to.Queue != "":
		q := b.queues[to.Queue]
		if q == nil {
			return &rpc.UndeliverableError{RoutingKey: to.Queue}
		}
		q.push(item)
	case to.Fanout:
		for _, q := range b.fanouts[to.Topic] {
			q.push(item)
		}
	default:
		key := routingKey(to.Topic, to.Server)
		bound := b.bindings[binding{to.Exchange, key}]
		if len(bound) == 0 {
			return &rpc.UndeliverableError{Exchange: to.Exchange, RoutingKey: key}
		}
		for _, q := range bound {
			q.push(item)
		}
	}
	return nil
}

func routingKey(topic, server string) string {
	if server == "" {
		return topic
	}
	return topic + "." + server
}

// Listen implements [rpc.Transport].
func (b *Bus) Listen(ctx context.Context, s rpc.Source, r rpc.Receiver) error {
	if s.ReplyQueue == "" && (s.Topic == "" || s.Server == "") {
		return errors.New("rpc memory: a source needs a reply queue, or a topic and a server")
	}
	l := &listener{bus: b, wake: make(chan struct{}, 1)}
	if err := l.attach(s); err != nil {
		return err
	}
	defer l.detach()
	r.Listening(true)
	defer r.Listening(false)
	for {
		d, ok := l.next()
		if !ok {
			select {
			case <-l.wake:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		r.Deliver(ctx, d)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// attach declares, binds and consumes the queues of a source.
func (l *listener) attach(s rpc.Source) error {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.ReplyQueue != "" {
		if b.queues[s.ReplyQueue] != nil {
			return fmt.Errorf("rpc memory: reply queue %s exists", s.ReplyQueue)
		}
		l.own = b.declare(s.ReplyQueue)
		l.consume(l.own, s.Prefetch)
		return nil
	}
	for _, key := range []string{s.Topic, routingKey(s.Topic, s.Server)} {
		q := b.declare(key)
		b.bind(binding{s.Exchange, key}, q)
		l.consume(q, s.Prefetch)
	}
	l.own = b.declare(s.Topic + "_fanout_" + wire.NewID())
	l.fanout = s.Topic
	b.fanouts[s.Topic] = append(b.fanouts[s.Topic], l.own)
	l.consume(l.own, s.Prefetch)
	return nil
}

func (b *Bus) declare(name string) *queue {
	q := b.queues[name]
	if q == nil {
		q = &queue{bus: b, name: name}
		b.queues[name] = q
	}
	return q
}

func (b *Bus) bind(to binding, q *queue) {
	if !slices.Contains(b.bindings[to], q) {
		b.bindings[to] = append(b.bindings[to], q)
	}
}
