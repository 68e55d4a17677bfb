package cyborgrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// TooOldError says that a conductor does not know an object operation, class, version or method. The local cap
// admitted the call, but cannot prove what a remote service implements.
type TooOldError struct {
	Operation string // Class.method, or the operation on an object
	Err       error  // the conductor's answer
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("the conductor does not support %s: upgrade conductors first, or set [upgrade_levels] conductor = 1.0 until then (%v)",
		e.Operation, e.Err)
}

// Unwrap gives the conductor's answer.
func (e *TooOldError) Unwrap() error { return e.Err }

// Indirection is the [ovo.Indirection] of an agent.
type Indirection struct{ client *ovorpc.Client }

var _ ovo.Indirection = (*Indirection)(nil)

// ObjectClassActionVersions implements [ovo.Indirection].
func (i *Indirection) ObjectClassActionVersions(ctx context.Context, object, method string, versions ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	raw, err := i.client.ObjectClassActionVersions(ctx, object, method, versions, args, kwargs)
	return raw, tooOld(object+"."+method, err)
}

// ObjectAction implements [ovo.Indirection].
func (i *Indirection) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	raw, err := i.client.ObjectAction(ctx, object, method, args, kwargs)
	return raw, tooOld("object method "+method, err)
}

// ObjectBackportVersions implements [ovo.Indirection].
func (i *Indirection) ObjectBackportVersions(ctx context.Context, object json.RawMessage, versions ovo.Manifest) (json.RawMessage, error) {
	raw, err := i.client.ObjectBackportVersions(ctx, object, versions)
	return raw, tooOld("converting an object", err)
}

// tooOld recognises the answers of a conductor that lacks the operation itself, the class, or the method.
func tooOld(operation string, err error) error {
	var unsupported *ovo.UnsupportedObjectError
	var incompatible *ovo.IncompatibleVersionError
	var method *UnsupportedMethodError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpc.ErrNoSuchMethod), errors.Is(err, rpc.ErrUnsupportedVersion),
		errors.As(err, &unsupported), errors.As(err, &incompatible), errors.As(err, &method):
		return &TooOldError{Operation: operation, Err: err}
	}
	return err
}
