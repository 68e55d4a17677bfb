package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
)

type notFoundError struct{ What string }

func (e *notFoundError) Error() string { return e.What + " not found" }

func notFoundTable() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("cyborg.common.exception", "ResourceNotFound",
		func(e *notFoundError) map[string]any { return map[string]any{"resource": e.What, "code": 404} },
		func(r *rpc.RemoteError) *notFoundError {
			e := &notFoundError{}
			r.Kwarg("resource", &e.What)
			return e
		})}
}

// TestRemoteExceptions: known classes become the program's errors, built-ins keep their class under both spellings, others
// keep class, module and message, and what cannot be read is an error.
func TestRemoteExceptions(t *testing.T) {
	t.Parallel()
	const kwargs = `"kwargs": {"resource": "ARQ", "code": 404}`
	valueError := rpc.Class{Module: "builtins", Name: "ValueError"}
	for name, c := range map[string]struct {
		failure string
		class   rpc.Class
		mapped  bool
		message string
	}{
		"known class":       {`{"class": "ResourceNotFound", "module": "cyborg.common.exception", "message": "m", "tb": [], "args": ["m"], ` + kwargs + `}`, rpc.Class{Module: "cyborg.common.exception", Name: "ResourceNotFound"}, true, "m"},
		"relayed class":     {`{"class": "ResourceNotFound_Remote", "module": "cyborg.common.exception_Remote", "message": "m", ` + kwargs + `}`, rpc.Class{Module: "cyborg.common.exception", Name: "ResourceNotFound"}, true, "m"},
		"built-in":          {`{"class": "ValueError", "module": "builtins", "message": "100 % é", "tb": null}`, valueError, false, "100 % é"},
		"Python 2 built-in": {`{"class": "ValueError", "module": "exceptions", "message": "m"}`, valueError, false, "m"},
		"foreign":           {`{"class": "OperationalError", "module": "sqlalchemy.exc", "message": "m", "kwargs": {}}`, rpc.Class{Module: "sqlalchemy.exc", Name: "OperationalError"}, false, "m"},
		"same name, foreign module": {
			`{"class": "ResourceNotFound", "module": "nova.exception", "message": "m"}`,
			rpc.Class{Module: "nova.exception", Name: "ResourceNotFound"},
			false, "m",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := failed(t, fmt.Sprintf("%q", c.failure))
			var remote *rpc.RemoteError
			var mapped *notFoundError
			if !errors.As(err, &remote) {
				t.Fatalf("%s: %v", name, err)
			}
			same(t, name+": class", c.class, remote.Class)
			same(t, name+": message", c.message, remote.Message)
			if !errors.Is(err, c.class) || errors.Is(err, rpc.ErrNoSuchMethod) {
				t.Errorf("%s: errors.Is does not find the class", name)
			}
			if errors.As(err, &mapped) != c.mapped || c.mapped && (mapped.What != "ARQ" || remote.Code() != 404) {
				t.Errorf("%s: mapped to %v, code %d", name, mapped, remote.Code())
			}
		})
	}
	for _, raw := range []string{`"not json"`, `{"class": "X"}`, `5`} {
		synctest.Test(t, func(t *testing.T) {
			var remote *rpc.RemoteError
			if err := failed(t, raw); !errors.As(err, &remote) || !strings.Contains(remote.Message, strings.Trim(raw, `"`)) {
				t.Errorf("%s: %v", raw, err)
			}
		})
	}
}

