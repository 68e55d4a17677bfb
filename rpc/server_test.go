package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// request is the body of a request for a method without arguments; more adds members.
func request(method, id, more string) []byte {
	return fmt.Appendf(nil, `{"method": "%s", "args": {}, "version": "1.0", "_msg_id": "%s", "_reply_q": "reply_of_%s", "_timeout": null, "_unique_id": "u%s"%s}`,
		method, id, id, id, more)
}

func decodeReply(t *testing.T, m rpc.Message) *wire.Reply {
	t.Helper()
	r := &wire.Reply{}
	if err := r.Decode(m.Body); err != nil {
		t.Fatal(err)
	}
	return r
}

func handling(name string, f func(context.Context) (string, error)) *rpc.Endpoint {
	e := rpc.NewEndpoint("", "1.0")
	rpc.NewMethod[struct{}, string](name, "1.0").Handle(e, func(ctx context.Context, _ struct{}) (string, error) { return f(ctx) })
	return e
}

func pinging() []*rpc.Endpoint {
	return []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) { return "pong", nil })}
}

func TestNewServerReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := rpc.NewServer(newTap(), rpc.ServerConfig{Target: rpc.Target{Topic: "t"}, Workers: -1})
	for _, part := range []string{"server name", "no endpoints", "negative"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var ready []bool
		stop := serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging(), Ready: func(up bool) { ready = append(ready, up) }})
		settled := bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		m := <-bus.sent
		same(t, "address", rpc.Address{Queue: "reply_of_1"}, m.To)
		same(t, "resend", true, m.Resend)
		same(t, "time to live", time.Duration(0), m.TTL)
		same(t, "reply", &wire.Reply{Result: []byte(`"pong"`), Ending: true, MsgID: "1"}, decodeReply(t, m))
		same(t, "settled", []bool{true}, settled.all())
		if !bytes.Contains(m.Body, []byte(`\"failure\": null`)) || !bytes.Contains(m.Body, []byte(`\"_unique_id\": \"`)) {
			t.Errorf("%s lacks a member that Python needs", m.Body)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, "ready", []bool{true, false}, ready)
	})
}

// TestCastsAreNotAnswered, whatever happens.
func TestCastsAreNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging()})
		for _, method := range []string{"ping", "nope"} {
			bus.deliver(rpc.Delivery{Body: fmt.Appendf(nil, `{"method": "%s", "args": {}}`, method)})
		}
		bus.deliver(rpc.Delivery{Body: []byte(`{"method": "ping", "_msg_id": "1"}`)}) // where to?
		synctest.Wait()
		if len(bus.sent) != 0 {
			t.Errorf("answered with %s", (<-bus.sent).Body)
		}
	})
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var ran atomic.Int32
		var events []rpc.EventKind
		serveOn(t, bus, rpc.ServerConfig{
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) { ran.Add(1); return "", nil })},
			Observe:   func(e rpc.Event) { events = append(events, e.Kind) },
		})
		same(t, "settled", []bool{true}, bus.deliver(rpc.Delivery{Body: request("ping", "1", "")}).all())
		same(t, "settled", []bool{true}, bus.deliver(rpc.Delivery{Body: request("ping", "1", "")}).all())
		same(t, "runs", int32(1), ran.Load())
		same(t, "events", []rpc.EventKind{rpc.EventDuplicate}, events)
		for range 2 { // without an id there is nothing to compare
			bus.deliver(rpc.Delivery{Body: request("ping", "2", `, "_unique_id": null`)})
		}
		synctest.Wait()
		same(t, "runs", int32(3), ran.Load())
	})
}

// TestNotRunUnlessAcknowledged: when the acknowledgement fails the broker gives the request to somebody else, maybe to us
// again, and then it is no repetition.
func TestNotRunUnlessAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var ran atomic.Int32
		serveOn(t, bus, rpc.ServerConfig{
			Workers:   1,
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) { ran.Add(1); return "", nil })},
		})
		for range 3 {
			bus.inbox <- rpc.Delivery{Body: request("ping", "1", ""), Settle: func(bool) error { return errors.New("connection lost") }}
		}
		synctest.Wait()
		same(t, "runs", int32(0), ran.Load())
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		synctest.Wait()
		same(t, "runs", int32(1), ran.Load())
	})
}

// TestBusyWorkers: nothing is accepted while all workers are busy, and what waited too long is not run any more.
func TestBusyWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var events []rpc.EventKind
		serveOn(t, bus, rpc.ServerConfig{
			Workers: 1,
			Endpoints: []*rpc.Endpoint{handling("ping", func(context.Context) (string, error) {
				pause(10 * time.Second)
				return "", nil
			})},
			Observe: func(e rpc.Event) { events = append(events, e.Kind) },
		})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		waiting := bus.deliver(rpc.Delivery{Body: request("ping", "2", ""), TTL: 5 * time.Second})
		pause(9 * time.Second)
		same(t, "settled", 0, len(waiting.all()))
		pause(2 * time.Second)
		synctest.Wait()
		same(t, "settled", []bool{true}, waiting.all())
		same(t, "events", []rpc.EventKind{rpc.EventExpired}, events)
		same(t, "reply", "1", decodeReply(t, <-bus.sent).MsgID)
		if len(bus.sent) != 0 {
			t.Error("an expired request was answered")
		}
	})
}

