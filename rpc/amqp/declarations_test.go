package amqp_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

var argument = regexp.MustCompile(`\{"([^"]+)",(?:"([^"]*)"|(\d+))\}`)

// arguments reads a broker's list of queue arguments.
func arguments(text string) amqp091.Table {
	args := amqp091.Table{}
	for _, m := range argument.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[3]); err == nil {
			args[m[1]] = int32(n)
		} else {
			args[m[1]] = m[2]
		}
	}
	return args
}

// TestIntegrationDeclarations: what we declare under any options is what Python declared under the same, for the broker too:
// declaring it once more with Python's flags is no mismatch.
func TestIntegrationDeclarations(t *testing.T) {
	var file struct {
		Cases []struct {
			Peer, Options     string
			Exchanges, Queues []struct {
				Name, Type, Durable, Arguments string
				AutoDelete                     string `json:"auto_delete"`
			}
		}
	}
	data, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", "rpc", "topology", "option-matrix.json"))
	must(t, err)
	must(t, json.Unmarshal(data, &file))
	for _, c := range file.Cases {
		if !strings.HasPrefix(c.Peer, "oslo.messaging 18") {
			continue
		}
		t.Run(c.Options, func(t *testing.T) {
			var o amqp.Options
			for pair := range strings.SplitSeq(strings.Trim(c.Options, "()"), "&") {
				if name, value, ok := strings.Cut(pair, "="); ok {
					must(t, o.Set(name, value))
				}
			}
			o.Hostname = "check" + wire.NewID()[:8] // keeps queue manager's names apart
			tr, exchange := transport(t, o)
			topic := "check-" + wire.NewID()[:12]
			r, stop := listening(t, tr, rpc.Source{Topic: topic, Server: "h"})
			replies, stopReplies := listening(t, tr, rpc.Source{ReplyQueue: "reply_" + topic})
			if !<-r.up || !<-replies.up {
				t.Fatal("not listening")
			}
			ch := raw(t)
			for _, x := range c.Exchanges {
				name := strings.Replace(strings.Replace(x.Name, "t_fanout", topic+"_fanout", 1), "cyborg", exchange, 1)
				must(t, ch.ExchangeDeclare(name, x.Type, x.Durable == "true", x.AutoDelete == "true", false, false, nil))
			}
			for _, q := range c.Queues {
				name, own := pythonsName(q.Name, topic)
				if !own {
					continue // a name with a random part
				}
				_, err := ch.QueueDeclare(name, q.Durable == "true", q.AutoDelete == "true", false, false, arguments(q.Arguments))
				must(t, err)
				t.Cleanup(func() { // those of the topic stay, as Python's do
					if _, err := raw(t).QueueDelete(name, false, false, false); err != nil {
						t.Error(err)
					}
				})
			}
			stop()
			stopReplies()
		})
	}
}

// pythonsName maps the name of a queue in the recording to ours, false if it has no counterpart of a known name.
func pythonsName(name, topic string) (string, bool) {
	switch {
	case strings.HasPrefix(name, "reply_"):
		return "reply_" + topic, true
	case strings.HasPrefix(name, "t_fanout_"):
		return "", false
	case strings.HasPrefix(name, "t"):
		return topic + strings.TrimPrefix(name, "t"), true
	}
	return "", false
}

// TestIntegrationExchangeOfOtherDurability: the control exchange is used as it is. When it is gone, which a restart of the
// broker does to one that is not durable, it is declared as the options say.
func TestIntegrationExchangeOfOtherDurability(t *testing.T) {
	tr, exchange := transportTicking(t, amqp.Options{Durable: true}, time.Second)
	ch := raw(t)
	must(t, ch.ExchangeDeclare(exchange, "topic", false, false, false, false, nil))
	topic := "check-" + wire.NewID()[:12]
	r, _ := listening(t, tr, rpc.Source{Topic: topic, Server: "h"})
	if !<-r.up {
		t.Fatal("not listening")
	}
	must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: topic}, Body: []byte(`"x"`)}))
	if got := <-r.bodies; got != `"x"` {
		t.Errorf("got %s", got)
	}
	must(t, ch.ExchangeDelete(exchange, false, false))
	if <-r.up || !<-r.up { // both within the next tick
		t.Fatal("not listening again")
	}
	must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: topic}, Body: []byte(`"y"`), Resend: true}))
	if got := <-r.bodies; got != `"y"` {
		t.Errorf("got %s", got)
	}
	must(t, ch.ExchangeDeclare(exchange, "topic", true, false, false, false, nil))
	cleanTopic(t, topic)
}

