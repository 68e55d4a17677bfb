package ovorpc

import (
	"context"
	"encoding/json"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/rpc"
)

// Client is an [ovo.Indirection] that runs object methods in a remote service. It is safe for concurrent use
// and has no state of its own.
//
// Errors are those of [rpc.Method.Call]: *[rpc.VersionCapError] with nothing sent when the cap of Remote is
// below the operation's version, failures of the remote method mapped by the rpc client's exception table,
// time-outs and undeliverable requests. Nothing is retried and nothing falls back.
type Client struct {
	Methods Methods
	Remote  rpc.Remote
	// Reads says that a class method changes nothing, so that its request may be sent twice after a lost
	// confirm; nil means that none may.
	Reads func(object, method string) bool
}

var _ ovo.Indirection = (*Client)(nil)

// Allowed is nil when the cap of the remote admits object operations, otherwise *[rpc.VersionCapError]. It is
// a local decision: nothing is sent and nothing is learned about the remote.
func (c *Client) Allowed() error { return c.Methods.ClassAction.Allowed(c.Remote) }

// ObjectClassActionVersions implements [ovo.Indirection].
func (c *Client) ObjectClassActionVersions(ctx context.Context, object, method string, versions ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	m := c.Methods.ClassAction
	if c.Reads != nil && c.Reads(object, method) {
		m = m.Idempotent()
	}
	return m.Call(ctx, c.Remote, ClassActionArgs{Object: object, Method: method, Versions: versions, Args: args, Kwargs: kwargs})
}

// ObjectAction implements [ovo.Indirection].
func (c *Client) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	return c.Methods.Action.Call(ctx, c.Remote, ActionArgs{Object: object, Method: method, Args: args, Kwargs: kwargs})
}

// ObjectBackportVersions implements [ovo.Indirection].
func (c *Client) ObjectBackportVersions(ctx context.Context, object json.RawMessage, versions ovo.Manifest) (json.RawMessage, error) {
	return c.Methods.Backport.Call(ctx, c.Remote, BackportArgs{Object: object, Versions: versions})
}
