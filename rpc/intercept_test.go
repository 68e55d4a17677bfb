package rpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
)

func TestClientInterceptors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []rpc.CallInfo
		var outcome error
		refuse := errors.New("not today")
		watch := func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
			seen = append(seen, c)
			outcome = next(ctx)
			return outcome
		}
		stop := func(context.Context, rpc.CallInfo, func(context.Context) error) error { return refuse }
		bus := newTap()
		to := rpc.Remote{Client: rpc.NewClient(bus, rpc.ClientConfig{Interceptors: []rpc.Interceptor{watch, stop}}), Target: rpc.Target{Topic: "t", Namespace: "n"}}
		defer closeClient(t, to)
		ctx := rpc.WithRequest(t.Context(), &rpc.RequestContext{RequestID: "req-1"})
		if _, err := ping.Call(ctx, to, struct{}{}); !errors.Is(err, refuse) || !errors.Is(outcome, refuse) {
			t.Errorf("%v, %v", err, outcome)
		}
		if len(seen) != 1 || len(seen[0].MessageID) != 32 {
			t.Fatalf("seen: %+v", seen)
		}
		seen[0].MessageID = ""
		same(t, "info", rpc.CallInfo{
			Side: rpc.SideClient, Kind: rpc.KindCall, Target: rpc.Target{Topic: "t", Namespace: "n"}, Method: "ping",
			Version: rpc.Version{Major: 1}, RequestID: "req-1",
		}, seen[0])
		if len(bus.sent) != 0 {
			t.Error("something was sent")
		}
	})
}

// TestInterceptorTriesAgain: what is left of an attempt does not show in the next one.
func TestInterceptorTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		twice := func(ctx context.Context, _ rpc.CallInfo, next func(context.Context) error) error {
			if err := next(ctx); err == nil {
				t.Error("the first attempt succeeded")
			}
			return next(ctx)
		}
		bus := newTap()
		to := rpc.Remote{Client: rpc.NewClient(bus, rpc.ClientConfig{Interceptors: []rpc.Interceptor{twice}}), Target: rpc.Target{Topic: "t"}}
		defer closeClient(t, to)
		r, wait := call(t, t.Context(), bus, to)
		bus.deliver(reply(r.MsgID, `"result": null, "failure": "{\"class\": \"ValueError\", \"module\": \"builtins\"}", "ending": true`))
		again := decodeRequest(t, (<-bus.sent).Body)
		if again.UniqueID == r.UniqueID {
			t.Error("a server would drop the second attempt as a repetition")
		}
		bus.deliver(reply(again.MsgID, `"result": "pong", "failure": null, "ending": true`))
		if got, err := wait(); err != nil || got != "pong" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
