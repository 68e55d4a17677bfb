package rpc

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// RequestContext says on whose behalf a call is made. It travels with every request as Cyborg's does: all 21 keys are always
// sent, and the empty string is null on the wire.
type RequestContext struct {
	User, UserName                    string
	ProjectID, ProjectName            string
	Domain, UserDomain, ProjectDomain string // ids
	SystemScope                       string // "all" for system tokens
	AuthToken                         string // the caller's Keystone token: never log it
	RequestID, GlobalRequestID        string // "req-" and a UUID
	ResourceUUID                      string
	IsAdmin                           bool
	IsAdminProject                    bool // true unless Keystone says otherwise; a missing key reads as true
	ReadOnly, ShowDeleted             bool
	Roles                             []string
	// ServiceCatalog holds objects. Entries without a string "type" are not sent: they make a Python server fail the call.
	ServiceCatalog []json.RawMessage
	// Extra holds keys that are not among the 21, and keys among them whose value has another type than here; it is sent
	// as it is and wins over the fields.
	Extra map[string]json.RawMessage
}

// AdminContext returns the context of a service's own work, with a fresh request id: an administrator without a user.
func AdminContext() *RequestContext {
	return &RequestContext{IsAdmin: true, IsAdminProject: true, RequestID: newRequestID()}
}

func newRequestID() string { return "req-" + wire.NewUUID() }

// WithRequest returns a context that carries rc, which must not be changed afterwards. If rc has no request id, a copy with
// a fresh one is carried.
func WithRequest(ctx context.Context, rc *RequestContext) context.Context {
	if rc.RequestID == "" {
		c := *rc
		c.RequestID = newRequestID()
		rc = &c
	}
	return context.WithValue(ctx, requestKey{}, &carried{rc: rc})
}

// RequestOf returns the request context that ctx carries; it must not be changed. If there is none it returns one without
// user or rights and with a fresh request id, so ask once and pass it on with [WithRequest].
func RequestOf(ctx context.Context) *RequestContext {
	if c, ok := ctx.Value(requestKey{}).(*carried); ok {
		return c.request()
	}
	return anonymous()
}

// HasRequest reports whether ctx carries a request context, so that a log line can name the request without making one up.
func HasRequest(ctx context.Context) bool {
	_, ok := ctx.Value(requestKey{}).(*carried)
	return ok
}

func anonymous() *RequestContext {
	return &RequestContext{IsAdminProject: true, RequestID: newRequestID()}
}

type requestKey struct{}

// carried is a request context on its way: what was received is decoded when somebody asks, and what is sent is encoded
// once for all calls made with it.
type carried struct {
	received *wire.Request // nil when rc is set
	decode   sync.Once
	rc       *RequestContext

	encode sync.Once
	text   []byte
	err    error
}

func (c *carried) request() *RequestContext {
	c.decode.Do(func() {
		if c.rc == nil {
			c.rc = decodeContext(c.received.Context)
		}
	})
	return c.rc
}

func (c *carried) encoded() ([]byte, error) {
	c.encode.Do(func() {
		var members []byte
		if members, c.err = c.request().appendWire(make([]byte, 0, 1024)); c.err == nil {
			c.text, c.err = wire.EscapeContext(members)
		}
	})
	return c.text, c.err
}

// carry gives ctx with the request context it carries, adding an anonymous one if there is none.
func carry(ctx context.Context) (context.Context, *carried) {
	if c, ok := ctx.Value(requestKey{}).(*carried); ok {
		return ctx, c
	}
	c := &carried{rc: anonymous()}
	return context.WithValue(ctx, requestKey{}, c), c
}
