package cyborgrpc

import (
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
)

// Module is the module of Cyborg's own exception classes.
const Module = "cyborg.common.exception"

// Modules of other exception classes on the wire.
const (
	ovoModule      = "oslo_versionedobjects.exception"
	builtinsModule = "builtins"
)

// Classes that Cyborg has not released yet: provisional.
const classAttachHandleStale = "AttachHandleStale"

// Exceptions is the table of the exceptions that Cyborg's services raise across RPC, in both directions.
// Cyborg's own classes carry the HTTP status in code. A class that is not in the table arrives as
// *[rpc.RemoteError].
func Exceptions() rpc.Exceptions {
	return append(append(cyborgExceptions(), objectExceptions()...), builtinExceptions()...)
}

func cyborgExceptions() rpc.Exceptions {
	return rpc.Exceptions{
		rpc.MapException(Module, classAttachHandleStale,
			func(e *cyborg.StaleHandleError) map[string]any {
				return map[string]any{"uuid": e.UUID, "field": e.Field, "code": 409}
			},
			func(r *rpc.RemoteError) *cyborg.StaleHandleError {
				return &cyborg.StaleHandleError{UUID: text(r, "uuid"), Field: text(r, "field")}
			}),
		rpc.MapException(Module, "ResourceNotFound",
			func(e *cyborg.HandleNotFoundError) map[string]any {
				return notFoundKwargs(&arq.NotFoundError{Resource: "AttachHandle", Msg: "with uuid=" + e.UUID})
			}, (func(*rpc.RemoteError) *cyborg.HandleNotFoundError)(nil)),
		rpc.MapException(Module, "ResourceNotFound", notFoundKwargs,
			func(r *rpc.RemoteError) *arq.NotFoundError {
				return &arq.NotFoundError{Resource: text(r, "resource"), Msg: text(r, "msg")}
			}),
		rpc.MapException(Module, "PlacementResourceProviderNotFound",
			func(e *reconcile.NoRootError) map[string]any {
				return map[string]any{"resource_provider": e.Host, "code": 404}
			},
			func(r *rpc.RemoteError) *reconcile.NoRootError {
				return &reconcile.NoRootError{Host: text(r, "resource_provider")}
			}),
		rpc.MapException(Module, "ARQBadState",
			func(e *arq.BadStateError) map[string]any {
				return map[string]any{"uuid": e.UUID, "state": e.Have, "expected": e.Want, "code": 500}
			}, badState),
		rpc.MapException(Module, "ObjectActionError",
			func(e *UnsupportedMethodError) map[string]any {
				return map[string]any{"action": e.Method, "reason": e.Reason, "code": 500}
			},
			func(r *rpc.RemoteError) *UnsupportedMethodError {
				return &UnsupportedMethodError{Method: text(r, "action"), Reason: text(r, "reason")}
			}),
		rpc.MapException(Module, "InvalidParameterValue",
			func(e *arq.GroupError) map[string]any {
				return map[string]any{"err": e.Error(), "code": 400}
			}, (func(*rpc.RemoteError) *arq.GroupError)(nil)),
		rpc.MapException(Module, "InvalidParameterValue",
			func(e *cyborg.InvalidArgumentError) map[string]any {
				return map[string]any{"err": e.Error(), "code": 400}
			}, (func(*rpc.RemoteError) *cyborg.InvalidArgumentError)(nil)),
	}
}