// TestIntegrationQueueMismatch: reported with object, values and option, tried again in peace, never up.
func TestIntegrationQueueMismatch(t *testing.T) {
	tr, exchange := transport(t, amqp.Options{Quorum: true})
	topic := "check-" + wire.NewID()[:12]
	ch := raw(t)
	must(t, ch.ExchangeDeclare(exchange, "topic", true, false, false, false, nil))
	_, err := ch.QueueDeclare(topic, true, false, false, false, nil)
	must(t, err)
	defer ch.QueueDelete(topic, false, false, false)
	r, stop := listening(t, tr, rpc.Source{Topic: topic, Server: "h"})
	var mismatch *amqp.MismatchError
	deadline := time.Now().Add(20 * time.Second)
	for !errors.As(linkError(tr, topic), &mismatch) {
		if time.Now().After(deadline) {
			t.Fatalf("health: %+v", tr.Health())
		}
		<-time.After(50 * time.Millisecond)
	}
	if !strings.Contains(mismatch.Object, topic) || mismatch.Field != "x-queue-type" || mismatch.Ours != "quorum" || !strings.Contains(mismatch.Option, "rabbit_quorum_queue") {
		t.Errorf("%+v", mismatch)
	}
	stop()
	if len(r.up) > 0 && <-r.up {
		t.Error("it listened all the same")
	}
}

func linkError(tr *amqp.Transport, name string) error {
	for _, state := range tr.Health() {
		if strings.Contains(state.Link, name) {
			return state.LastError
		}
	}
	return nil
}

// TestIntegrationFanoutMismatch: a topic's fanout exchange that is there with other properties fails the casts to it, with
// object, values and option, and holds up no other message, not even for a reconnect; once it is deleted the casts work.
func TestIntegrationFanoutMismatch(t *testing.T) {
	var mismatches, lost atomic.Int32
	topic, ch := "check-"+wire.NewID()[:12], raw(t)
	tr, err := amqp.Open(amqp.Config{
		URL: broker(t), ControlExchange: topic, OpTimeout: 5 * time.Second,
		Observe: func(e rpc.Event) {
			switch e.Kind {
			case rpc.EventMismatch:
				mismatches.Add(1)
			case rpc.EventLost:
				lost.Add(1)
			}
		},
	})
	must(t, err)
	must(t, ch.ExchangeDeclare(topic+"_fanout", "fanout", true, false, false, false, nil))
	queue, err := ch.QueueDeclare("", false, true, true, false, nil)
	must(t, err)
	start, to := time.Now(), rpc.Remote{Client: rpc.NewClient(tr, rpc.ClientConfig{}), Target: rpc.Target{Topic: topic}}
	ping := rpc.NewMethod[struct{}, rpc.Null]("ping", "1.0")
	for range 3 {
		var mismatch *amqp.MismatchError
		err := ping.CastAll(t.Context(), to, struct{}{})
		if !errors.As(err, &mismatch) || mismatch.Ours != "false" || mismatch.Theirs != "true" || mismatch.Field != "durable" {
			t.Fatalf("a cast to all: %v", err)
		}
		for _, word := range []string{"ping", topic + "_fanout", "rabbit_transient_quorum_queue"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not name %s", err, word)
			}
		}
		must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Queue: queue.Name}, Body: []byte("{}")}))
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("three casts and three messages took %s", took)
	}
	if mismatches.Load() != 1 || lost.Load() != 0 {
		t.Errorf("%d mismatches reported, %d connections lost", mismatches.Load(), lost.Load())
	}
	must(t, ch.ExchangeDelete(topic+"_fanout", false, false))
	must(t, ping.CastAll(t.Context(), to, struct{}{}))
	must(t, tr.Close(t.Context()))
	for _, x := range []string{topic, topic + "_fanout"} {
		must(t, ch.ExchangeDelete(x, false, false))
	}
}
