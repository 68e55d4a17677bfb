package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// outgoing is one request on its way.
type outgoing struct {
	method  *description
	kind    Kind
	to      Remote
	args    json.RawMessage
	request *carried
	started time.Time
	id      string // of a call
	message Message
	result  json.RawMessage
	waiter
}

var nullJSON = json.RawMessage("null")

func (o *outgoing) do(ctx context.Context) (json.RawMessage, error) {
	c := o.to.Client
	if o.kind == KindCall {
		o.id = wire.NewID()
	}
	if len(c.cfg.Interceptors) == 0 {
		err := o.invoke(ctx)
		return o.result, err
	}
	target := o.to.Target
	if o.kind == KindCastAll {
		target.Server = ""
	}
	attempt := o
	err := chain(ctx, c.cfg.Interceptors, CallInfo{
		Side: SideClient, Kind: o.kind, Target: target, Method: o.method.name, Version: o.method.version,
		MessageID: o.id, RequestID: o.request.request().RequestID,
	}, func(ctx context.Context) error {
		if attempt.wake != nil { // next was called before, and the transport may still have that message
			attempt = o.fresh()
		}
		return attempt.invoke(ctx)
	})
	return attempt.result, err
}

// fresh is the same request with nobody waiting for it yet.
func (o *outgoing) fresh() *outgoing {
	return &outgoing{method: o.method, kind: o.kind, to: o.to, args: o.args, request: o.request, started: time.Now(), id: o.id}
}

func (o *outgoing) invoke(ctx context.Context) error {
	c := o.to.Client
	select {
	case <-c.closed:
		return c.replies.reason()
	default:
	}
	w := &o.waiter
	w.wake = make(chan struct{}, 1)
	w.progress.began = o.started
	if o.kind == KindCall {
		if err := c.replies.open(ctx); err != nil {
			return o.giveUp(ctx, err, "reply queue down")
		}
		if o.to.Monitor > 0 {
			w.period = o.to.Monitor
			w.monitor = time.NewTimer(w.period)
			defer w.monitor.Stop()
		}
		c.replies.add(o.id, w)
		defer c.replies.remove(o.id)
	}
	for {
		var renewed <-chan struct{}
		if o.kind == KindCall && o.method.idempotent {
			renewed = c.replies.renewal() // from before the request is out, which may be lost at once
		}
		if err := o.publish(ctx); err != nil {
			return err
		}
		err := o.wait(ctx, renewed)
		if !errors.Is(err, ErrUndeliverable) || !o.mayRetry() {
			return err
		}
		select {
		case <-time.After(routeRetry):
		case <-ctx.Done():
			return err
		case <-c.closed:
			return c.replies.reason()
		}
	}
}

// mayRetry reports whether an undeliverable request to a topic may be tried again.
func (o *outgoing) mayRetry() bool {
	return o.to.Target.Server == "" && time.Since(o.started) < o.to.Client.cfg.RouteWait
}

// publish encodes the request and hands it to the transport.
func (o *outgoing) publish(ctx context.Context) error {
	t := o.to.Target
	encoded, err := o.request.encoded()
	if err != nil {
		return fmt.Errorf("request context of %s: %w", o.method.name, err)
	}
	r := wire.Request{Method: o.method.rawName, Args: o.args, Version: o.method.rawVersion, UniqueID: wire.NewID()}
	if t.Namespace != "" {
		if r.Namespace, err = json.Marshal(t.Namespace); err != nil {
			return fmt.Errorf("namespace of %s: %w", o.method.name, err)
		}
	}
	m := Message{
		To:       Address{Exchange: t.Exchange, Topic: t.Topic, Server: t.Server},
		Resend:   o.method.idempotent,
		Progress: &o.progress,
	}
	if o.kind == KindCastAll {
		m.To.Server, m.To.Fanout = "", true
	}
	if o.kind == KindCall {
		r.MsgID, r.ReplyQueue, r.Timeout = o.id, o.to.Client.replies.queue, o.monitorText()
		deadline, _ := ctx.Deadline()
		if m.TTL = time.Until(deadline); m.TTL <= 0 {
			return o.giveUp(ctx, context.DeadlineExceeded, "not sent (no time left)")
		}
	}
	if m.Body, err = r.Encode(encoded); err != nil {
		return fmt.Errorf("request %s: %w", o.method.name, err)
	}
	o.message = m
	o.hand(ctx)
	return nil
}

