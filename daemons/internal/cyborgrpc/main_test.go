package cyborgrpc_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func registry(t *testing.T) *ovo.Registry {
	t.Helper()
	r, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sent is a request as it left the client.
type sent struct {
	Topic, Server, Method, Version string
	Args                           map[string]json.RawMessage
}

// recorder is a transport that keeps requests.
type recorder struct {
	rpc.Transport
	mu   sync.Mutex
	sent []sent
}

func (r *recorder) Send(ctx context.Context, m rpc.Message, done func(error)) {
	if m.To.Queue == "" {
		var outer struct {
			Message string `json:"oslo.message"`
		}
		var inner struct {
			Method  string                     `json:"method"`
			Version string                     `json:"version"`
			Args    map[string]json.RawMessage `json:"args"`
		}
		if json.Unmarshal(m.Body, &outer) == nil && json.Unmarshal([]byte(outer.Message), &inner) == nil {
			r.mu.Lock()
			r.sent = append(r.sent, sent{m.To.Topic, m.To.Server, inner.Method, inner.Version, inner.Args})
			r.mu.Unlock()
		}
	}
	r.Transport.Send(ctx, m, done)
}

func (r *recorder) requests() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sent(nil), r.sent...)
}

// service runs an endpoint at a topic and gives a client whose requests are recorded.
func service(t *testing.T, topic string, ep *rpc.Endpoint) (*rpc.Client, *recorder, cyborgrpc.Wire) {
	t.Helper()
	wire := cyborgrpc.NewWire(registry(t))
	bus := &recorder{Transport: memory.New()}
	up := make(chan struct{})
	once := sync.OnceFunc(func() { close(up) })
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "h"}, Endpoints: []*rpc.Endpoint{ep},
		Serializer: wire, Exceptions: cyborgrpc.Exceptions(),
		Ready: func(ready bool) {
			if ready {
				once()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	client := rpc.NewClient(bus, rpc.ClientConfig{Serializer: wire, Exceptions: cyborgrpc.Exceptions()})
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-up
	return client, bus, wire
}
