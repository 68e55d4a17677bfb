package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
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
