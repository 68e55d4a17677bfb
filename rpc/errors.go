package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Conditions without data. Test with errors.Is.
var (
	// ErrUndeliverable says that no queue took the message: nothing was run. See [UndeliverableError].
	ErrUndeliverable = errors.New("no queue for the message")
	// ErrUnconfirmed says that the connection was lost before the broker confirmed a cast: it may have been delivered.
	ErrUnconfirmed = errors.New("connection lost before the broker confirmed the message: it may have been delivered")
	// ErrNacked says that the broker refused the message, for instance because a queue is full.
	ErrNacked = errors.New("the broker refused the message")
	// ErrClosed says that the transport or the client has been closed.
	ErrClosed = errors.New("rpc client or transport closed")
	// ErrNoTopic says that a target has no topic.
	ErrNoTopic = errors.New("a topic is required to send")
)

// Class names a Python exception class. It is an error so that errors.Is can ask a [RemoteError] for its class:
//
//	errors.Is(err, rpc.Class{Module: "builtins", Name: "ValueError"})
type Class struct{ Module, Name string }

// Error gives the class with its module.
func (c Class) Error() string { return c.Module + "." + c.Name }

// Classes of failures that every server may answer with.
var (
	// ErrNoSuchMethod says that no endpoint of the server has the method.
	ErrNoSuchMethod = Class{"oslo_messaging.rpc.dispatcher", "NoSuchMethod"}
	// ErrUnsupportedVersion says that no endpoint of the server supports the version, or has the namespace.
	ErrUnsupportedVersion = Class{"oslo_messaging.rpc.dispatcher", "UnsupportedVersion"}
	// ErrBadArguments says that arguments are missing or unknown. Python's own TypeErrors have the same class.
	ErrBadArguments = Class{"builtins", "TypeError"}
)

// RemoteError is a failure with a Python identity. A client returns it for every failure that a server answered with; a
// handler may return one to choose the class that its caller sees. If the exception table knows the class, the error also
// unwraps to the program's own error.
type RemoteError struct {
	// Class has any "_Remote" suffixes of a relayed error cut off, and the module "exceptions" of Python 2 made "builtins".
	Class   Class
	Message string
	// Args and Kwargs are what the class is constructed from. A handler that leaves Args nil gets the message as the only one.
	Args   []json.RawMessage
	Kwargs map[string]json.RawMessage
	// Traceback is what a Python server printed; it is never sent on.
	Traceback []string

	mapped error
}

// Error gives the class and the message.
func (e *RemoteError) Error() string {
	return "remote error " + e.Class.Error() + ": " + e.Message
}

// Is reports whether target is the class of e.
func (e *RemoteError) Is(target error) bool {
	c, ok := target.(Class)
	return ok && c == e.Class
}

// Unwrap gives the error that the exception table made of e, or nil.
func (e *RemoteError) Unwrap() error { return e.mapped }

// Code is the HTTP status that Cyborg's exceptions carry, or 0.
func (e *RemoteError) Code() int {
	var code int
	if !e.Kwarg("code", &code) {
		return 0
	}
	return code
}

// Kwarg decodes a keyword argument into v, a pointer, and reports whether there was one that fits.
func (e *RemoteError) Kwarg(name string, v any) bool {
	raw, ok := e.Kwargs[name]
	return ok && json.Unmarshal(raw, v) == nil
}

// TimeoutError says that no answer came in time. It unwraps to [context.DeadlineExceeded].
type TimeoutError struct {
	Method, MessageID string
	// Reached tells how far the call got: "reply queue down", "not sent (<reason>)", "sent, unconfirmed", "confirmed" or
	// "no heartbeat".
	Reached string
}

// Error names the method, the message id and how far the call got.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("timed out waiting for a reply of %s to message %s: %s", e.Method, e.MessageID, e.Reached)
}

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap gives [context.DeadlineExceeded].
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// UndeliverableError is [ErrUndeliverable] with the place.
type UndeliverableError struct{ Exchange, RoutingKey string }

// Error names the exchange and the routing key.
func (e *UndeliverableError) Error() string {
	return fmt.Sprintf("no queue for messages to %q of exchange %q: is the service running there?", e.RoutingKey, e.Exchange)
}

// Is reports whether target is [ErrUndeliverable].
func (e *UndeliverableError) Is(target error) bool { return target == ErrUndeliverable }

// TooLargeError says that a message is larger than whoever should have taken it admits: the broker, which is [ErrNacked]
// too, or the reader of a reply.
type TooLargeError struct{ Size, Limit int } // bytes

// Error names both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("message of %d bytes, no more than %d are admitted", e.Size, e.Limit)
}

// VersionCapError says that a remote's cap does not admit a method. Nothing was sent.
type VersionCapError struct {
	Method       string
	Version, Cap Version
}

// Error names the method, its version and the cap.
func (e *VersionCapError) Error() string {
	version := e.Version.String()
	if version == "" {
		version = "none"
	}
	return fmt.Sprintf("method %s needs version %s, which the version cap %s does not admit: it must have the same major and no higher minor",
		e.Method, version, e.Cap)
}
