//go:build unix

package amqp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

const streamTopic = "S"

// streaming opens a transport whose fanout goes through a stream, reached at address.
func streaming(t *testing.T, n *node, address string) *amqp.Transport {
	t.Helper()
	tr, err := amqp.Open(amqp.Config{
		URL: n.oslo(address), ControlExchange: "streams", OpTimeout: 3 * time.Second,
		Options: amqp.Options{TransientQuorum: true, StreamFanout: true, Prefetch: 10, Heartbeat: heartbeat},
	})
	must(t, err)
	t.Cleanup(func() { must(t, tr.Close(context.Background())) })
	return tr
}

// tell sends the numbers from first to last to all servers.
func tell(t *testing.T, tr *amqp.Transport, first, last int) {
	t.Helper()
	for i := first; i <= last; i++ {
		must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: streamTopic, Fanout: true}, Body: fmt.Append(nil, i)}))
	}
}

// heard takes as many bodies as there are numbers from first to last, and whatever comes within half a second more.
func heard(t *testing.T, r *recorder, first, last int) {
	t.Helper()
	var want, got []string
	for i := first; i <= last; i++ {
		want = append(want, fmt.Sprint(i))
	}
	patience := time.NewTimer(20 * time.Second)
	for {
		select {
		case body := <-r.bodies:
			got = append(got, body)
			if len(got) >= len(want) {
				patience.Reset(500 * time.Millisecond)
			}
			continue
		case <-patience.C:
		}
		break
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("heard %v, want %v", got, want)
	}
}

// TestIntegrationStreamGoesOn: after a loss of the connection the fanout stream is read on from where it was: what was told
// meanwhile is heard, and nothing twice; a message whose acknowledgement failed with the connection comes again.
func TestIntegrationStreamGoesOn(t *testing.T) {
	n := startNode(t)
	way := newRelay(t, n.address())
	speaker := streaming(t, n, n.address())
	listener := streaming(t, n, way.address())
	r, stop := listening(t, listener, rpc.Source{Topic: streamTopic, Server: "h"})
	if !<-r.up {
		t.Fatal("not listening")
	}
	tell(t, speaker, 1, 5)
	heard(t, r, 1, 5)
	way.cut()
	tell(t, speaker, 6, 10)
	heard(t, r, 6, 10)
	n.ctl("close_all_connections", "test")
	tell(t, speaker, 11, 12)
	heard(t, r, 11, 12)
	stop()
}

// losing loses the connection while it holds a message, once.
type losing struct {
	*recorder
	body string
	lose func()
	err  error
}

func (l *losing) Deliver(ctx context.Context, d rpc.Delivery) {
	if string(d.Body) != l.body || l.lose == nil {
		l.recorder.Deliver(ctx, d)
		return
	}
	l.lose()
	l.lose = nil
	pause(time.Second) // until the library has noticed
	l.err = d.Settle(true)
}

// TestIntegrationStreamRepeatsWhatWasNotAccepted: a message held when the connection was lost is not acknowledged, so its
// receiver does not act upon it, and no other consumer will get it: the stream is read on from it.
func TestIntegrationStreamRepeatsWhatWasNotAccepted(t *testing.T) {
	n := startNode(t)
	way := newRelay(t, n.address())
	speaker := streaming(t, n, n.address())
	listener := streaming(t, n, way.address())
	l := &losing{recorder: &recorder{up: make(chan bool, 100), bodies: make(chan string, 1000)}, body: "3", lose: way.cut}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listener.Listen(ctx, rpc.Source{Topic: streamTopic, Server: "h"}, l) }()
	if !<-l.up {
		t.Fatal("not listening")
	}
	tell(t, speaker, 1, 5)
	heard(t, l.recorder, 1, 5)
	cancel()
	must(t, <-ended)
	if l.err == nil {
		t.Error("a message was acknowledged over a lost connection")
	}
}

// TestIntegrationStreamDeleted: a stream that was deleted and declared anew is read although its offsets begin anew.
func TestIntegrationStreamDeleted(t *testing.T) {
	n := startNode(t)
	speaker := streaming(t, n, n.address())
	listener := streaming(t, n, n.address())
	r, stop := listening(t, listener, rpc.Source{Topic: streamTopic, Server: "h"})
	if !<-r.up {
		t.Fatal("not listening")
	}
	tell(t, speaker, 1, 5)
	heard(t, r, 1, 5)
	n.channel(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDelete(streamTopic+"_fanout", false, false, false)
		return err
	})
	if <-r.up || !<-r.up {
		t.Fatal("not listening again")
	}
	tell(t, speaker, 6, 8)
	heard(t, r, 6, 8)
	stop()
}
