package amqp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/transporttest"
)

// TestIntegrationConformance runs the suite that rpc/memory passes over a real broker, behind a relay that can be cut.
func TestIntegrationConformance(t *testing.T) {
	text := broker(t)
	u, err := amqp.ParseURL(text)
	if err != nil || len(u.Hosts) == 0 {
		t.Fatalf("CYBORG_TEST_AMQP_URL: %d hosts, %v", len(u.Hosts), err)
	}
	address := u.Hosts[0].Address()
	transporttest.Run(t, func(t *testing.T) transporttest.Pair {
		r := newRelay(t, address)
		relayed := strings.Replace(text, address, r.address(), 1)
		return transporttest.Pair{Client: open(t, relayed), Server: open(t, relayed), Breaker: &breaker{relay: r, url: text}}
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

type breaker struct {
	relay *relay
	url   string
}

func (b *breaker) Cut(*testing.T) { b.relay.cut() }

func (b *breaker) DeleteQueue(t *testing.T, name string) {
	t.Helper()
	c, err := amqp091.Dial(strings.Replace(b.url, "rabbit://", "amqp://", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ch, err := c.Channel()
	if err == nil {
		_, err = ch.QueueDelete(name, false, false, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}
