package conductord_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// request is what a tap saw of a request.
type request struct {
	Method  string                     `json:"method"`
	Version string                     `json:"version"`
	Args    map[string]json.RawMessage `json:"args"`
	// Namespace and keys of the context, without the values that differ between calls.
	Namespace *string `json:"namespace"`
}

// taps collects copies of the requests to a topic.
type taps struct {
	mu   sync.Mutex
	seen []request
	stop func()
}

// tap binds a queue of its own beside the service's.
func tap(t testing.TB, busURL string, keys ...string) *taps {
	t.Helper()
	conn, err := amqp091.Dial(strings.Replace(busURL, "rabbit://", "amqp://", 1))
	if err != nil {
		t.Fatal(err)
	}
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := ch.QueueBind(q.Name, key, "cyborg", false, nil); err != nil {
			t.Fatal(err)
		}
	}
	deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, done := &taps{}, make(chan struct{})
	go func() {
		defer close(done)
		for d := range deliveries {
			s.add(d.Body)
		}
	}()
	s.stop = sync.OnceFunc(func() { _ = conn.Close(); <-done })
	t.Cleanup(s.stop)
	return s
}

func (s *taps) add(body []byte) {
	var outer struct {
		Message string `json:"oslo.message"`
	}
	var r request
	if json.Unmarshal(body, &outer) != nil || json.Unmarshal([]byte(outer.Message), &r) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
}

// requests ends the tap and gives what it saw.
func (s *taps) requests() []request {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *taps) methods() []string {
	var out []string
	for _, r := range s.requests() {
		out = append(out, r.Method+" "+r.Version)
	}
	return out
}