func objectExceptions() rpc.Exceptions {
	return rpc.Exceptions{
		rpc.MapException(ovoModule, "UnsupportedObjectError",
			func(e *ovo.UnsupportedObjectError) map[string]any { return map[string]any{"objtype": e.Object} },
			func(r *rpc.RemoteError) *ovo.UnsupportedObjectError {
				return &ovo.UnsupportedObjectError{Object: text(r, "objtype")}
			}),
		rpc.MapException(ovoModule, "IncompatibleObjectVersion",
			func(e *ovo.IncompatibleVersionError) map[string]any {
				return map[string]any{"objname": e.Object, "objver": e.Got, "supported": e.Supported}
			},
			func(r *rpc.RemoteError) *ovo.IncompatibleVersionError {
				return &ovo.IncompatibleVersionError{Object: text(r, "objname"), Got: text(r, "objver"), Supported: text(r, "supported")}
			}),
		rpc.MapException(ovoModule, "InvalidTargetVersion",
			func(e *ovo.InvalidTargetError) map[string]any { return map[string]any{"version": e.Version} },
			func(r *rpc.RemoteError) *ovo.InvalidTargetError {
				return &ovo.InvalidTargetError{Version: text(r, "version")}
			}),
		rpc.MapException(ovoModule, "ObjectActionError",
			func(e *ovo.ActionError) map[string]any {
				return map[string]any{"action": e.Action, "reason": e.Reason}
			},
			func(r *rpc.RemoteError) *ovo.ActionError {
				return &ovo.ActionError{Action: text(r, "action"), Reason: text(r, "reason")}
			}),
		rpc.MapException(ovoModule, "ReadOnlyFieldError",
			func(e *ovo.ReadOnlyError) map[string]any { return map[string]any{"field": e.Field} },
			func(r *rpc.RemoteError) *ovo.ReadOnlyError { return &ovo.ReadOnlyError{Field: text(r, "field")} }),
	}
}

// builtinExceptions come last: they are what is left of an error that says nothing more precise.
func builtinExceptions() rpc.Exceptions {
	return rpc.Exceptions{
		toBuiltin[*ovo.FieldError]("ValueError"), // its text has the place, its inner error has not
		toBuiltin[*ovo.KeyError]("KeyError"),
		toBuiltin[*ovo.TypeError]("TypeError"),
		toBuiltin[*ovo.OverflowError]("OverflowError"),
		toBuiltin[*ovo.ValueError]("ValueError"),
		toBuiltin[*ovo.SyntaxError]("ValueError"),
		toBuiltin[*ovo.TextError]("ValueError"),
		toBuiltin[*ovo.DuplicateKeyError]("ValueError"),
	}
}

func toBuiltin[E error](class string) rpc.Exception {
	return rpc.MapException(builtinsModule, class, func(E) map[string]any { return nil }, (func(*rpc.RemoteError) E)(nil))
}

func text(r *rpc.RemoteError, key string) string {
	var s string
	r.Kwarg(key, &s)
	return s
}

func badState(r *rpc.RemoteError) *arq.BadStateError {
	e := &arq.BadStateError{UUID: text(r, "uuid"), Have: arq.State(text(r, "state"))}
	r.Kwarg("expected", &e.Want)
	return e
}

func notFoundKwargs(e *arq.NotFoundError) map[string]any {
	return map[string]any{"resource": e.Resource, "msg": e.Msg, "code": 404}
}

// UnsupportedMethodError says that a class has no such remotable method. It travels as an exception of
// Cyborg's own, never as a not-implemented one, which Python peers take for a cue to fall back.
type UnsupportedMethodError struct {
	Method string // Class.method
	Reason string
}

func (e *UnsupportedMethodError) Error() string {
	return fmt.Sprintf("Object action %s failed because: %s", e.Method, e.Reason)
}

// Unsupported turns what a dispatcher says of an undeclared method, or of an operation nobody implements, into
// *[UnsupportedMethodError]; other errors stay as they are. Only err's own class counts: an error of that kind somewhere
// inside a body's error is the body's failure, and no reason to ask for an upgrade of the conductor.
func Unsupported(method string, err error) error {
	switch err.(type) { //nolint:errorlint // what err wraps does not count
	case *ovo.UndeclaredMethodError, *ovo.NotImplementedError:
		return &UnsupportedMethodError{Method: method, Reason: err.Error()}
	}
	return err
}
