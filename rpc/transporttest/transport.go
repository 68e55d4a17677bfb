package transporttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

func routing(t *testing.T, p Pair) {
	topic := newTopic()
	a := listen(t, p.Server, rpc.Source{Topic: topic, Server: "a"}, &probe{})
	b := listen(t, p.Server, rpc.Source{Topic: topic, Server: "b"}, &probe{})
	other := listen(t, p.Server, rpc.Source{Topic: newTopic(), Server: "a"}, &probe{})

	mustSend(t, p.Client, rpc.Address{Topic: topic, Server: "b"}, "to b")
	if got := receive(t, b.bodies, "the message to b"); got != "to b" {
		t.Errorf("b got %q", got)
	}
	mustSend(t, p.Client, rpc.Address{Topic: topic, Fanout: true}, "to all")
	for _, l := range []*probe{a, b} {
		if got := receive(t, l.bodies, "the message to all"); got != "to all" {
			t.Errorf("got %q", got)
		}
	}
	mustSend(t, p.Client, rpc.Address{Topic: topic}, "to one")
	select {
	case got := <-a.bodies:
		if got != "to one" {
			t.Errorf("a got %q", got)
		}
	case got := <-b.bodies:
		if got != "to one" {
			t.Errorf("b got %q", got)
		}
	case <-time.After(patience):
		t.Error("nobody got the message to the topic")
	}
	quiet(t, a.bodies)
	quiet(t, b.bodies)
	quiet(t, other.bodies)
	if err := send(t, p.Client, rpc.Address{Topic: newTopic(), Fanout: true}, "to nobody", 0); err != nil {
		t.Errorf("a fanout message that nobody listens to: %v", err)
	}
}

func competing(t *testing.T, p Pair) {
	const n = 200
	topic := newTopic()
	worker := func(string) verdict {
		pause(time.Millisecond)
		return acknowledge
	}
	a := listen(t, p.Server, rpc.Source{Topic: topic, Server: "a", Prefetch: 4}, &probe{judge: worker})
	b := listen(t, p.Server, rpc.Source{Topic: topic, Server: "b", Prefetch: 4}, &probe{judge: worker})
	for i := range n {
		mustSend(t, p.Client, rpc.Address{Topic: topic}, fmt.Sprint(i))
	}
	count := map[*probe]int{}
	seen := map[string]bool{}
	for len(seen) < n {
		var body string
		select {
		case body = <-a.bodies:
			count[a]++
		case body = <-b.bodies:
			count[b]++
		case <-time.After(patience):
			t.Fatalf("%d of %d messages arrived", len(seen), n)
		}
		if seen[body] {
			t.Errorf("message %s arrived twice", body)
		}
		seen[body] = true
	}
	if count[a] < n/10 || count[b] < n/10 {
		t.Errorf("one got %d, the other %d of %d", count[a], count[b], n)
	}
}

func expiry(t *testing.T, p Pair) {
	topic := newTopic()
	source := rpc.Source{Topic: topic, Server: "a"}
	listen(t, p.Server, source, &probe{}).stop(t) // leaves the queues
	to := rpc.Address{Topic: topic, Server: "a"}
	if err := send(t, p.Client, to, "request", 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	mustSend(t, p.Client, to, "cast")
	pause(silence)
	again := listen(t, p.Server, source, &probe{})
	if got := receive(t, again.bodies, "the cast"); got != "cast" {
		t.Errorf("got %q", got)
	}
	quiet(t, again.bodies)
}

func undeliverable(t *testing.T, p Pair) {
	const senders, each = 64, 10
	topic := newTopic()
	listen(t, p.Server, rpc.Source{Topic: topic, Server: "here"}, &probe{})
	var (
		wrong, completed atomic.Int32
		all              sync.WaitGroup
	)
	for range senders {
		all.Go(func() {
			for i := range each {
				server := []string{"here", "ghost"}[i%2]
				done := make(chan struct{})
				p.Client.Send(t.Context(), rpc.Message{To: rpc.Address{Topic: topic, Server: server}, Body: []byte(`{}`)}, func(err error) {
					completed.Add(1)
					if errors.Is(err, rpc.ErrUndeliverable) != (server == "ghost") {
						wrong.Add(1)
					}
					close(done)
				})
				<-done
			}
		})
	}
	all.Wait()
	if completed.Load() != senders*each || wrong.Load() != 0 {
		t.Errorf("%d of %d messages completed, %d wrongly", completed.Load(), senders*each, wrong.Load())
	}
	err := send(t, p.Client, rpc.Address{Topic: topic, Server: "ghost"}, "x", 0)
	var u *rpc.UndeliverableError
	if !errors.As(err, &u) || !strings.Contains(u.RoutingKey, topic) {
		t.Errorf("got %v, want an UndeliverableError with the routing key", err)
	}
}

func completion(t *testing.T, p Pair) {
	const n = 300
	topic := newTopic()
	listen(t, p.Server, rpc.Source{Topic: topic, Server: "a"}, &probe{})
	var counts [n]atomic.Int32
	var all sync.WaitGroup
	all.Add(n)
	for i := range n {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			pause(time.Duration(rand.IntN(20)) * time.Millisecond)
			cancel()
		}()
		go func() {
			pause(time.Duration(rand.IntN(20)) * time.Millisecond)
			p.Client.Send(ctx, rpc.Message{To: rpc.Address{Topic: topic}, Body: []byte(`{}`)}, func(error) {
				if counts[i].Add(1) == 1 {
					all.Done()
				}
			})
		}()
	}
	closer, canClose := p.Client.(interface{ Close(context.Context) error })
	if canClose {
		pause(10 * time.Millisecond)
		if err := closer.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	receive(t, done, "the completion of every message")
	pause(silence)
	for i := range counts {
		if got := counts[i].Load(); got != 1 {
			t.Errorf("message %d completed %d times", i, got)
		}
	}
	if canClose {
		if err := send(t, p.Client, rpc.Address{Topic: topic}, "late", 0); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("sending over a closed transport: %v", err)
		}
	}
}

