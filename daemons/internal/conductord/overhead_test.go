package conductord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// plainArgs and plain are an ordinary RPC method whose answer is the same bytes.
type plainArgs struct {
	Text string `json:"text"`
	N    int64  `json:"n"`
}

var plain = rpc.NewMethod[plainArgs, json.RawMessage]("plain", "1.0")

// TestIntegrationOverhead compares a remotable call with an ordinary one that carries the same answer, taking turns in
// one run over one broker. The ordinary one neither makes nor reads objects: its answer is ready bytes.
func TestIntegrationOverhead(t *testing.T) {
	const limit, rounds, members = 1.3, 400, 10
	if raceEnabled {
		t.Skip("the race detector slows objects down more than sockets")
	}
	bus := vhost(t)
	file := configFile(t, bus, "")
	l := startLab(t, file, nil)
	p := newPeer(t, file)
	ctx := admin(t.Context())
	raw, err := callRaw(ctx, t, p, ovoRegistry(t), "LabCounterList.fill", false, fmt.Sprintf(`["x", %d]`, members))
	if err != nil {
		t.Fatal(err)
	}
	remote := servePlain(t, l, p, raw)

	pair := func() (time.Duration, time.Duration) {
		start := time.Now()
		if _, err := plain.Call(ctx, remote, plainArgs{Text: "x", N: members}); err != nil {
			t.Fatal(err)
		}
		middle := time.Now()
		if _, err := p.lab.Lists.Fill(ctx, "x", members); err != nil {
			t.Fatal(err)
		}
		return middle.Sub(start), time.Since(middle)
	}
	for range 50 {
		pair()
	}
	var plains, remotables []time.Duration
	for range rounds {
		a, b := pair()
		plains, remotables = append(plains, a), append(remotables, b)
	}
	slices.Sort(plains)
	slices.Sort(remotables)
	ratio := float64(remotables[rounds/2]) / float64(plains[rounds/2])
	fmt.Printf("remotable overhead: %s against %s for %d bytes, ratio %.2f, limit %.1f\n",
		remotables[rounds/2], plains[rounds/2], len(raw), ratio, limit)
	if ratio > limit {
		t.Errorf("a remotable call takes %.2f times a plain one, want at most %.1f", ratio, limit)
	}
}

// servePlain answers the ordinary method from the conductor's own connection.
func servePlain(t *testing.T, l *lab, p *peer, answer json.RawMessage) rpc.Remote {
	t.Helper()
	ep := rpc.NewEndpoint("", "1.0")
	plain.Handle(ep, func(context.Context, plainArgs) (json.RawMessage, error) { return answer, nil })
	up := make(chan bool, 16)
	server, err := rpc.NewServer(l.bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: "plain", Server: host}, Endpoints: []*rpc.Endpoint{ep}, Serializer: l.wire,
		Exceptions: cyborgrpc.Exceptions(), Ready: func(ready bool) { up <- ready },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-up
	return rpc.Remote{Client: p.client, Target: rpc.Target{Topic: "plain"}}
}
