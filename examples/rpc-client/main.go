// Rpc-client calls "greet" of rpc-server, or of a Python server with such a method.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

type greetArgs struct {
	Name string `json:"name"`
}

func main() {
	url := flag.String("url", "rabbit://guest:guest@localhost:5672/", "transport_url of the broker")
	name := flag.String("name", "world", "whom to greet")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	t, err := amqp.Open(amqp.Config{URL: *url, ControlExchange: "example"})
	if err != nil {
		log.Fatal(err)
	}
	client := rpc.NewClient(t, rpc.ClientConfig{})
	greet := rpc.NewMethod[greetArgs, string]("greet", "1.0")
	answer, err := greet.Call(ctx, rpc.Remote{Client: client, Target: rpc.Target{Topic: "greetings"}}, greetArgs{Name: *name})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	if err := client.Close(ctx); err != nil {
		log.Fatal(err)
	}
}
