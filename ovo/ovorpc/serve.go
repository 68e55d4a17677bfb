package ovorpc

import (
	"context"
	"encoding/json"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/rpc"
)

// Serve registers the three operations on ep: every remotable method that d declares becomes callable by class
// and name, and nothing else does. Like [rpc.Method.Handle] it panics when ep's version is below theirs.
// Failures of a method go back to the caller through the server's exception table.
func (m Methods) Serve(ep *rpc.Endpoint, d *ovo.Dispatcher) {
	m.ClassAction.Handle(ep, func(ctx context.Context, a ClassActionArgs) (json.RawMessage, error) {
		return d.ClassAction(ctx, a.Object, a.Method, a.Versions, a.Args, a.Kwargs)
	})
	m.Action.Handle(ep, func(ctx context.Context, a ActionArgs) (json.RawMessage, error) {
		return d.Action(ctx, a.Object, a.Method, a.Args, a.Kwargs)
	})
	m.Backport.Handle(ep, func(_ context.Context, a BackportArgs) (json.RawMessage, error) {
		return d.Backport(a.Object, a.Versions)
	})
}
