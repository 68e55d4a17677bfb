package amqp_test

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type recorder struct {
	up     chan bool
	bodies chan string
}

func (r *recorder) Listening(up bool) { r.up <- up }
func (r *recorder) Deliver(_ context.Context, d rpc.Delivery) {
	if d.Settle(d.Invalid == nil) == nil {
		r.bodies <- string(d.Body)
	}
}

// broker is the address of a real RabbitMQ, or a reason to skip.
func broker(t testing.TB) string {
	t.Helper()
	url := os.Getenv("CYBORG_TEST_AMQP_URL")
	if url == "" {
		t.Skip("CYBORG_TEST_AMQP_URL is not set: no RabbitMQ to test with")
	}
	return url
}

func TestIntegrationSendAndListen(t *testing.T) {
	url := broker(t)
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "smoke"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	listenCtx, stopListening := context.WithCancel(ctx)
	r := &recorder{up: make(chan bool, 10), bodies: make(chan string, 100)}
	ended := make(chan error, 1)
	go func() { ended <- tr.Listen(listenCtx, rpc.Source{Topic: "t", Server: "h", Prefetch: 10}, r) }()
	if !<-r.up {
		t.Fatal("not listening")
	}
	results := make(chan error, 10)
	for _, to := range []rpc.Address{{Topic: "t"}, {Topic: "t", Server: "h"}, {Topic: "t", Fanout: true}} {
		tr.Send(ctx, rpc.Message{To: to, Body: []byte(`{"x": "` + to.Server + `"}`)}, func(err error) { results <- err })
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
		<-r.bodies
	}
	tr.Send(ctx, rpc.Message{To: rpc.Address{Topic: "t", Server: "nobody"}, Body: []byte(`{}`)}, func(err error) { results <- err })
	if err := <-results; err == nil {
		t.Error("a message without a queue was delivered")
	}
	stopListening()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := tr.Close(ctx); err != nil {
		t.Error(err)
	}
}
