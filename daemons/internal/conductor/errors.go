package conductor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
)

// expected gives errors of the store the class that Python peers know them by. The exception table cannot: what
// agents link must not know the store.
func expected(err error) error {
	var duplicate *store.DuplicateError
	var engine *store.Error
	var refused *nova.ResponseError
	var noRoot *reconcile.NoRootError
	switch {
	case errors.As(err, &noRoot): // agents of Cyborg 17 log the text
		return raise("PlacementResourceProviderNotFound", 404, "Placement resource provider not found: "+noRoot.Host+".",
			"resource_provider", noRoot.Host)
	case errors.As(err, &refused):
		return raise("InvalidAPIResponse", 400, refused.Error(),
			"service", "Nova", "api", "os-server-external-events", "msg", refused.Detail)
	case errors.As(err, &duplicate) && duplicate.Key == "name":
		return raise("DuplicateDeviceProfileName", 409, fmt.Sprintf("A device_profile with name %s already exists.", duplicate.Value),
			"name", duplicate.Value)
	case errors.As(err, &duplicate):
		return raise("DeviceProfileAlreadyExists", 500, fmt.Sprintf("DeviceProfile with uuid %s already exists.", duplicate.Value),
			"uuid", duplicate.Value)
	case errors.As(err, &engine) && engine.Kind == store.Referenced:
		return &rpc.RemoteError{
			Class:   rpc.Class{Module: "oslo_db.exception", Name: "DBReferenceError"},
			Message: "the row is in use by another one",
		}
	}
	return err
}

// raise is an exception of Cyborg's own module, with keywords beside its code.
func raise(class string, code int, message string, keywords ...string) error {
	kwargs := map[string]json.RawMessage{"code": json.RawMessage(fmt.Sprint(code))}
	for pair := range slices.Chunk(keywords, 2) {
		kwargs[pair[0]] = text(pair[1])
	}
	return &rpc.RemoteError{Class: rpc.Class{Module: cyborgrpc.Module, Name: class}, Message: message, Kwargs: kwargs}
}

func text(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always can be
	return raw
}

// raising is f with its errors as [expected] gives them.
func raising[A, R any](f func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, args A) (R, error) {
		r, err := f(ctx, args)
		return r, expected(err)
	}
}

// nothing makes a handler of a method that returns nothing.
func nothing[A any](f func(context.Context, A) error) func(context.Context, A) (rpc.Null, error) {
	return raising(func(ctx context.Context, args A) (rpc.Null, error) { return rpc.Null{}, f(ctx, args) })
}
