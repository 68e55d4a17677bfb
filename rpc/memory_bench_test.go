package rpc_test

import (
	"context"
	"testing"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// BenchmarkMemoryCall is a round trip with the codec and a full request context, which the server reads.
func BenchmarkMemoryCall(b *testing.B) {
	bus := memory.New()
	ep := rpc.NewEndpoint("", "1.0")
	type args struct {
		Hostname string   `json:"hostname"`
		Devices  []string `json:"devices"`
	}
	m := rpc.NewMethod[args, string]("report", "1.0")
	m.Handle(ep, func(ctx context.Context, a args) (string, error) { return a.Hostname + rpc.RequestOf(ctx).User, nil })
	srv, err := rpc.NewServer(bus, rpc.ServerConfig{Target: rpc.Target{Topic: "t", Server: "s"}, Endpoints: []*rpc.Endpoint{ep}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	c := rpc.NewClient(bus, rpc.ClientConfig{})
	ctx = rpc.WithRequest(ctx, &rpc.RequestContext{
		User: "8f0c4b1f5e3a4d0fa5b0a0f0d3c1e2b4", ProjectID: "6b1f3d1c9c8d4f1c8b7a6e5d4c3b2a10",
		Roles: []string{"admin", "member", "reader"}, AuthToken: "gAAAAABtoken", UserDomain: "default", ProjectDomain: "default",
	})
	to := rpc.Remote{Client: c, Target: rpc.Target{Topic: "t"}}
	a := args{"compute-1", []string{"a", "b", "c"}}
	for { // until the server consumes
		if _, err := m.Call(ctx, to, a); err == nil {
			break
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Call(ctx, to, a); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	if err := c.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
