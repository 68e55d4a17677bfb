package rpc

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// duplicateWindow is how many requests back a repetition is recognised. Python's is 16; a reconnecting client with many
// calls in flight needs more.
const duplicateWindow = 1024

// acceptor takes requests from the listener, refuses what cannot be used and hands the rest to the workers.
type acceptor struct {
	*Server
	base    context.Context // of all handlers
	workers *workers
	replies *replySender
	seen    duplicates // only used by the listener's goroutine
	up      atomic.Bool
}

func newAcceptor(base context.Context, s *Server) *acceptor {
	a := &acceptor{Server: s, base: base, replies: newReplySender(base, s)}
	a.workers = newWorkers(s.cfg.Workers, a.serve)
	return a
}

// Listening implements [Receiver].
func (a *acceptor) Listening(up bool) {
	if up {
		a.replies.renewed()
	}
	if a.up.Swap(up) != up && a.cfg.Ready != nil {
		a.cfg.Ready(up)
	}
}

// Deliver implements [Receiver]. A request is remembered as seen only after it was acknowledged: otherwise one that was
// never run would look like a repetition when the broker hands it out again.
func (a *acceptor) Deliver(ctx context.Context, d Delivery) {
	arrived := time.Now()
	q := &incoming{}
	q.context.received = &q.wire
	if d.Invalid != nil {
		q.wire.Salvage(d.Body)
		a.refuse(q, d, d.Invalid)
		return
	}
	if err := q.wire.Decode(d.Body); err != nil {
		a.refuse(q, d, err)
		return
	}
	if a.seen.has(q.wire.UniqueID) {
		if a.drop(q, d, EventDuplicate, "request dropped: it was run already") {
			a.replies.repeat(q.wire.UniqueID)
		}
		return
	}
	if !a.workers.acquire(ctx) {
		return
	}
	if d.TTL > 0 && time.Since(arrived) > d.TTL {
		a.workers.release()
		a.drop(q, d, EventExpired, "request dropped: its caller no longer waits")
		return
	}
	if err := d.Settle(true); err != nil { // somebody else will get it
		a.workers.release()
		return
	}
	a.seen.add(q.wire.UniqueID)
	a.workers.run(q)
}

// drop acknowledges a request that is not run and reports whether that succeeded. Otherwise it comes again, and is dropped again.
func (a *acceptor) drop(q *incoming, d Delivery, kind EventKind, message string) bool {
	a.log.Info(message, "message_id", q.wire.MsgID, "unique_id", q.wire.UniqueID)
	a.observe(Event{Kind: kind, Link: a.cfg.Target.Topic, MessageID: q.wire.MsgID})
	return d.Settle(true) == nil
}

// refuse rejects a message that cannot be read, and answers the sender if it can be told who that is.
func (a *acceptor) refuse(q *incoming, d Delivery, err error) {
	a.log.Warn("request rejected: it cannot be read", "message_id", q.wire.MsgID, "size", len(d.Body), "error", err)
	a.observe(Event{Kind: EventRejected, Link: a.cfg.Target.Topic, MessageID: q.wire.MsgID, Err: err})
	if d.Settle(false) != nil || q.wire.MsgID == "" || q.wire.ReplyQueue == "" {
		return
	}
	failure, err := encodeFailure(&RemoteError{Class: Class{"builtins", "ValueError"}, Message: "malformed request: " + err.Error()})
	if err != nil {
		return
	}
	a.reply(q, wire.Reply{Failure: failure, Ending: true})
}

// duplicates remembers the last ids; an empty one is never remembered.
type duplicates struct {
	ring [duplicateWindow]string
	next int
	set  map[string]struct{}
}

func (d *duplicates) has(id string) bool {
	_, ok := d.set[id]
	return ok
}

func (d *duplicates) add(id string) {
	if id == "" {
		return
	}
	if d.set == nil {
		d.set = make(map[string]struct{}, duplicateWindow)
	}
	delete(d.set, d.ring[d.next])
	d.ring[d.next] = id
	d.set[id] = struct{}{}
	d.next = (d.next + 1) % duplicateWindow
}
