package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

type echoArgs struct {
	Text string `json:"text"`
}

var echo = rpc.NewMethod[echoArgs, string]("echo", "1.0")

const exchange = "bench"

// newOurs starts a client and a server of this project, each with a transport of its own.
func newOurs(ctx context.Context, url, topic string) (caller, error) {
	serving, stop := context.WithCancel(ctx)
	ready := make(chan struct{}, 8)
	ended := make(chan error, 1)
	server, closeServer, err := newServer(url, topic, ready)
	if err != nil {
		stop()
		return caller{}, err
	}
	go func() { ended <- server.Run(serving) }()
	<-ready
	c, err := newClient(url, topic, "ours")
	if err != nil {
		stop()
		return caller{}, err
	}
	closeClient := c.close
	c.close = func() {
		closeClient()
		stop()
		if err := <-ended; err != nil {
			fmt.Fprintln(os.Stderr, "bench server:", err)
		}
		closeServer()
	}
	return c, nil
}

func newServer(url, topic string, ready chan<- struct{}) (*rpc.Server, func(), error) {
	t, err := amqp.Open(amqp.Config{URL: url, ControlExchange: exchange})
	if err != nil {
		return nil, nil, err
	}
	ep := rpc.NewEndpoint("", "1.0")
	echo.Handle(ep, func(context.Context, echoArgs) (string, error) { return replyText, nil })
	server, err := rpc.NewServer(t, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "bench"}, Endpoints: []*rpc.Endpoint{ep},
		Ready: func(up bool) {
			if up {
				ready <- struct{}{}
			}
		},
	})
	return server, func() { closeTransport(t) }, err
}

func newClient(url, topic, name string) (caller, error) {
	t, err := amqp.Open(amqp.Config{URL: url, ControlExchange: exchange})
	if err != nil {
		return caller{}, err
	}
	client := rpc.NewClient(t, rpc.ClientConfig{})
	to := rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}
	return caller{
		name: name,
		call: func(ctx context.Context) error {
			_, err := echo.Call(ctx, to, echoArgs{Text: requestText})
			return err
		},
		close: func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_ = client.Close(ctx)
			closeTransport(t)
		},
	}, nil
}

func closeTransport(t *amqp.Transport) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = t.Close(ctx)
}
