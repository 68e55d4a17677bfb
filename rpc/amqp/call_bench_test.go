package amqp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// BenchmarkCall is a round trip through a real broker with both ends in this process.
func BenchmarkCall(b *testing.B) {
	url := broker(b)
	open := func() *amqp.Transport {
		tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		return tr
	}
	serverSide, clientSide := open(), open()
	type args struct {
		Text string `json:"text"`
	}
	m := rpc.NewMethod[args, string]("echo", "1.0")
	ep := rpc.NewEndpoint("", "1.0")
	m.Handle(ep, func(_ context.Context, a args) (string, error) { return a.Text, nil })
	ready := make(chan bool, 10)
	topic := "bench-" + wire.NewID()[:12]
	srv, err := rpc.NewServer(serverSide, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "h"}, Endpoints: []*rpc.Endpoint{ep}, Ready: func(up bool) { ready <- up },
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	<-ready
	client := rpc.NewClient(clientSide, rpc.ClientConfig{})
	to := rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}, Timeout: time.Minute}
	a := args{strings.Repeat("x", 200)}
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers-%d", callers), func(b *testing.B) {
			calls := make(chan struct{})
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range calls {
						if _, err := m.Call(ctx, to, a); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				calls <- struct{}{}
			}
			close(calls)
			all.Wait()
		})
	}
	if err := client.Close(ctx); err != nil {
		b.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	for _, tr := range []*amqp.Transport{clientSide, serverSide} {
		if err := tr.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}
}
