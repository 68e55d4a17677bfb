package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// TestConnectTellsItsHooks: interceptors see the calls, and the observer what happens outside of them: here a reply that
// comes when nobody waits for it any more.
func TestConnectTellsItsHooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := memory.New()
		ep := rpc.NewEndpoint("", cyborgrpc.ConductorVersion)
		cyborgrpc.ReportData.Handle(ep, func(context.Context, cyborgrpc.ReportDataArgs) (rpc.Null, error) {
			<-time.After(time.Minute)
			return rpc.Null{}, nil
		})
		server, err := rpc.NewServer(bus, rpc.ServerConfig{Target: rpc.Target{Topic: cyborgrpc.ConductorTopic, Server: "h"}, Endpoints: []*rpc.Endpoint{ep}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- server.Run(ctx) }()
		synctest.Wait()
		var called []string
		var events []rpc.EventKind
		conductor, err := agent.Connect(bus, agent.ConnectConfig{
			Timeout: time.Second,
			Observe: func(e rpc.Event) { events = append(events, e.Kind) },
			Interceptors: []rpc.Interceptor{func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
				called = append(called, c.Method)
				return next(ctx)
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := conductor.ReportData(context.Background(), "h", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ReportData() = %v", err)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if len(called) != 1 || called[0] != "report_data" || len(events) != 1 || events[0] != rpc.EventStray {
			t.Errorf("calls %v, events %v", called, events)
		}
		cancel()
		if err := errors.Join(<-ended, conductor.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
}
