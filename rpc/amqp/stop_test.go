//go:build unix

package amqp_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// stopLimit is how long a daemon that is told to stop may take, whatever the state of its connections.
const stopLimit = 10 * time.Second

type padArgs struct {
	Pad string `json:"pad"`
}

// TestIntegrationStopWhileFrozen: a server and a client with calls in flight, on one transport with the default time limits,
// end in time although nothing moves on their connections and nobody closed them.
func TestIntegrationStopWhileFrozen(t *testing.T) {
	u, err := amqp.ParseURL(broker(t))
	must(t, err)
	r := newRelay(t, u.Hosts[0].Address())
	topic := "check-" + wire.NewID()[:12]
	stopInTime(t, strings.Replace(broker(t), u.Hosts[0].Address(), r.address(), 1), topic, r.freeze)
	cleanTopic(t, topic)
}

// TestIntegrationStopDuringAlarm is the same while the broker takes no messages.
func TestIntegrationStopDuringAlarm(t *testing.T) {
	n := startNode(t)
	stopInTime(t, n.oslo(n.address()), "alarm", func() { n.ctl("set_vm_memory_high_watermark", "0.00000001") })
}

// stopInTime stops what a daemon has, in a daemon's order, a second after breakIt was called.
func stopInTime(t *testing.T, url, topic string, breakIt func()) {
	t.Helper()
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "suite"})
	must(t, err)
	ep := rpc.NewEndpoint("", "1.0")
	echo := rpc.NewMethod[padArgs, string]("echo", "1.0")
	echo.Handle(ep, func(_ context.Context, a padArgs) (string, error) { return a.Pad, nil })
	up := make(chan bool, 10)
	server, err := rpc.NewServer(tr, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "h"}, Endpoints: []*rpc.Endpoint{ep}, Ready: func(u bool) { up <- u },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	<-up
	client := rpc.NewClient(tr, rpc.ClientConfig{Timeout: 30 * time.Second})
	pad := strings.Repeat("x", 64<<10) // more than the sockets hold
	var answered atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for err := error(nil); err == nil; answered.Add(1) {
				_, err = echo.Call(context.Background(), rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}, padArgs{pad})
			}
		})
	}
	<-time.After(500 * time.Millisecond)
	breakIt()
	<-time.After(time.Second)
	start := time.Now()
	cancel()
	err = <-ended
	t.Logf("server %s: %v", time.Since(start), err)
	must(t, client.Close(context.Background()))
	t.Logf("client %s", time.Since(start))
	must(t, tr.Close(context.Background()))
	callers.Wait()
	if took := time.Since(start); took > stopLimit || answered.Load() == 0 {
		t.Errorf("stopped after %s, %d calls answered before", took, answered.Load())
	}
}
