package amqp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// Transport is RabbitMQ as a transport of package rpc. It is safe for concurrent use.
type Transport struct {
	config *resolved
	ctx    context.Context // ends when the transport is closed: it belongs to the links, not to a request
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	closed    bool
	publisher *publisher
	links     []*link
	named     int
	listeners sync.WaitGroup
}

var _ rpc.Transport = (*Transport)(nil)

// Open makes a transport. It reports everything that is wrong with c and connects to nothing: that happens with the first
// Send or Listen, and is tried for ever.
func Open(c Config) (*Transport, error) {
	r, err := c.resolve()
	if err != nil {
		return nil, err
	}
	t := &Transport{config: &r}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t, nil
}

// Options are the options in effect: those of the configuration with those of the URL's query.
func (t *Transport) Options() Options { return t.config.Options }

// Send implements [rpc.Transport].
func (t *Transport) Send(ctx context.Context, m rpc.Message, done func(error)) {
	p := t.publishing()
	if p == nil {
		done(rpc.ErrClosed)
		return
	}
	i := &item{Message: m, ctx: ctx, done: done}
	if m.TTL > 0 {
		i.deadline = time.Now().Add(m.TTL)
	}
	p.outbox.put(i)
}

// publishing starts the publisher with the first message; it is nil once the transport is closed.
func (t *Transport) publishing() *publisher {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	if t.publisher == nil {
		t.publisher = newPublisher(t.config)
		t.links = append(t.links, t.publisher.link)
		go t.publisher.run(t.ctx)
	}
	return t.publisher
}

// Listen implements [rpc.Transport].
func (t *Transport) Listen(ctx context.Context, s rpc.Source, r rpc.Receiver) error {
	if s.ReplyQueue == "" && (s.Topic == "" || s.Server == "") {
		return fmt.Errorf("a listener needs a reply queue, or a topic and a server")
	}
	fanout := ""
	if s.ReplyQueue == "" {
		fanout = t.fanoutQueue(s.Topic)
	}
	l := newListener(t.config, s, r, fanout)
	if !t.add(l.link) {
		return rpc.ErrClosed
	}
	defer t.listeners.Done()
	defer t.remove(l.link)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ctx, func() { cancel(rpc.ErrClosed) })()
	l.link.run(ctx)
	if context.Cause(ctx) == rpc.ErrClosed { //nolint:errorlint // the cause set above, unwrapped
		return rpc.ErrClosed
	}
	return nil
}

func (t *Transport) add(l *link) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.links = append(t.links, l)
	t.listeners.Add(1)
	return true
}

func (t *Transport) remove(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.links {
		if other == l {
			t.links = append(t.links[:i], t.links[i+1:]...)
			return
		}
	}
}

// NewReplyQueue implements [rpc.Transport]: reply_<hex>, or the queue manager's readable form.
func (t *Transport) NewReplyQueue() string { return t.transientName("reply_") }

func (t *Transport) fanoutQueue(topic string) string { return t.transientName(topic + "_fanout_") }

func (t *Transport) transientName(prefix string) string {
	if !t.config.Options.QueueManager {
		return prefix + wire.NewID()
	}
	t.mu.Lock()
	t.named++
	n := t.named
	t.mu.Unlock()
	host, process := t.config.Options.Hostname, t.config.Options.ProcessName
	if host == "" {
		host, _ = os.Hostname()
	}
	if process == "" {
		process = filepath.Base(os.Args[0])
	}
	return fmt.Sprintf("%s%s:%s:%d", prefix, host, process, n)
}

// Close sends what is still waiting while the broker takes it, for at most 2 s, ends the listeners and
// waits for every goroutine. It returns the cause if ctx ends first.
func (t *Transport) Close(ctx context.Context) error {
	t.mu.Lock()
	first := !t.closed
	t.closed = true
	p := t.publisher
	t.mu.Unlock()
	if p != nil {
		if first {
			close(p.drain)
		}
		t.awaitDrain(ctx, p)
	}
	t.cancel(rpc.ErrClosed)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.listeners.Wait()
		if p != nil {
			<-p.done
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitDrain gives the publisher time to send what it holds, unless the broker takes nothing now.
func (t *Transport) awaitDrain(ctx context.Context, p *publisher) {
	if p.link.health().State != StateUp {
		return
	}
	timeout := time.NewTimer(min(farewell, t.config.OpTimeout))
	defer timeout.Stop()
	select {
	case <-p.done:
	case <-ctx.Done():
	case <-timeout.C:
	}
}
