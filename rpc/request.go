package rpc

import (
	"context"
	"encoding/json"
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

// WithRequest returns a context that carries rc, which must not be changed afterwards.
func WithRequest(ctx context.Context, rc *RequestContext) context.Context {
	return context.WithValue(ctx, requestKey{}, &carried{rc: rc})
}

// RequestOf returns the request context that ctx carries; it must not be changed. If there is none it returns one without user or
// rights and with a fresh request id, so ask once and pass it on with [WithRequest].
func RequestOf(ctx context.Context) *RequestContext { panic("not yet") }

type requestKey struct{}
type carried struct{ rc *RequestContext }

func newRequestID() string { panic("not yet") }
