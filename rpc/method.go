package rpc

import "context"

// Method is a remote method: its name, the version of the interface that introduced it, the type A of its arguments and the
// type R of its result. It is immutable and may be shared.
type Method[A, R any] struct {
	name       string
	version    Version
	idempotent bool
}

// NewMethod describes a method. version is "major.minor", or "" to send no version (servers read that as 1.0).
//
// A is a struct with one field per keyword argument, named by its json tag; omitempty or omitzero marks an argument that has
// a default and may be absent. A map with string keys stands for arbitrary keyword arguments. R is anything the serializer
// can decode, [Null] for a method that returns nothing, any for a result of dynamic class.
//
// NewMethod panics if the name or version is malformed, if A is neither, or has an embedded, unexported or untagged field: these are
// mistakes of the program.
func NewMethod[A, R any](name, version string) *Method[A, R] { panic("not yet") }

// Name is the method's name on the wire.
func (m *Method[A, R]) Name() string { return m.name }

// Version is the version of the interface that introduced the method.
func (m *Method[A, R]) Version() Version { return m.version }

// Idempotent returns a copy of m whose requests may be sent, and run, twice when the broker's confirmation was lost.
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
// [*UndeliverableError], [ErrNacked], [ErrClosed], or the cause of ctx's end. After any of the last five but ErrUndeliverable
// the method may still be running or run later.
func (m *Method[A, R]) Call(ctx context.Context, to Remote, args A) (R, error) { panic("not yet") }

// Cast asks one server to run the method and returns when the broker has put the request into a queue. Errors as of Call,
// and [ErrUnconfirmed].
func (m *Method[A, R]) Cast(ctx context.Context, to Remote, args A) error { panic("not yet") }

// CastAll asks every server of the topic to run the method. It is no error if there is none.
func (m *Method[A, R]) CastAll(ctx context.Context, to Remote, args A) error { panic("not yet") }

// Handle makes f serve the method at e. f's context carries the request context and is not cancelled when the caller gives
// up. Handle panics if e's version does not support the method's or the name is taken at e.
func (m *Method[A, R]) Handle(e *Endpoint, f func(context.Context, A) (R, error)) { panic("not yet") }
