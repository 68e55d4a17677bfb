package amqp_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/transporttest"
)

// TestIntegrationConformance runs the suite that rpc/memory passes over a real broker.
func TestIntegrationConformance(t *testing.T) {
	url := broker(t)
	transporttest.Run(t, func(t *testing.T) transporttest.Pair {
		return transporttest.Pair{Client: open(t, url), Server: open(t, url)}
	})
}

func open(t *testing.T, url string) *amqp.Transport {
	t.Helper()
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "suite", OpTimeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := tr.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return tr
}