// failed is the error of a call that is answered with the given raw failure.
func failed(t *testing.T, raw string) error {
	bus := newTap()
	to := rpc.Remote{Client: rpc.NewClient(bus, rpc.ClientConfig{Exceptions: notFoundTable()}), Target: rpc.Target{Topic: "t"}}
	defer closeClient(t, to)
	r, wait := call(t, t.Context(), bus, to)
	bus.deliver(reply(r.MsgID, `"result": null, "failure": `+raw+`, "ending": true`))
	_, err := wait()
	return err
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`remote error builtins.ValueError: bad`:                                         &rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "ValueError"}, Message: "bad"},
		`timed out waiting for a reply of m to message 1: confirmed`:                    &rpc.TimeoutError{Method: "m", MessageID: "1", Reached: "confirmed"},
		`no queue for messages to "t.h" of exchange "x": is the service running there?`: &rpc.UndeliverableError{Exchange: "x", RoutingKey: "t.h"},
		`method m needs version none, which the version cap 1.0 does not admit: it must have the same major and no higher minor`: &rpc.VersionCapError{
			Method: "m", Cap: rpc.Version{Major: 1},
		},
	} {
		same(t, "text", want, err.Error())
	}
}

// TestClassOf: what a server sends for an error, and whether a request would be run, as interceptors may ask.
func TestClassOf(t *testing.T) {
	t.Parallel()
	table := rpc.Exceptions{rpc.MapException("m", "Gone", func(*rpc.UndeliverableError) map[string]any { return nil }, func(*rpc.RemoteError) *rpc.UndeliverableError { return nil })}
	same(t, "classes", []rpc.Class{{Module: "m", Name: "Gone"}}, table.Classes())
	for name, tt := range map[string]struct {
		err  error
		want rpc.Class
	}{
		"mapped":   {fmt.Errorf("send: %w", &rpc.UndeliverableError{}), rpc.Class{Module: "m", Name: "Gone"}},
		"relayed":  {&rpc.RemoteError{Class: rpc.ErrNoSuchMethod}, rpc.ErrNoSuchMethod},
		"unmapped": {errors.New("secret"), rpc.Class{Module: "builtins", Name: "RuntimeError"}},
	} {
		same(t, name, tt.want, table.ClassOf(tt.err))
	}
}

// TestClassOfIllTypedArgument: the class that an interceptor sees is the one that is sent.
func TestClassOfIllTypedArgument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type args struct {
			N int `json:"n"`
		}
		ep, bus := rpc.NewEndpoint("", "1.0"), newTap()
		rpc.NewMethod[args, string]("count", "1.0").Handle(ep, func(context.Context, args) (string, error) { return "", nil })
		var seen rpc.Class
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{ep}, Interceptors: []rpc.Interceptor{
			func(ctx context.Context, _ rpc.CallInfo, next func(context.Context) error) error {
				err := next(ctx)
				seen = rpc.Exceptions(nil).ClassOf(err)
				return err
			},
		}})
		bus.deliver(rpc.Delivery{Body: []byte(`{"method": "count", "args": {"n": "x"}, "_msg_id": "1", "_reply_q": "q"}`)})
		r := decodeReply(t, <-bus.sent)
		same(t, "class", rpc.Class{Module: "builtins", Name: "ValueError"}, seen)
		if !strings.Contains(string(r.Failure), "ValueError") {
			t.Errorf("sent %s", r.Failure)
		}
	})
}

// TestServes: method, version and namespace.
func TestServes(t *testing.T) {
	t.Parallel()
	ep := rpc.NewEndpoint("space", "1.1")
	rpc.NewMethod[struct{}, string]("ping", "1.0").Handle(ep, func(context.Context, struct{}) (string, error) { return "", nil })
	for name, tt := range map[string]struct {
		namespace, method string
		version           rpc.Version
		want              bool
	}{
		"as registered": {"space", "ping", rpc.Version{Major: 1}, true}, "higher": {"space", "ping", rpc.Version{Major: 1, Minor: 1}, true},
		"too high": {"space", "ping", rpc.Version{Major: 1, Minor: 2}, false}, "unknown": {"space", "pong", rpc.Version{Major: 1}, false},
		"elsewhere": {"", "ping", rpc.Version{Major: 1}, false},
	} {
		same(t, name, tt.want, ep.Serves(tt.namespace, tt.method, tt.version))
	}
}
