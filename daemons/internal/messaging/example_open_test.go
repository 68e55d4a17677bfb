package messaging_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

func ExampleOpen() {
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "compute-1", Program: "cyborg-agent"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := config.Load(schema, config.Source{Environ: []string{"OS_UPGRADE_LEVELS__CONDUCTOR=1.0"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	bus, err := messaging.Open(cfg, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close(context.Background())
	registry, err := cyborg.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	wire := cyborgrpc.NewWire(registry)
	client := messaging.NewClient(cfg, bus, wire, nil, nil)
	defer client.Close(context.Background())
	limits, err := messaging.Limits(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	conductor, err := cyborgrpc.NewConductorAPI(client, wire, limits)
	fmt.Println(conductor.Cap(), conductor.SupportsObjectIndirection(), err)
	// Output: 1.0 false <nil>
}
