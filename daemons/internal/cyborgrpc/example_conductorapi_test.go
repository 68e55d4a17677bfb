package cyborgrpc_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// A client pinned to RPC 1.0 says what it may send without sending anything.
func ExampleNewConductorAPI() {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	limits, err := cyborgrpc.ParseLimits("1.0", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	wire := cyborgrpc.NewWire(registry)
	client := rpc.NewClient(memory.New(), rpc.ClientConfig{Serializer: wire, Exceptions: cyborgrpc.Exceptions()})
	conductor, err := cyborgrpc.NewConductorAPI(client, wire, limits)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(conductor.Cap(), conductor.SupportsObjectIndirection())
	fmt.Println(client.Close(context.Background()))
	// Output:
	// 1.0 false
	// <nil>
}

// Nobody serves agents here, so the call ends at once.
func ExampleNewAgentAPI() {
	client := rpc.NewClient(memory.New(), rpc.ClientConfig{})
	agents, err := cyborgrpc.NewAgentAPI(client, cyborgrpc.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	err = agents.CreateVGPUMdev(context.Background(), "compute-1", cyborgrpc.MdevArgs{PCIAddr: "0000:25:00.4"})
	fmt.Println(err)
	fmt.Println(client.Close(context.Background()))
	// Output:
	// create_vgpu_mdev: no queue for messages to "cyborg-agent.compute-1" of exchange "": is the service running there?
	// <nil>
}

// Objects of RPC 1.0 are written at the versions of 17.0.0.
func ExampleNewWire() {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	arq := &cyborg.ARQ{AttachHandleInfo: ovo.NullOf(map[string]any{"bus": "25", "managed": false})}
	raw, err := cyborgrpc.NewWire(registry).Serialize(context.Background(), arq)
	fmt.Println(string(raw), err)
	// Output: {"cyborg_object.name": "ARQ", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.1", "cyborg_object.data": {"attach_handle_info": {"bus": "25"}}, "cyborg_object.changes": ["attach_handle_info"]} <nil>
}
