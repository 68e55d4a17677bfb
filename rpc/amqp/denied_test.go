//go:build unix

package amqp_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// TestIntegrationNoPermissionToWrite: messages to an exchange that the user may not write to fail with the reason, those that
// may be sent again too, and do not hold up the others.
func TestIntegrationNoPermissionToWrite(t *testing.T) {
	n := startNode(t)
	n.ctl("add_user", "mute", "mute")
	n.ctl("set_permissions", "mute", ".*", "^open$", ".*")
	var log bytes.Buffer // written by the publisher's goroutine, which has ended when it is read
	tr, err := amqp.Open(amqp.Config{
		URL: strings.Replace(n.oslo(n.address()), "guest:guest", "mute:mute", 1), ControlExchange: "shut", OpTimeout: 5 * time.Second,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	must(t, err)
	n.channel(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare("reply_x", false, false, false, false, nil)
		return err
	})
	for exchange, to := range map[string]rpc.Address{"shut": {Topic: "t"}, "amq.default": {Queue: "reply_x"}} {
		for _, resend := range []bool{true, false} {
			err := sendTo(t, tr, rpc.Message{To: to, Body: []byte("{}"), Resend: resend})
			access, ok := errors.AsType[*amqp.AccessError](err)
			if !ok || access.Exchange != exchange || !strings.Contains(err.Error(), "'mute'") || !strings.Contains(err.Error(), "set_permissions") {
				t.Errorf("to %s, resend %t: %v", exchange, resend, err)
			}
		}
	}
	if err := sendTo(t, tr, rpc.Message{To: rpc.Address{Exchange: "open", Topic: "t"}, Body: []byte("{}")}); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("to open: %v", err)
	}
	must(t, tr.Close(t.Context()))
	for _, exchange := range []string{"shut", "amq.default"} {
		if n := strings.Count(log.String(), "exchange="+exchange); n != 1 {
			t.Errorf("%d lines about %s:\n%s", n, exchange, &log)
		}
	}
}

// TestIntegrationExchangeVanished: a message that meets a missing exchange was certainly not delivered. It is sent again, once
// the exchange is declared, and then has no queue to go to.
func TestIntegrationExchangeVanished(t *testing.T) {
	tr, control := transport(t, amqp.Options{})
	ch := raw(t)
	other := control + "-other"
	t.Cleanup(func() { must(t, raw(t).ExchangeDelete(other, false, false)) })
	for range 2 {
		for _, exchange := range []string{control, other} {
			for range 2 { // the first declares it
				m := rpc.Message{To: rpc.Address{Exchange: exchange, Topic: "t"}, Body: []byte("{}")}
				start := time.Now()
				if err := sendTo(t, tr, m); !errors.Is(err, rpc.ErrUndeliverable) {
					t.Errorf("to %s: %v", exchange, err)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("to %s: it took %s", exchange, took)
				}
				must(t, ch.ExchangeDelete(exchange, false, false))
			}
		}
	}
}
