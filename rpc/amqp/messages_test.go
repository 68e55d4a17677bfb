package amqp_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// TestIntegrationMessageProperties: every message has the properties without which Python does not read it.
func TestIntegrationMessageProperties(t *testing.T) {
	tr, exchange := transport(t, amqp.Options{})
	ch := raw(t)
	topic := "check-" + wire.NewID()[:12]
	_, stop := listening(t, tr, rpc.Source{Topic: topic, Server: "h"}) // declares the exchanges
	defer stop()
	must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: topic, Fanout: true}, Body: []byte("{}")}))
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	must(t, err)
	must(t, ch.QueueBind(q.Name, topic+".h", exchange, false, nil))
	must(t, ch.QueueBind(q.Name, "", topic+"_fanout", false, nil))
	seen, err := ch.Consume(q.Name, "", true, false, false, false, nil)
	must(t, err)
	for _, c := range []struct {
		m                         rpc.Message
		exchange, key, expiration string
	}{
		{rpc.Message{To: rpc.Address{Topic: topic, Server: "h"}, TTL: time.Minute}, exchange, topic + ".h", "60000"},
		{rpc.Message{To: rpc.Address{Topic: topic, Server: "h"}}, exchange, topic + ".h", ""},
		{rpc.Message{To: rpc.Address{Topic: topic, Fanout: true}}, topic + "_fanout", "", ""},
		{rpc.Message{To: rpc.Address{Queue: q.Name}}, "", q.Name, ""},
	} {
		c.m.Body = []byte(`{"a": 1}`)
		must(t, sendTo(t, tr, c.m))
		d := <-seen
		if d.Exchange != c.exchange || d.RoutingKey != c.key {
			t.Errorf("%+v went to %q with key %q", c.m.To, d.Exchange, d.RoutingKey)
		}
		if d.ContentType != "application/json" || d.ContentEncoding != "utf-8" || d.DeliveryMode != 2 || d.Priority != 0 || len(d.Headers) != 0 {
			t.Errorf("properties: %q %q %d %d %v", d.ContentType, d.ContentEncoding, d.DeliveryMode, d.Priority, d.Headers)
		}
		if d.ReplyTo+d.CorrelationId+d.MessageId+d.Type+d.UserId+d.AppId != "" || !d.Timestamp.IsZero() {
			t.Errorf("properties that Python does not send: %+v", d)
		}
		if ms, _ := strconv.Atoi(d.Expiration); c.expiration == "" && d.Expiration != "" || c.expiration != "" && (ms > 60000 || ms < 55000) {
			t.Errorf("expiration %q, want %q", d.Expiration, c.expiration)
		}
	}
}

// TestIntegrationContent: compressed bodies are read, wrong labels are told to the receiver.
func TestIntegrationContent(t *testing.T) {
	tr, exchange := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	source := rpc.Source{Topic: topic, Server: "h"}
	got := make(chan rpc.Delivery, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	up := make(chan bool, 10)
	go func() { ended <- tr.Listen(ctx, source, deliveries{up, got}) }()
	if !<-up {
		t.Fatal("not listening")
	}
	packed, err := wire.Compress([]byte("{}"))
	must(t, err)
	ch := raw(t)
	for _, c := range []struct {
		p     amqp091.Publishing
		valid bool
	}{
		{amqp091.Publishing{ContentType: "application/json"}, true},
		{amqp091.Publishing{ContentType: "application/json", ContentEncoding: "UTF-8", DeliveryMode: 1, AppId: "x", Headers: amqp091.Table{"h": "v"}}, true},
		{amqp091.Publishing{ContentType: "application/json", Body: packed, Headers: amqp091.Table{"compression": "application/x-gzip"}}, true},
		{amqp091.Publishing{ContentType: "application/json", Headers: amqp091.Table{"compression": "application/x-gzip"}}, false},
		{amqp091.Publishing{ContentType: "application/json; charset=utf-8"}, false},
		{amqp091.Publishing{ContentType: "text/plain"}, false},
		{amqp091.Publishing{}, false},
	} {
		if c.p.Body == nil {
			c.p.Body = []byte("{}")
		}
		must(t, ch.Publish(exchange, topic, false, false, c.p))
		d := <-got
		if (d.Invalid == nil) != c.valid || string(d.Body) != "{}" {
			t.Errorf("%q %v: %q, %v", c.p.ContentType, c.p.Headers, d.Body, d.Invalid)
		}
	}
	cancel()
	must(t, <-ended)
	q, err := ch.QueueDeclarePassive(topic, false, false, false, false, nil)
	if err != nil || q.Messages != 0 {
		t.Errorf("%d messages are left, %v", q.Messages, err)
	}
	cleanTopic(t, topic)
}

type deliveries struct {
	up  chan bool
	got chan rpc.Delivery
}

func (r deliveries) Listening(up bool) { r.up <- up }

func (r deliveries) Deliver(_ context.Context, d rpc.Delivery) {
	if d.Settle(d.Invalid == nil) == nil {
		r.got <- d
	}
}

// TestIntegrationQueuedCasts: ten thousand casts wait in the broker, not in the server, and none is lost.
func TestIntegrationQueuedCasts(t *testing.T) {
	const n = 10_000
	tr, _ := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	type args struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}
	note := rpc.NewMethod[args, rpc.Null]("note", "1.0")
	seen := make(chan int, n)
	hold := make(chan struct{})
	ep := rpc.NewEndpoint("", "1.0")
	note.Handle(ep, func(_ context.Context, a args) (rpc.Null, error) {
		<-hold
		seen <- a.N
		return rpc.Null{}, nil
	})
	ctx := t.Context()
	stop := serving(t, tr, topic, ep)
	to := rpc.Remote{Client: rpc.NewClient(tr, rpc.ClientConfig{}), Target: rpc.Target{Topic: topic}}
	var all sync.WaitGroup
	for caller := range 50 {
		all.Go(func() {
			for i := caller; i < n; i += 50 {
				if err := note.Cast(ctx, to, args{i, strings.Repeat("x", 2000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > 20<<20 { // the casts alone are more
		t.Errorf("%d MiB in use while %d casts wait", memory.HeapAlloc>>20, n)
	}
	close(hold)
	got := map[int]bool{}
	for range n {
		select {
		case i := <-seen:
			got[i] = true
		case <-time.After(30 * time.Second):
			t.Fatalf("%d of %d casts arrived", len(got), n)
		}
	}
	if len(got) != n || len(seen) > 0 {
		t.Errorf("%d different casts, %d more", len(got), len(seen))
	}
	stop()
	cleanTopic(t, topic)
}

// TestIntegrationFewUnsettledReplies: a small rabbit_qos_prefetch_count does not make each reply wait for the timer of the
// batch that acknowledges the one before.
func TestIntegrationFewUnsettledReplies(t *testing.T) {
	for _, prefetch := range []int{1, 3} {
		tr, _ := transport(t, amqp.Options{Prefetch: prefetch})
		queue := tr.NewReplyQueue()
		r, _ := listening(t, tr, rpc.Source{ReplyQueue: queue})
		if !<-r.up {
			t.Fatal("not listening")
		}
		const replies = 40
		start := time.Now()
		for range replies {
			tr.Send(t.Context(), rpc.Message{To: rpc.Address{Queue: queue}, Body: []byte("{}")}, func(err error) {
				if err != nil {
					t.Error(err)
				}
			})
		}
		for range replies {
			<-r.bodies
		}
		if took := time.Since(start); took > 500*time.Millisecond { // by the timer it is 2 s and 0.65 s
			t.Errorf("%d replies at prefetch %d took %s", replies, prefetch, took)
		}
	}
}
