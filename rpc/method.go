package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Method is a remote method: its name, the version of the interface that introduced it, the type A of its arguments and the
// type R of its result. It is immutable and may be shared.
type Method[A, R any] struct {
	description
	arguments *argumentPlan
}

// description is what a method looks like without its types.
type description struct {
	name       string
	version    Version
	idempotent bool

	rawName, rawVersion []byte // as sent; no version is nil
}

// NewMethod describes a method. version is "major.minor", or "" to send no version (servers read that as 1.0).
//
// A is a struct with one field per keyword argument, named by its json tag; omitempty or omitzero marks an argument that has
// a default and may be absent. A map with string keys stands for arbitrary keyword arguments. R is anything the serializer
// can decode, [Null] for a method that returns nothing, any for a result of dynamic class.
//
// NewMethod panics if the name or version is malformed, if A is neither, or has an embedded, unexported or untagged field:
// these are mistakes of the program.
func NewMethod[A, R any](name, version string) *Method[A, R] {
	m := &Method[A, R]{description: description{name: name}}
	raw, err := pyjson.AppendString(nil, name)
	if err != nil || name == "" || strings.HasPrefix(name, "_") {
		panic(fmt.Sprintf("rpc: %q cannot be the name of a method", name))
	}
	m.rawName = raw
	if version != "" {
		if m.version, err = ParseVersion(version); err != nil {
			panic(fmt.Sprintf("rpc: method %s: %v", name, err))
		}
		m.rawVersion = []byte(`"` + m.version.String() + `"`)
	}
	if m.arguments, err = planArguments(reflect.TypeFor[A]()); err != nil {
		panic(fmt.Sprintf("rpc: arguments of method %s: %v", name, err))
	}
	return m
}

// Name is the method's name on the wire.
func (m *Method[A, R]) Name() string { return m.name }

// Version is the version of the interface that introduced the method.
func (m *Method[A, R]) Version() Version { return m.version }

// Idempotent returns a copy of m whose requests may be sent, and run, twice when the connection is lost before their outcome
// is known.
func (m *Method[A, R]) Idempotent() *Method[A, R] {
	c := *m
	c.idempotent = true
	return &c
}

// Allowed returns nil or the [*VersionCapError] that a call would fail with. It sends nothing.
func (m *Method[A, R]) Allowed(to Remote) error {
	if to.CanSendVersion(m.version) {
		return nil
	}
	return &VersionCapError{Method: m.name, Version: m.version, Cap: to.Cap}
}

// Call runs the method on one server and waits for its result. The deadline is ctx's; only if it has none do the remote's
// and then the client's timeout apply. Errors: [*VersionCapError], [ErrNoTopic], [*RemoteError], [*TimeoutError],
// [*UndeliverableError], [ErrNacked], [ErrClosed], or the cause of ctx's end. After a TimeoutError, ErrClosed or the end of
// ctx the method may still be running or run later.
func (m *Method[A, R]) Call(ctx context.Context, to Remote, args A) (R, error) {
	var result R
	raw, err := m.send(ctx, KindCall, to, args)
	if err != nil {
		return result, err
	}
	if _, nothing := any(result).(Null); nothing {
		return result, nil
	}
	if err := to.Client.serializer.Deserialize(ctx, raw, &result); err != nil {
		return result, fmt.Errorf("result of %s: %w", m.name, err)
	}
	return result, nil
}

// Cast asks one server to run the method and returns when the broker has put the request into a queue. Errors as of Call,
// and [ErrUnconfirmed].
func (m *Method[A, R]) Cast(ctx context.Context, to Remote, args A) error {
	_, err := m.send(ctx, KindCast, to, args)
	return err
}

// CastAll asks every server of the topic to run the method; the target's server is ignored. It is no error if there is
// none. A broker that has the topic's fanout exchange with other properties fails it, and nothing else.
func (m *Method[A, R]) CastAll(ctx context.Context, to Remote, args A) error {
	_, err := m.send(ctx, KindCastAll, to, args)
	return err
}

func (m *Method[A, R]) send(ctx context.Context, kind Kind, to Remote, args A) (json.RawMessage, error) {
	if err := m.Allowed(to); err != nil {
		return nil, err
	}
	if to.Target.Topic == "" {
		return nil, fmt.Errorf("%s: %w", m.name, ErrNoTopic)
	}
	c := to.Client
	if _, bounded := ctx.Deadline(); !bounded {
		timeout := to.Timeout
		if timeout == 0 {
			timeout = c.timeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	ctx, rc := carry(ctx)
	encoded, err := m.arguments.encode(ctx, c.serializer, reflect.ValueOf(&args).Elem())
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", m.name, err)
	}
	call := &outgoing{method: &m.description, kind: kind, to: to, args: encoded, request: rc, started: time.Now()}
	return call.do(ctx)
}

// Handle makes f serve the method at e. f's context carries the request context and is not cancelled when the caller gives
// up. Handle panics if e's version does not support the method's or the name is taken at e.
func (m *Method[A, R]) Handle(e *Endpoint, f func(context.Context, A) (R, error)) {
	e.add(&m.description, func(ctx context.Context, s Serializer, raw json.RawMessage) (any, error) {
		var args A
		if err := m.arguments.decode(ctx, s, m.name, raw, reflect.ValueOf(&args).Elem()); err != nil {
			return nil, err
		}
		result, err := f(ctx, args)
		return result, err
	})
}
