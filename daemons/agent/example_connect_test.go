package agent_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// A cap decides locally what may be sent.
func ExampleConnect() {
	conductor, err := agent.Connect(memory.New(), agent.ConnectConfig{Cap: rpc.Version{Major: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.RequireIndirection(conductor, "this feature"))
	fmt.Println(conductor.Close(context.Background()))
	// Output:
	// this feature needs conductor RPC version 1.1, but [upgrade_levels] conductor = 1.0 does not admit it: upgrade all conductors and raise the cap, or remove the setting
	// <nil>
}
