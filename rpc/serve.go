package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// incoming is a request being served.
type incoming struct {
	wire    wire.Request
	release func() // frees the worker
	context carried
}

// serve runs one request and answers it.
func (a *acceptor) serve(q *incoming) {
	ctx := context.WithValue(a.base, requestKey{}, &q.context)
	wanted := q.wire.MsgID != "" && q.wire.ReplyQueue != ""
	stopHeartbeat := func() {}
	if wanted {
		stopHeartbeat = a.startHeartbeat(q)
	}
	raw, err := a.answer(ctx, q)
	stopHeartbeat()
	r := wire.Reply{Result: raw, Ending: true}
	if err != nil {
		r = wire.Reply{Failure: a.failure(q, err), Ending: true}
	}
	q.release()
	if wanted {
		a.reply(q, r)
	}
	q.forget()
}

// largeMessage is the size of arguments, in bytes, from which a context is decoded to be rid of them.
const largeMessage = 64 << 10

// forget lets go of a large message, which a context that the handler passed on would keep in memory.
func (q *incoming) forget() {
	if len(q.wire.Args) < largeMessage {
		return
	}
	q.context.request() // for whoever asks from now on
	q.wire = wire.Request{}
}

// answer runs a request and encodes its result. Interceptors and serializers are other people's code as handlers are.
func (a *acceptor) answer(ctx context.Context, q *incoming) (raw json.RawMessage, err error) {
	defer recovered(&err)
	result, err := a.invoke(ctx, q)
	if err != nil || result == nil {
		return nil, err
	}
	return a.encodeResult(ctx, result)
}

// recovered, deferred, makes an error of a panic.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{value: p, stack: debug.Stack()}
	}
}

// invoke finds the handler and calls it inside the interceptors.
func (a *acceptor) invoke(ctx context.Context, q *incoming) (any, error) {
	d := newDispatch(&q.wire)
	if len(a.cfg.Interceptors) == 0 {
		return a.handle(ctx, &d)
	}
	kind := KindCast
	if q.wire.MsgID != "" {
		kind = KindCall
	}
	target := a.cfg.Target
	target.Namespace = d.namespace
	var result any
	err := chain(ctx, a.cfg.Interceptors, CallInfo{
		Side: SideServer, Kind: kind, Target: target, Method: d.method, Version: d.version,
		MessageID: q.wire.MsgID, RequestID: q.context.request().RequestID,
	}, func(ctx context.Context) (err error) {
		result, err = a.handle(ctx, &d)
		return err
	})
	return result, err
}

// handle calls the handler that d asks for.
func (a *acceptor) handle(ctx context.Context, d *dispatch) (result any, err error) {
	defer recovered(&err)
	h, args, err := d.find(a.cfg.Endpoints)
	if err != nil {
		return nil, &refusal{err}
	}
	return h(ctx, a.cfg.Serializer, args)
}

func (a *acceptor) encodeResult(ctx context.Context, result any) (json.RawMessage, error) {
	if _, nothing := result.(Null); nothing {
		return nil, nil
	}
	raw, err := a.cfg.Serializer.Serialize(ctx, result)
	if err == nil && len(raw) == 0 {
		err = errors.New("the serializer gave nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	return raw, nil
}

// refusal is the error of a request for a method, version or arguments that no endpoint has.
type refusal struct{ error }

func (e *refusal) Unwrap() error { return e.error }

// panicError is what a panic while a request is served becomes.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// failure logs an error of a handler and gives what is sent for it. What the exception table does not know is told to the
// log only.
func (a *acceptor) failure(q *incoming, err error) []byte {
	id := q.requestID()
	method, _ := wire.Text(q.wire.Method)
	log := a.log.With("method", method, "message_id", q.wire.MsgID, "request_id", id)
	r, expected, tableErr := a.lookUp(err)
	if tableErr != nil {
		expected = false
		err = errors.Join(err, tableErr)
	}
	var p *panicError
	var bad *argumentError
	var unfit *refusal
	switch {
	case errors.As(err, &p):
		log.Error("rpc handler panicked", "panic", fmt.Sprint(p.value), "stack", string(p.stack))
		r = nil
	case errors.As(err, &bad), errors.As(err, &unfit):
		log.Info("rpc request refused", "error", err)
		a.observe(Event{Kind: EventRefused, Link: a.cfg.Target.Topic, MessageID: q.wire.MsgID, Err: err})
		if r == nil {
			r = &RemoteError{Class: Class{"builtins", "ValueError"}, Message: bad.Error()}
		}
	case expected:
		log.Debug("rpc request failed", "error", err)
	default:
		log.Error("rpc handler failed", "error", err)
	}
	if r == nil {
		r = &RemoteError{Class: Class{"builtins", "RuntimeError"}, Message: "internal error (" + id + ")"}
	}
	raw, err := encodeFailure(r)
	if err != nil {
		log.Error("failure cannot be encoded", "error", err)
		raw, _ = encodeFailure(&RemoteError{Class: Class{"builtins", "RuntimeError"}, Message: "internal error (" + id + ")"})
	}
	return raw
}

// lookUp asks the exception table, whose functions may panic.
func (a *acceptor) lookUp(err error) (r *RemoteError, expected bool, tableErr error) {
	defer recovered(&tableErr)
	return a.cfg.Exceptions.wire(err)
}

func (q *incoming) requestID() string { return q.context.request().RequestID }