// TestUnreadable: rejected and never seen again, answered if the sender can be told.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var events []rpc.EventKind
		var log bytes.Buffer
		serveOn(t, bus, rpc.ServerConfig{
			Endpoints: pinging(), Observe: func(e rpc.Event) { events = append(events, e.Kind) },
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		same(t, "settled", []bool{false}, bus.deliver(rpc.Delivery{Body: []byte("garbage")}).all())
		same(t, "settled", []bool{false}, bus.deliver(rpc.Delivery{Body: request("ping", "1", ""), Invalid: errors.New("content type")}).all())
		m := <-bus.sent
		same(t, "address", rpc.Address{Queue: "reply_of_1"}, m.To)
		var f wire.Failure
		if err := f.Decode(decodeReply(t, m).Failure); err != nil || f.Class != "ValueError" || !strings.Contains(f.Message, "content type") {
			t.Errorf("%+v, %v", f, err)
		}
		same(t, "events", []rpc.EventKind{rpc.EventRejected, rpc.EventRejected}, events)
		same(t, "log lines", 2, strings.Count(log.String(), "request rejected"))
		if len(bus.sent) != 0 {
			t.Error("garbage was answered")
		}
	})
}

// TestHeartbeats: every half of the timeout, cut to whole seconds first, and none after the answer, whatever that is.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]int{
		"4": 2, "4.9": 2, `"4"`: 2, "2": 4, "3": 3, "1": 0, "0": 0, "-5": 0, "1.9": 0, "null": 0, `"abc"`: 0, "true": 0, "1e9": 0, "[]": 0,
	} {
		for _, method := range []string{"slow", "nope"} {
			synctest.Test(t, func(t *testing.T) {
				bus := newTap()
				serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("slow", func(context.Context) (string, error) {
					pause(4900 * time.Millisecond)
					return "slept", nil
				})}})
				bus.deliver(rpc.Delivery{Body: request(method, "1", `, "_timeout": `+timeout)})
				pause(time.Minute)
				beats := 0
				for len(bus.sent) > 1 {
					r := decodeReply(t, <-bus.sent)
					same(t, "heartbeat", &wire.Reply{MsgID: "1"}, r)
					beats++
				}
				if method == "nope" {
					want = 0
				}
				same(t, "heartbeats for timeout "+timeout, want, beats)
				same(t, "ending", true, decodeReply(t, <-bus.sent).Ending)
			})
		}
	}
}

func TestHeartbeatsEndWithTheirQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		bus.outcome = func(rpc.Message) error { return rpc.ErrUndeliverable }
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{handling("slow", func(context.Context) (string, error) {
			pause(time.Minute)
			return "", nil
		})}})
		bus.deliver(rpc.Delivery{Body: request("slow", "1", `, "_timeout": 2`)})
		pause(59 * time.Second)
		same(t, "heartbeats", 1, len(bus.sent))
	})
}

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

func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := newTap()
		var cause error
		stop := serveOn(t, bus, rpc.ServerConfig{Drain: 5 * time.Second, Endpoints: []*rpc.Endpoint{handling("ping", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			cause = ctx.Err()
			return "", cause
		})}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", "")})
		synctest.Wait()
		start := time.Now()
		if err := stop(); err == nil {
			t.Error("a forced end was not reported")
		}
		same(t, "time", 5*time.Second, time.Since(start))
		if !errors.Is(cause, context.Canceled) {
			t.Errorf("the handler's context ended with %v", cause)
		}
	})
}

func TestRunOnlyOnce(t *testing.T) {
	t.Parallel()
	srv, err := rpc.NewServer(newTap(), rpc.ServerConfig{Target: rpc.Target{Topic: "t", Server: "h"}, Endpoints: pinging()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := srv.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := srv.Run(ctx); err == nil {
		t.Error("a second Run was accepted")
	}
}

func TestServerInterceptors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []rpc.CallInfo
		var outcomes []error
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: pinging(), Interceptors: []rpc.Interceptor{
			func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
				err := next(ctx)
				seen, outcomes = append(seen, c), append(outcomes, err)
				return err
			},
		}})
		bus.deliver(rpc.Delivery{Body: request("ping", "1", `, "_context_request_id": "req-1"`)})
		<-bus.sent
		bus.deliver(rpc.Delivery{Body: request("nope", "2", "")})
		<-bus.sent
		synctest.Wait()
		same(t, "calls", 2, len(seen))
		same(t, "info", rpc.CallInfo{
			Side: rpc.SideServer, Kind: rpc.KindCall, Target: rpc.Target{Topic: "t", Server: "h"}, Method: "ping",
			Version: rpc.Version{Major: 1}, MessageID: "1", RequestID: "req-1",
		}, seen[0])
		if outcomes[0] != nil || !errors.Is(outcomes[1], rpc.ErrNoSuchMethod) {
			t.Errorf("outcomes: %v", outcomes)
		}
	})
}
