package ovorpc_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// A service that runs the methods of its objects for others, and a caller.
func ExampleNewMethods() {
	r, err := registry()
	if err != nil {
		fmt.Println(err)
		return
	}
	methods, err := ovorpc.NewMethods(ovorpc.DefaultNames())
	if err != nil {
		fmt.Println(err)
		return
	}
	dispatcher, err := r.Dispatcher(local())
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := rpc.NewEndpoint("", "1.1")
	methods.Serve(endpoint, dispatcher)

	bus := memory.New()
	up := make(chan bool, 2)
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: "house", Server: "one"}, Endpoints: []*rpc.Endpoint{endpoint},
		Ready: func(ready bool) { up <- ready },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	<-up

	client := rpc.NewClient(bus, rpc.ClientConfig{})
	var lamps Lamps
	via := &ovorpc.Client{Methods: methods, Remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: "house"}}}
	if err := r.Bind(via, &lamps); err != nil {
		fmt.Println(err)
		return
	}
	lamp, err := lamps.Get(ctx, "hall")
	fmt.Println(lamp.Room.Value(), err)

	fmt.Println(client.Close(ctx))
	stop()
	fmt.Println(<-ended)
	// Output:
	// hall <nil>
	// <nil>
	// <nil>
}
