package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

func ExampleNew() {
	bus := memory.New()
	client := rpc.NewClient(bus, rpc.ClientConfig{})
	ping := rpc.NewMethod[struct{}, string]("ping", "1.0")
	_, err := ping.Call(context.Background(), rpc.Remote{Client: client, Target: rpc.Target{Topic: "nobody-serves-this"}}, struct{}{})
	fmt.Println(errors.Is(err, rpc.ErrUndeliverable))
	fmt.Println(client.Close(context.Background()))
	// Output:
	// true
	// <nil>
}
