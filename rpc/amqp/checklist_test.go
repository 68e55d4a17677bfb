package amqp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// raw is a channel of the AMQP library on the test's broker, to look from outside.
func raw(t *testing.T) *amqp091.Channel {
	t.Helper()
	c, err := amqp091.Dial(strings.Replace(broker(t), "rabbit://", "amqp://", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// transport opens a transport whose exchange nobody else uses, and deletes that at the end.
func transport(t *testing.T, o amqp.Options) (*amqp.Transport, string) {
	t.Helper()
	return transportTicking(t, o, 0)
}

// transportTicking is transport with another time between declarations, 0 for the usual one.
func transportTicking(t *testing.T, o amqp.Options, tick time.Duration) (*amqp.Transport, string) {
	t.Helper()
	exchange := "check-" + wire.NewID()[:12]
	tr, err := amqp.Open(amqp.Config{URL: broker(t), ControlExchange: exchange, Options: o, OpTimeout: 5 * time.Second, Tick: tick})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := tr.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := raw(t).ExchangeDelete(exchange, false, false); err != nil {
			t.Error(err)
		}
	})
	return tr, exchange
}

// listening runs a listener until the test ends or stop is called.
func listening(t *testing.T, tr *amqp.Transport, s rpc.Source) (r *recorder, stop func()) {
	t.Helper()
	r = &recorder{up: make(chan bool, 100), bodies: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := tr.Listen(ctx, s, r); err != nil && !errors.Is(err, rpc.ErrClosed) {
			t.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return r, stop
}

// serving runs a server of the topic until stop is called.
func serving(t *testing.T, tr rpc.Transport, topic string, ep *rpc.Endpoint) (stop func()) {
	t.Helper()
	up := make(chan bool, 10)
	srv, err := rpc.NewServer(tr, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "h"}, Endpoints: []*rpc.Endpoint{ep}, Ready: func(u bool) { up <- u },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	if !<-up {
		t.Fatal("not listening")
	}
	return func() {
		cancel()
		must(t, <-ended)
	}
}

func sendTo(t *testing.T, tr *amqp.Transport, m rpc.Message) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan error, 1)
	tr.Send(ctx, m, func(err error) { done <- err })
	return <-done
}

// cleanTopic deletes the queues that a server leaves.
func cleanTopic(t *testing.T, topic string) {
	t.Helper()
	t.Cleanup(func() {
		for _, q := range []string{topic, topic + ".h"} {
			if _, err := raw(t).QueueDelete(q, false, false, false); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestIntegrationWhatAStopLeaves: the queues of the topic and the server, nothing else.
func TestIntegrationWhatAStopLeaves(t *testing.T) {
	tr, _ := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	r, stop := listening(t, tr, rpc.Source{Topic: topic, Server: "h"})
	queue := tr.NewReplyQueue()
	replies, stopReplies := listening(t, tr, rpc.Source{ReplyQueue: queue})
	if !<-r.up || !<-replies.up {
		t.Fatal("not listening")
	}
	stop()
	stopReplies()
	for name, left := range map[string]bool{topic: true, topic + ".h": true, queue: false} {
		if _, err := raw(t).QueueDeclarePassive(name, false, false, false, false, nil); (err == nil) != left {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The fanout exchange goes with its last queue.
	if err := raw(t).ExchangeDeclarePassive(topic+"_fanout", "fanout", false, true, false, false, nil); err == nil {
		t.Error("the fanout queue was left")
	}
	cleanTopic(t, topic)
}

// TestIntegrationWrongCredentials: retried, said once at Error, visible in health, and senders are not kept waiting.
func TestIntegrationWrongCredentials(t *testing.T) {
	u, err := amqp.ParseURL(broker(t))
	must(t, err)
	for name, url := range map[string]string{
		"password": fmt.Sprintf("rabbit://%s:wrong@%s/%s", u.Hosts[0].User, u.Hosts[0].Address(), strings.Replace(u.VHost, "/", "%2F", 1)),
		"vhost":    fmt.Sprintf("rabbit://%s:%s@%s/no-such-vhost", u.Hosts[0].User, u.Hosts[0].Password, u.Hosts[0].Address()),
	} {
		var log strings.Builder
		tr, err := amqp.Open(amqp.Config{
			URL: url, Logger: slog.New(slog.NewTextHandler(&log, nil)), Options: amqp.Options{RetryInterval: 100 * time.Millisecond, RetryBackoff: -1},
		})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // the broker takes 3 s to refuse a password
		done := make(chan error, 1)
		tr.Send(ctx, rpc.Message{To: rpc.Address{Topic: "t"}, Body: []byte("{}")}, func(err error) { done <- err })
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: sending ended with %v", name, err)
		}
		cancel()
		if err := tr.Impediment(); err == nil || !strings.Contains(err.Error(), "transport_url") {
			t.Errorf("%s: impediment %v", name, err)
		}
		must(t, tr.Close(t.Context()))
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 || strings.Contains(log.String(), "wrong") {
			t.Errorf("%s: %d errors in the log:\n%s", name, n, log.String())
		}
	}
}

// TestIntegrationDeadReplyQueues: fifty callers that are gone disturb nobody.
func TestIntegrationDeadReplyQueues(t *testing.T) {
	server, _ := transport(t, amqp.Options{})
	topic := "check-" + wire.NewID()[:12]
	ep := rpc.NewEndpoint("", "1.0")
	ping := rpc.NewMethod[struct{}, string]("ping", "1.0")
	ping.Handle(ep, func(context.Context, struct{}) (string, error) { return "pong", nil })
	ctx := t.Context()
	stop := serving(t, server, topic, ep)
	for i := range 50 {
		body := fmt.Appendf(nil, `{"method": "ping", "args": {}, "version": "1.0", "_msg_id": "%d", "_reply_q": "reply_0000dead0000beef"}`, i)
		must(t, sendTo(t, server, rpc.Message{To: rpc.Address{Topic: topic}, Body: body}))
	}
	client := rpc.NewClient(server, rpc.ClientConfig{})
	start := time.Now()
	if got, err := ping.Call(ctx, rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}, struct{}{}); err != nil || got != "pong" {
		t.Errorf("%q, %v", got, err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the call took %s", took)
	}
	must(t, client.Close(ctx))
	stop()
	q, err := raw(t).QueueDeclarePassive(topic, false, false, false, false, nil)
	if err != nil || q.Messages != 0 {
		t.Errorf("%d messages are left, %v", q.Messages, err)
	}
	cleanTopic(t, topic)
}

// TestIntegrationCallSurvivesALongCut: the connections of both ends are gone for 8 s while a handler runs for 5 s; the
// queues come back under their names, and the caller gets its answer.
func TestIntegrationCallSurvivesALongCut(t *testing.T) {
	u, err := amqp.ParseURL(broker(t))
	must(t, err)
	r := newRelay(t, u.Hosts[0].Address())
	url := strings.Replace(broker(t), u.Hosts[0].Address(), r.address(), 1)
	server, client := open(t, url), open(t, url)
	topic := "check-" + wire.NewID()[:12]
	started := make(chan struct{})
	ep := rpc.NewEndpoint("", "1.0")
	slow := rpc.NewMethod[struct{}, string]("slow", "1.0")
	slow.Handle(ep, func(context.Context, struct{}) (string, error) {
		close(started)
		<-time.After(5 * time.Second)
		return "slept", nil
	})
	ctx := t.Context()
	stop := serving(t, server, topic, ep)
	go func() {
		<-started
		r.freeze()
		r.cut()
		<-time.After(8 * time.Second)
		r.thaw()
		r.cut()
	}()
	start := time.Now()
	c := rpc.NewClient(client, rpc.ClientConfig{})
	got, err := slow.Call(ctx, rpc.Remote{Client: c, Target: rpc.Target{Topic: topic}}, struct{}{})
	if took := time.Since(start); err != nil || got != "slept" || took < 8*time.Second || took > 30*time.Second {
		t.Errorf("%q, %v after %s", got, err, took)
	}
	must(t, c.Close(ctx))
	stop()
	cleanTopic(t, topic)
}

// named remembers the reply queue of a client.
type named struct {
	*amqp.Transport
	queue string
}

func (n *named) NewReplyQueue() string {
	n.queue = n.Transport.NewReplyQueue()
	return n.queue
}

// TestIntegrationReplyQueueDeleted: a long-lived client does not stay deaf when its reply queue is gone.
func TestIntegrationReplyQueueDeleted(t *testing.T) {
	tr, _ := transport(t, amqp.Options{})
	client := &named{Transport: tr}
	topic := "check-" + wire.NewID()[:12]
	ep := rpc.NewEndpoint("", "1.0")
	ping := rpc.NewMethod[struct{}, string]("ping", "1.0")
	ping.Handle(ep, func(context.Context, struct{}) (string, error) { return "pong", nil })
	ctx := t.Context()
	stop := serving(t, tr, topic, ep)
	c := rpc.NewClient(client, rpc.ClientConfig{Timeout: 10 * time.Second})
	to := rpc.Remote{Client: c, Target: rpc.Target{Topic: topic}}
	for range 3 {
		if got, err := ping.Call(ctx, to, struct{}{}); err != nil || got != "pong" {
			t.Fatalf("%q, %v", got, err)
		}
		_, err := raw(t).QueueDelete(client.queue, false, false, false)
		must(t, err)
	}
	if got, err := ping.Call(ctx, to, struct{}{}); err != nil || got != "pong" {
		t.Errorf("%q, %v", got, err)
	}
	q, err := raw(t).QueueDeclarePassive(client.queue, false, false, false, false, nil)
	if err != nil || q.Consumers != 1 {
		t.Errorf("%d consumers, %v", q.Consumers, err)
	}
	must(t, c.Close(ctx))
	stop()
	cleanTopic(t, topic)
}
