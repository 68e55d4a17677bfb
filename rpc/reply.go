package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

const (
	// replyRetry is the time between two attempts to deliver a reply whose queue does not exist.
	replyRetry = 250 * time.Millisecond
	// deadTime is how long further replies to a queue that did not come back are dropped at once.
	deadTime = 60 * time.Second
	// maxRetrying, maxRetryingBytes and maxDead bound what is kept for clients that are gone. One reply may always wait.
	maxRetrying      = 1024
	maxRetryingBytes = 64 << 20
	maxDead          = 200
)

// reply sends an answer to the sender of q.
func (a *acceptor) reply(q *incoming, r wire.Reply) {
	r.MsgID = q.wire.MsgID
	body, err := r.Encode(wire.NewID())
	if err != nil {
		a.log.Error("reply cannot be encoded", "message_id", r.MsgID, "error", err)
		failure := a.failure(q, err)
		if body, err = (&wire.Reply{Failure: failure, Ending: true, MsgID: r.MsgID}).Encode(wire.NewID()); err != nil {
			return
		}
	}
	a.replies.send(q.wire.UniqueID, answer{queue: q.wire.ReplyQueue, id: r.MsgID, body: body})
}

// replySender delivers replies. A reply whose queue does not exist, because its client is reconnecting or gone, is tried
// again by a timer for a while; no goroutine and no worker waits for it.
type replySender struct {
	*Server
	ctx context.Context

	mu       sync.Mutex
	open     int // replies not yet delivered or given up
	retrying map[*pendingReply]*time.Timer
	bytes    int                  // of the bodies of retrying
	dead     map[string]time.Time // queues that did not exist for a whole window, and until when they are ignored
	answers  answers
	closing  bool
	done     chan struct{}
}

func newReplySender(ctx context.Context, s *Server) *replySender {
	return &replySender{
		Server: s, ctx: ctx, done: make(chan struct{}),
		retrying: map[*pendingReply]*time.Timer{}, dead: map[string]time.Time{},
	}
}

type pendingReply struct {
	sender    *replySender
	queue, id string
	body      []byte
	since     time.Time // of the first failure
	replaced  bool      // by a failure: the answer itself was too large
}

// repeat sends the reply to a request that comes again, if that may be lost. If the request still runs, its reply is to come.
func (s *replySender) repeat(unique string) {
	s.mu.Lock()
	x, lost := s.answers.lost(unique)
	s.mu.Unlock()
	if lost {
		s.send("", x)
	}
}

// renewed is told when listening begins.
func (s *replySender) renewed() {
	s.mu.Lock()
	s.answers.age++
	s.mu.Unlock()
}

// send sends a reply and keeps it for a while under the unique id of its request.
func (s *replySender) send(unique string, x answer) {
	p := &pendingReply{sender: s, queue: x.queue, id: x.id, body: x.body}
	s.mu.Lock()
	s.answers.add(unique, x)
	if until, ok := s.dead[p.queue]; ok {
		if time.Now().Before(until) {
			s.mu.Unlock()
			s.dropped(p, ErrUndeliverable)
			return
		}
		delete(s.dead, p.queue)
	}
	s.open++
	s.mu.Unlock()
	p.send()
}

func (p *pendingReply) send() {
	p.sender.transport.Send(p.sender.ctx, Message{To: Address{Queue: p.queue}, Body: p.body, Resend: true}, p.finished)
}

// finished is told the outcome of an attempt.
func (p *pendingReply) finished(err error) {
	s := p.sender
	if errors.Is(err, ErrUndeliverable) && s.retry(p) {
		return
	}
	if tooLarge, ok := errors.AsType[*TooLargeError](err); ok && s.replace(p, tooLarge) {
		return
	}
	if err != nil {
		s.dropped(p, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.finish()
}

// replace sends a failure instead of an answer that the broker does not take: the caller would wait for it in vain.
func (s *replySender) replace(p *pendingReply, cause *TooLargeError) bool {
	if p.replaced {
		return false
	}
	failure, err := encodeFailure(&RemoteError{
		Class: Class{"builtins", "RuntimeError"}, Message: "the answer is too large for the message broker: " + cause.Error(),
	})
	if err != nil {
		return false
	}
	body, err := (&wire.Reply{Failure: failure, Ending: true, MsgID: p.id}).Encode(wire.NewID())
	if err != nil {
		return false
	}
	s.log.Error("answer too large for the broker, its caller gets a failure instead", "message_id", p.id, "queue", p.queue, "error", cause)
	s.observe(Event{Kind: EventReplyDropped, Link: s.cfg.Target.Topic, Queue: p.queue, MessageID: p.id, Err: cause})
	p.body, p.replaced = body, true
	p.send()
	return true
}

// retry arranges another attempt and reports whether there will be one.
func (s *replySender) retry(p *pendingReply) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	if now.Sub(p.since) >= s.cfg.ReplyRetry {
		s.bury(p.queue, now)
		return false
	}
	if s.closing || len(s.retrying) >= maxRetrying || s.bytes > 0 && s.bytes+len(p.body) > maxRetryingBytes {
		return false
	}
	s.bytes += len(p.body)
	s.retrying[p] = time.AfterFunc(replyRetry, func() {
		s.mu.Lock()
		_, still := s.retrying[p]
		if still {
			delete(s.retrying, p)
			s.bytes -= len(p.body)
		}
		s.mu.Unlock()
		if still {
			p.send()
		}
	})
	return true
}

// bury remembers a queue that did not come back.
func (s *replySender) bury(queue string, now time.Time) {
	for q, until := range s.dead {
		if now.After(until) {
			delete(s.dead, q)
		}
	}
	if len(s.dead) < maxDead {
		s.dead[queue] = now.Add(deadTime)
	}
}

func (s *replySender) dropped(p *pendingReply, err error) {
	s.log.Warn("reply dropped: it cannot be delivered", "message_id", p.id, "queue", p.queue, "error", err)
	s.observe(Event{Kind: EventReplyDropped, Link: s.cfg.Target.Topic, Queue: p.queue, MessageID: p.id, Err: err})
}

// close gives up the replies that wait for another attempt and returns a channel that is closed when the others are out.
func (s *replySender) close() <-chan struct{} {
	s.mu.Lock()
	s.closing = true
	var abandoned []*pendingReply
	for p, timer := range s.retrying {
		timer.Stop()
		abandoned = append(abandoned, p)
	}
	clear(s.retrying)
	s.bytes = 0
	s.open -= len(abandoned)
	s.finish()
	s.mu.Unlock()
	for _, p := range abandoned {
		s.dropped(p, ErrUndeliverable)
	}
	return s.done
}

// finish is called with the mutex held.
func (s *replySender) finish() {
	if s.closing && s.open == 0 {
		select {
		case <-s.done:
		default:
			close(s.done)
		}
	}
}
