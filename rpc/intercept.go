package rpc

import "context"

// Interceptor runs around every call, on both sides, for metrics, access logs and tracing. It calls next, usually once,
// possibly with a context derived from ctx, and returns its error or another one. It sees no payload. On a client, next
// returns when the answer is there; on a server, when the handler has returned.
type Interceptor func(ctx context.Context, c CallInfo, next func(context.Context) error) error

// CallInfo describes a call to an [Interceptor].
type CallInfo struct {
	Side      Side
	Kind      Kind
	Target    Target
	Method    string
	Version   Version
	MessageID string // "" for casts
	RequestID string
}

// Side is the end at which an [Interceptor] runs.
type Side string

// The sides.
const (
	SideClient Side = "client"
	SideServer Side = "server"
)

// Kind is the kind of a request. A server cannot tell a cast to all servers from one to itself.
type Kind string

// The kinds.
const (
	KindCall    Kind = "call"
	KindCast    Kind = "cast"
	KindCastAll Kind = "cast_all"
)

// chain calls the interceptors from the first to the last, then f.
func chain(ctx context.Context, in []Interceptor, c CallInfo, f func(context.Context) error) error {
	if len(in) == 0 {
		return f(ctx)
	}
	return in[0](ctx, c, func(ctx context.Context) error { return chain(ctx, in[1:], c, f) })
}