func settling(t *testing.T, p Pair) {
	topic := newTopic()
	source := rpc.Source{Topic: topic, Server: "a"}
	to := rpc.Address{Topic: topic, Server: "a"}
	first := listen(t, p.Server, source, &probe{judge: func(body string) verdict {
		switch body {
		case "left":
			return leave
		case "rejected":
			return reject
		}
		return acknowledge
	}})
	for _, body := range []string{"left", "rejected", "taken"} {
		mustSend(t, p.Client, to, body)
		receive(t, first.bodies, body)
	}
	first.stop(t)
	second := listen(t, p.Server, source, &probe{})
	if got := receive(t, second.bodies, "the message that was left"); got != "left" {
		t.Errorf("%q came back", got)
	}
	quiet(t, second.bodies)
}

func backPressure(t *testing.T, p Pair) {
	const n, prefetch = 10, 2
	topic := newTopic()
	blocked := listen(t, p.Server, rpc.Source{Topic: topic, Server: "busy", Prefetch: prefetch}, &probe{hold: make(chan struct{})})
	for i := range n {
		mustSend(t, p.Client, rpc.Address{Topic: topic}, fmt.Sprint(i))
	}
	idle := listen(t, p.Server, rpc.Source{Topic: topic, Server: "idle"}, &probe{})
	for range n - prefetch {
		receive(t, idle.bodies, "a message that the busy server cannot hold")
	}
	quiet(t, idle.bodies)
	blocked.stop(t) // which gives back what it held
	for range prefetch {
		receive(t, idle.bodies, "a message that the busy server held")
	}
}

func order(t *testing.T, p Pair) {
	const n = 200
	topic := newTopic()
	l := listen(t, p.Server, rpc.Source{Topic: topic, Server: "a", Prefetch: 8}, &probe{})
	for i := range n {
		p.Client.Send(t.Context(), rpc.Message{To: rpc.Address{Topic: topic, Server: "a"}, Body: fmt.Append(nil, i)}, func(error) {})
	}
	for i := range n {
		if got := receive(t, l.bodies, "the next message"); got != fmt.Sprint(i) {
			t.Fatalf("message %s came in place of %d", got, i)
		}
	}
}

func replyQueueEnds(t *testing.T, p Pair) {
	queue := p.Client.NewReplyQueue()
	if other := p.Client.NewReplyQueue(); other == queue {
		t.Errorf("two reply queues are called %s", queue)
	}
	l := listen(t, p.Client, rpc.Source{ReplyQueue: queue}, &probe{})
	mustSend(t, p.Server, rpc.Address{Queue: queue}, "reply")
	receive(t, l.bodies, "the reply")
	l.stop(t)
	if up := receive(t, l.up, "the end of listening"); up {
		t.Error("listening was not reported as down")
	}
	if err := send(t, p.Server, rpc.Address{Queue: queue}, "late", 0); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("a reply to a queue that is gone: %v", err)
	}
}

func loss(t *testing.T, p Pair) {
	topic := newTopic()
	l := listen(t, p.Server, rpc.Source{Topic: topic, Server: "a"}, &probe{})
	for range 3 {
		p.Breaker.Cut(t)
		if receive(t, l.up, "the report of the loss") {
			t.Error("up was reported twice")
		}
		if !receive(t, l.up, "the report of the return") {
			t.Error("down was reported twice")
		}
		eventually(t, func() error { return send(t, p.Client, rpc.Address{Topic: topic, Server: "a"}, "after the loss", 0) })
		receive(t, l.bodies, "a message after the loss")
	}
}

func replyQueueReturns(t *testing.T, p Pair) {
	queue := p.Client.NewReplyQueue()
	l := listen(t, p.Client, rpc.Source{ReplyQueue: queue}, &probe{})
	p.Breaker.DeleteQueue(t, queue)
	if receive(t, l.up, "the report of the loss") {
		t.Error("up was reported twice")
	}
	if !receive(t, l.up, "the report of the return") {
		t.Error("down was reported twice")
	}
	mustSend(t, p.Server, rpc.Address{Queue: queue}, "reply")
	receive(t, l.bodies, "the reply")
}

// eventually repeats f until it succeeds.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s still: %v", patience, err)
		}
		pause(50 * time.Millisecond)
	}
}
