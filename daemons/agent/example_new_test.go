package agent_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/agent"
)

// An agent with one driver reports once and stops.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	remote := &conductor{minor: 1} // in a real agent: agent.Connect
	a, err := agent.New(agent.Config{
		Hostname: "compute-1", Drivers: []agent.Driver{&driver{discover: device(unmanaged)}},
		Conductor: remote, Inventory: remote, Ready: stop,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Run(ctx), len(remote.reports))
	// Output: <nil> 1
}
