package amqp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// TestIntegrationDeleteQueue deletes a queue that nobody consumes, leaves one that somebody does, and minds none that is
// absent.
func TestIntegrationDeleteQueue(t *testing.T) {
	ch := raw(t)
	name := "delete-" + t.Name()
	q, err := ch.QueueDeclare(name, false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Consume(q.Name, "consumer", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	c := amqp.Config{URL: broker(t)}
	var consumed *amqp.ConsumedError
	if err := amqp.DeleteQueue(t.Context(), c, name); !errors.As(err, &consumed) || consumed.Queue != name {
		t.Errorf("a consumed queue: %v", err)
	}
	if err := ch.Cancel("consumer", false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := amqp.DeleteQueue(t.Context(), c, name); err != nil {
			t.Error(err)
		}
	}
	if _, err := ch.QueueDeclarePassive(name, false, false, false, false, nil); err == nil {
		t.Error("the queue is still there")
	}
}

// TestManagedNames: the numbers of use_queue_manager are taken by the queues that have them in their names, and by no listener
// of replies, whenever that begins.
func TestManagedNames(t *testing.T) {
	t.Parallel()
	tr, err := amqp.Open(amqp.Config{URL: "rabbit://127.0.0.1:1/", Options: amqp.Options{QueueManager: true, Hostname: "h", ProcessName: "p"}})
	must(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, want := range []string{"reply_h:p:1", "reply_h:p:2"} {
		got := tr.NewReplyQueue()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		must(t, tr.Listen(ended, rpc.Source{ReplyQueue: got}, nil))
	}
	must(t, tr.Close(t.Context()))
}
