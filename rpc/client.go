package rpc

import (
	"context"
	"log/slog"
	"time"
)

// ClientConfig configures a [Client]; the zero value is usable.
type ClientConfig struct {
	// Serializer encodes arguments and decodes results; nil means [JSON].
	Serializer Serializer
	// Exceptions makes the program's own errors from remote ones; nil leaves them as [*RemoteError].
	Exceptions Exceptions
	// Timeout bounds calls whose context has no deadline and whose remote has no timeout; 0 means 60 s (rpc_response_timeout).
	Timeout time.Duration
	// RouteWait is how long a call or cast that no queue takes is tried again; 0 fails it at once. It suits calls to a topic
	// whose servers may be restarting, not those to a named server.
	RouteWait time.Duration
	// Interceptors run around every call, the first outermost.
	Interceptors []Interceptor
	// Logger gets replies that cannot be used; nil discards.
	Logger *slog.Logger
	// Observe is told of events; nil means nobody.
	Observe func(Event)
}

// Client sends requests over a transport and receives the replies in one queue, which it opens with the first call. One client serves any
// number of remotes.
type Client struct {
	transport Transport
	cfg       ClientConfig
}

// NewClient makes a client. It starts nothing until the first call.
func NewClient(t Transport, cfg ClientConfig) *Client { panic("not yet") }

// Close fails the calls that still wait with [ErrClosed] and deletes the reply queue. It returns when that is done, or with
// the cause of ctx's end. It does not close the transport.
func (c *Client) Close(ctx context.Context) error { panic("not yet") }
