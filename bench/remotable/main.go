package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// limit is the promised ratio of a remotable call to an ordinary one.
const limit = 1.3

// sizes are the members of the list that the calls answer with.
var sizes = []int{1, 10, 100}

func main() {
	url := flag.String("url", "rabbit://guest:guest@127.0.0.1:5672/", "transport_url of a real RabbitMQ")
	rounds := flag.Int("rounds", 1000, "pairs of calls of each size; medians are reported")
	flag.Parse()
	if err := run(context.Background(), *url, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench remotable:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, rounds int) error {
	fmt.Println("## Remotable call over RabbitMQ, beside calls with the same answer")
	fmt.Println()
	fmt.Println("Ordinary: a method made for the purpose, structs through encoding/json. Ready bytes: nothing is encoded or decoded at all.")
	fmt.Println()
	fmt.Printf("| members | answer, bytes | remotable, µs | ordinary, µs | remotable ÷ ordinary (promised ≤ %.1f) | ready bytes, µs | remotable ÷ ready bytes |\n", limit)
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, n := range sizes {
		p, err := newCompetitors(ctx, url, n)
		if err != nil {
			return err
		}
		took, err := p.measure(ctx, rounds)
		p.close()
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %.0f | %.0f | %.2f | %.0f | %.2f |\n", n, len(p.answer),
			took[0], took[1], took[0]/took[1], took[2], took[0]/took[2])
	}
	return nil
}

// competitors is all kinds of call to one server.
type competitors struct {
	answer  json.RawMessage
	remote  rpc.Remote
	objects cyborg.AttachHandleLists
	close   func()
}

func newCompetitors(ctx context.Context, url string, members int) (*competitors, error) {
	registry, err := ovo.NewRegistry(cyborg.Namespace(), cyborg.Classes()...)
	if err != nil {
		return nil, err
	}
	methods, err := ovorpc.NewMethods(ovorpc.DefaultNames())
	if err != nil {
		return nil, err
	}
	local := cyborg.Local(handles(members))
	dispatcher, err := local.Dispatcher(registry)
	if err != nil {
		return nil, err
	}
	p := &competitors{}
	list, err := local.AttachHandleList.GetByHostname(ctx, "h")
	if err != nil {
		return nil, err
	}
	if p.answer, err = registry.Append(nil, list); err != nil {
		return nil, err
	}
	ep := rpc.NewEndpoint("", "1.1")
	methods.Serve(ep, dispatcher)
	servePlain(ep, handles(members), p.answer)
	if err := p.connect(ctx, url, ep); err != nil {
		return nil, err
	}
	via := &ovorpc.Client{Methods: methods, Remote: p.remote}
	return p, registry.Bind(via, &p.objects)
}

// connect serves the endpoint over one connection and calls it over another.
func (p *competitors) connect(ctx context.Context, url string, ep *rpc.Endpoint) error {
	open := func() (*amqp.Transport, error) { return amqp.Open(amqp.Config{URL: url, ControlExchange: "bench"}) }
	serverBus, err := open()
	if err != nil {
		return err
	}
	clientBus, err := open()
	if err != nil {
		return err
	}
	const topic = "bench-remotable"
	up := make(chan bool, 8)
	server, err := rpc.NewServer(serverBus, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "bench"}, Endpoints: []*rpc.Endpoint{ep}, Ready: func(ready bool) { up <- ready },
	})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(serving) }()
	<-up
	client := rpc.NewClient(clientBus, rpc.ClientConfig{})
	p.remote = rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}
	p.close = func() {
		stop()
		for _, err := range []error{client.Close(ctx), clientBus.Close(ctx), <-ended, serverBus.Close(ctx)} {
			if err != nil {
				fmt.Fprintln(os.Stderr, "bench remotable:", err)
			}
		}
	}
	return nil
}

// measure gives the median microseconds of a remotable, an ordinary and a ready call, after a tenth of the rounds to warm
// up.
func (p *competitors) measure(ctx context.Context, rounds int) (medians [3]float64, err error) {
	calls := [3]func() error{
		func() error { _, err := p.objects.GetByHostname(ctx, "h"); return err },
		func() error { _, err := ordinary.Call(ctx, p.remote, plainArgs{Hostname: "h"}); return err },
		func() error { _, err := ready.Call(ctx, p.remote, plainArgs{Hostname: "h"}); return err },
	}
	var took [3][]time.Duration
	for i := range rounds + rounds/10 {
		for k, call := range calls {
			start := time.Now()
			if err := call(); err != nil {
				return medians, err
			}
			if i >= rounds/10 {
				took[k] = append(took[k], time.Since(start))
			}
		}
	}
	for k := range took {
		slices.Sort(took[k])
		medians[k] = float64(took[k][len(took[k])/2]) / float64(time.Microsecond)
	}
	return medians, nil
}

// handles is a store that has so many attach handles for every host.
type handles int

func (n handles) AttachHandlesByHostname(context.Context, string) ([]cyborg.AttachHandleRow, error) {
	rows := make([]cyborg.AttachHandleRow, n)
	now := time.Now()
	for i := range rows {
		rows[i] = cyborg.AttachHandleRow{
			ID: int64(i), UUID: fmt.Sprintf("b2a7b1ce-0000-4000-8000-%012d", i), DeployableID: 1, CpidID: 1, AttachType: "PCI",
			AttachInfo: `{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": true}`, CreatedAt: &now,
		}
	}
	return rows, nil
}

func (n handles) ReferencedAttachHandlesByHostname(context.Context, string) ([]cyborg.AttachHandleRow, error) {
	return nil, nil
}

func (handles) DevicesByHostname(context.Context, string) ([]cyborg.DeviceRow, error) {
	return nil, nil
}

func (handles) ControlpathIDsByHostname(context.Context, string) ([]cyborg.ControlpathIDRow, error) {
	return nil, nil
}

func (handles) DeployablesByHostname(context.Context, string) ([]cyborg.DeployableRow, error) {
	return nil, nil
}

func (handles) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	return nil, &cyborg.HandleNotFoundError{UUID: u.UUID}
}
