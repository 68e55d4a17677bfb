package service_test

import (
	"context"
	"fmt"
	"os"

	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

func ExampleMain() {
	ctx, cancel := context.WithCancel(context.Background())
	start := func(_ context.Context, p *service.Process) ([]service.Part, error) {
		p.Readiness.Require("work")
		return []service.Part{{Name: "work", Run: func(ctx context.Context) error {
			fmt.Println("working for", p.Program)
			cancel() // in a real daemon a signal ends it
			<-ctx.Done()
			fmt.Println("stopping")
			return nil
		}}}, nil
	}
	code := service.Main(ctx, service.Invocation{
		Program: "cyborg-example", Args: []string{"--config-file", os.DevNull, "--log-file", os.DevNull},
		Stdout: os.Stdout, Stderr: os.Stderr,
	}, start)
	fmt.Println("exit code", code)
	// Output:
	// working for cyborg-example
	// stopping
	// exit code 0
}

func ExampleNewReadiness() {
	readiness := service.NewReadiness(nil)
	readiness.Require("broker", "database")
	readiness.Set("broker", nil)
	fmt.Println(readiness.Reasons())
	// Output: [{database starting}]
}

func ExampleNewLogger() {
	logger, err := service.NewLogger(service.LogConfig{Stderr: os.Stdout, Levels: []string{"amqp=WARN"}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = logger.Close() }()
	logger.Named("amqp").Info("too much detail for the default level")
	// Output:
}