// hand gives the message to the transport.
func (o *outgoing) hand(ctx context.Context) {
	o.pending.Store(true)
	o.to.Client.transport.Send(ctx, o.message, o.completed)
}

// completed is told the outcome of sending. A call that is on its way, or may be, waits for its reply and is not woken; nor
// is one that came too late to be sent, whose context is about to end.
func (o *outgoing) completed(err error) {
	o.pending.Store(false)
	switch {
	case o.kind == KindCall && err == nil:
		o.confirmed.Store(true)
	case o.kind == KindCall && (errors.Is(err, ErrUnconfirmed) || errors.Is(err, context.DeadlineExceeded)):
	default:
		o.settle(err)
	}
}

// again sends a call of an idempotent method once more after the connection was lost: a broker that restarted may have
// lost the confirmed request. The copy has the same ids, so a server that runs the request already drops it, and one that
// has answered gives the answer again.
func (o *outgoing) again(ctx context.Context) {
	deadline, _ := ctx.Deadline()
	if o.message.TTL = time.Until(deadline); o.message.TTL > 0 {
		o.hand(ctx)
	}
}

// monitorText is the number of seconds for the call monitor, null for none.
func (o *outgoing) monitorText() json.RawMessage {
	if o.to.Monitor <= 0 {
		return nullJSON
	}
	return strconv.AppendFloat(nil, o.to.Monitor.Seconds(), 'f', -1, 64)
}

// wait returns when the outcome is known. When renewed is closed the broker may have lost the request.
func (o *outgoing) wait(ctx context.Context, renewed <-chan struct{}) error {
	c := o.to.Client
	var missed <-chan time.Time
	if o.monitor != nil {
		missed = o.monitor.C
	}
	copies := 0
	var repeat <-chan time.Time
	for {
		select {
		case <-o.wake:
			reply, sent, err := o.take()
			switch {
			case reply != nil:
				return o.finish(reply)
			case !sent:
			case err == nil:
				return nil
			case copies > 0 && errors.Is(err, ErrUndeliverable):
				repeat = time.After(routeRetry) // the server is not back yet
			case ctx.Err() == nil:
				return fmt.Errorf("%s: %w", o.method.name, err)
			}
		case <-renewed:
			renewed, repeat = c.replies.renewal(), nil
			if !o.pending.Load() { // otherwise the transport still has it, and sends it
				copies++
				o.again(ctx)
			}
		case <-repeat:
			repeat = nil
			o.again(ctx)
		case <-missed:
			left := o.period // no server can have given a sign of life
			if o.progress.Sent() {
				left -= o.progress.ago()
			}
			if left > 0 {
				o.monitor.Reset(left)
				continue
			}
			return &TimeoutError{Method: o.method.name, MessageID: o.id, Reached: "no heartbeat"}
		case <-c.closed:
			return c.replies.reason()
		case <-ctx.Done():
			return o.giveUp(ctx, ctx.Err(), o.reached())
		}
	}
}

func (o *outgoing) finish(reply *wire.Reply) error {
	if reply.Failure != nil {
		return o.to.Client.cfg.Exceptions.fromWire(reply.Failure)
	}
	o.result = reply.Result
	if o.result == nil {
		o.result = nullJSON
	}
	return nil
}

// reached tells how far the request got.
func (o *outgoing) reached() string {
	switch {
	case o.confirmed.Load():
		return "confirmed"
	case o.progress.Sent():
		return "sent, unconfirmed"
	}
	if t, ok := o.to.Client.transport.(interface{ Impediment() error }); ok {
		if err := t.Impediment(); err != nil {
			return "not sent (" + err.Error() + ")"
		}
	}
	return "not sent"
}

// giveUp gives the error for a wait that ctx ended, or err if something else did.
func (o *outgoing) giveUp(ctx context.Context, err error, reached string) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &TimeoutError{Method: o.method.name, MessageID: o.id, Reached: reached}
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", o.method.name, context.Cause(ctx))
	default:
		return err
	}
}
