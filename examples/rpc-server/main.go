// Rpc-server answers "greet" on the topic "greetings". A Python peer can call it as well.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

type greetArgs struct {
	Name string `json:"name"`
}

func main() {
	url := flag.String("url", "rabbit://guest:guest@localhost:5672/", "transport_url of the broker")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	t, err := amqp.Open(amqp.Config{URL: *url, ControlExchange: "example"})
	if err != nil {
		log.Fatal(err)
	}
	e := rpc.NewEndpoint("", "1.0")
	rpc.NewMethod[greetArgs, string]("greet", "1.0").Handle(e, func(_ context.Context, a greetArgs) (string, error) {
		return "hello, " + a.Name, nil
	})
	srv, err := rpc.NewServer(t, rpc.ServerConfig{Target: rpc.Target{Topic: "greetings", Server: "example"}, Endpoints: []*rpc.Endpoint{e}})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
