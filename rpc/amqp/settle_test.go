package amqp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// TestIntegrationPatience: only what nobody waits for is told late. A sender that waits is told as soon as the broker
// confirms, also behind patient messages; what could not be delivered is told at once, and so is everything at the end.
func TestIntegrationPatience(t *testing.T) {
	t.Parallel()
	const (
		rounds = 40
		late   = rounds * 20 * time.Millisecond // what the rounds would take if they waited for patience
	)
	tr, err := amqp.Open(amqp.Config{URL: broker(t), ControlExchange: "patience"})
	if err != nil {
		t.Fatal(err)
	}
	open := true
	end := func() {
		if open {
			open = false
			if err := tr.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	defer end()
	nobody := rpc.Address{Topic: "t", Server: "nobody"}
	send := func(patient bool, to rpc.Address) <-chan error {
		done := make(chan error, 1)
		tr.Send(t.Context(), rpc.Message{To: to, Body: []byte(`{}`), Patient: patient}, func(err error) { done <- err })
		return done
	}
	all := rpc.Address{Topic: "t", Fanout: true} // confirmed though nobody listens
	if err := <-send(false, all); err != nil {
		t.Fatal(err)
	}
	for name, round := range map[string]func(){
		"awaited": func() {
			if err := <-send(false, all); err != nil {
				t.Error(err)
			}
		},
		"awaited behind a patient one": func() {
			first := send(true, all)
			if err := errors.Join(<-send(false, all), <-first); err != nil {
				t.Error(err)
			}
		},
		"undeliverable": func() {
			if err := <-send(true, nobody); !errors.Is(err, rpc.ErrUndeliverable) {
				t.Error(err)
			}
		},
	} {
		begin := time.Now()
		for range rounds {
			round()
		}
		if took := time.Since(begin); took > late/2 {
			t.Errorf("%s: %d messages took %s", name, rounds, took)
		}
	}
	if err := <-send(true, all); err != nil {
		t.Error(err)
	}
	last := send(true, all)
	end()
	if err := <-last; err != nil {
		t.Error(err)
	}
}
