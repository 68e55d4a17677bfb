package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// TestUnmappedErrorsStayHere: neither texts nor types of unknown errors, nor panics, go out; the log has them.
func TestUnmappedErrorsStayHere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var log bytes.Buffer
		serveOn(t, bus, rpc.ServerConfig{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Exceptions: notFoundTable(),
			Endpoints: []*rpc.Endpoint{
				handling("sql", func(context.Context) (string, error) { return "", errors.New("INSERT INTO secrets") }),
				handling("panic", func(context.Context) (string, error) { panic("at the secrets") }),
				handling("mapped", func(context.Context) (string, error) { return "", fmt.Errorf("load: %w", &notFoundError{"ARQ"}) }),
			},
		})
		for _, method := range []string{"sql", "panic"} {
			bus.deliver(rpc.Delivery{Body: request(method, method, `, "_context_request_id": "req-7"`)})
			m := <-bus.sent
			synctest.Wait()
			var f wire.Failure
			if err := f.Decode(decodeReply(t, m).Failure); err != nil {
				t.Fatal(err)
			}
			same(t, "failure", wire.Failure{Class: "RuntimeError", Module: "builtins", Message: "internal error (req-7)", Args: [][]byte{[]byte(`"internal error (req-7)"`)}}, f)
			if bytes.Contains(m.Body, []byte("secrets")) || !bytes.Contains(m.Body, []byte(`\\\"tb\\\": []`)) {
				t.Errorf("sent %s", m.Body)
			}
		}
		synctest.Wait()
		for _, part := range []string{"INSERT INTO secrets", "at the secrets", "stack=", "request_id=req-7", "method=sql", "level=ERROR"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %q:\n%s", part, log.String())
			}
		}
		log.Reset()
		bus.deliver(rpc.Delivery{Body: request("mapped", "m", "")})
		var f wire.Failure
		if err := f.Decode(decodeReply(t, <-bus.sent).Failure); err != nil {
			t.Fatal(err)
		}
		same(t, "failure", wire.Failure{
			Class: "ResourceNotFound", Module: "cyborg.common.exception", Message: "ARQ not found", Args: [][]byte{[]byte(`"ARQ not found"`)},
			Kwargs: []wire.Member{{Key: "code", Value: []byte("404")}, {Key: "resource", Value: []byte(`"ARQ"`)}},
		}, f)
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("an expected error was logged: %s", log.String())
		}
	})
}

// brokenText is a serializer whose output cannot stand in a message.
type brokenText struct{ rpc.JSON }

func (brokenText) Serialize(context.Context, any) (json.RawMessage, error) {
	return json.RawMessage("\"\xff\""), nil
}

func TestSerializerThatGivesNoText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging(), Serializer: brokenText{}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		if r := decodeReply(t, <-bus.sent); r.Failure == nil || !r.Ending || r.MsgID != "1" {
			t.Errorf("%+v", r)
		}
	})
}

// explosive is a result that cannot be encoded without a panic.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("in the serializer") }

// TestPanicsAroundAHandler: a panic in whatever belongs to a request is the failure of that request, not the end of the process.
func TestPanicsAroundAHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		result := rpc.NewEndpoint("", "1.0")
		rpc.NewMethod[struct{}, explosive]("result", "1.0").Handle(result, func(context.Context, struct{}) (explosive, error) { return explosive{}, nil })
		serveOn(t, bus, rpc.ServerConfig{
			Workers: 1,
			Endpoints: []*rpc.Endpoint{
				result, handling("ping", func(context.Context) (string, error) { return "pong", nil }),
				handling("table", func(context.Context) (string, error) { return "", &notFoundError{"ARQ"} }),
			},
			Exceptions: rpc.Exceptions{rpc.MapException("m", "C", func(*notFoundError) map[string]any { panic("in the table") }, nil)},
			Interceptors: []rpc.Interceptor{func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
				if c.Method == "intercepted" {
					panic("in the interceptor")
				}
				return next(ctx)
			}},
		})
		for _, method := range []string{"result", "table", "intercepted"} {
			bus.deliver(rpc.Delivery{Body: request(method, method, "")})
			if r := decodeReply(t, <-bus.sent); !bytes.Contains(r.Failure, []byte("internal error")) || !r.Ending || r.MsgID != method {
				t.Errorf("%s: %+v", method, r)
			}
		}
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		same(t, "afterwards", `"pong"`, string(decodeReply(t, <-bus.sent).Result))
	})
}

func TestResultThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		e := rpc.NewEndpoint("", "1.0")
		rpc.NewMethod[struct{}, any]("ping", "1.0").Handle(e, func(context.Context, struct{}) (any, error) { return make(chan int), nil })
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		if r := decodeReply(t, <-bus.sent); r.Failure == nil || !r.Ending {
			t.Errorf("%+v", r)
		}
	})
}

// TestPrivateMethods cannot be registered, so they cannot be called.
func TestPrivateMethods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging()})
		bus.deliver(rpc.Delivery{Body: request("_ping", "1", "")})
		var f wire.Failure
		if err := f.Decode(decodeReply(t, <-bus.sent).Failure); err != nil {
			t.Fatal(err)
		}
		same(t, "failure", "oslo_messaging.rpc.dispatcher.NoSuchMethod: Endpoint does not support RPC method _ping", f.Module+"."+f.Class+": "+f.Message)
	})
}

// TestRelayedErrorKeepsItsClass: a failure from another server goes on under the same name.
func TestRelayedErrorKeepsItsClass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		relayed := &rpc.RemoteError{
			Class: rpc.Class{Module: "nova.exception_Remote", Name: "Quota_Remote"}, Message: "too many", Args: nil, Traceback: []string{"secret"},
		}
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) {
			return "", fmt.Errorf("nested call: %w", relayed)
		})}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		var f wire.Failure
		if err := f.Decode(decodeReply(t, <-bus.sent).Failure); err != nil {
			t.Fatal(err)
		}
		same(t, "failure", wire.Failure{Class: "Quota", Module: "nova.exception", Message: "too many", Args: [][]byte{[]byte(`"too many"`)}}, f)
	})
}
