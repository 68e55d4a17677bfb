//go:build unix

package amqp_test

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// declarationRows are the options that show in declarations. Those of 14.0 are fewer.
func declarationRows(suite string) []string {
	rows := []string{"", "amqp_durable_queues=true", "amqp_auto_delete=true", "rabbit_quorum_queue=true", "rabbit_ha_queues=true", "rabbit_quorum_queue=true&rabbit_quorum_delivery_limit=5"}
	if suite != "bookworm" {
		rows = append(rows, "rabbit_quorum_queue=true&rabbit_transient_quorum_queue=true",
			"rabbit_transient_quorum_queue=true&rabbit_stream_fanout=true&rabbit_qos_prefetch_count=10", "rabbit_transient_queues_ttl=0")
	}
	return rows
}

// TestInteropDeclarationsInEitherOrder: with the same options neither side stands in the other's way, whoever comes first.
func TestInteropDeclarationsInEitherOrder(t *testing.T) {
	url := broker(t)
	for suite, dir := range generations(t) {
		rows := declarationRows(suite)
		if testing.Short() {
			rows = rows[:2]
		}
		for _, row := range rows {
			for _, first := range []string{"go", "python"} {
				t.Run(suite+" "+first+" first "+row, func(t *testing.T) {
					topic := "interop-declare-" + wire.NewID()[:12]
					t.Cleanup(func() { forget(t, topic) })
					both := [](func(*testing.T, string, string, string, string)){goListens, pythonListens}
					if first == "python" {
						slices.Reverse(both)
					}
					with := url
					if row != "" {
						with += "?" + row
					}
					for _, listens := range both {
						listens(t, with, dir, topic, topic+"-x")
					}
				})
			}
		}
	}
}

// forget deletes what neither side deletes.
func forget(t *testing.T, topic string) {
	ch := raw(t)
	for _, queue := range []string{topic, topic + ".h", topic + "_fanout"} {
		if _, err := ch.QueueDelete(queue, false, false, false); err != nil {
			t.Error(err)
		}
	}
	must(t, ch.ExchangeDelete(topic+"-x", false, false))
}

// goListens runs a listener and a client of ours until the test ends.
func goListens(t *testing.T, url, _, topic, exchange string) {
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: exchange})
	must(t, err)
	t.Cleanup(func() { must(t, tr.Close(context.Background())) })
	for _, s := range []rpc.Source{{Topic: topic, Server: "h"}, {ReplyQueue: tr.NewReplyQueue()}} {
		r, _ := listening(t, tr, s)
		select {
		case <-r.up:
		case <-time.After(20 * time.Second):
			t.Fatalf("not listening: %+v", tr.Health())
		}
	}
	must(t, sendTo(t, tr, rpc.Message{To: rpc.Address{Topic: topic, Fanout: true}, Body: []byte("{}")}))
}

// pythonListens runs a Python server of the same name until the test ends.
func pythonListens(t *testing.T, url, dir, topic, exchange string) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	server := python(ctx, dir, "server", url, exchange, topic, "h")
	var stderr bytes.Buffer
	server.Stderr = &stderr
	in, err := server.StdinPipe()
	must(t, err)
	out, err := server.StdoutPipe()
	must(t, err)
	must(t, server.Start())
	t.Cleanup(func() { stopPython(in.Close, server, cancel) })
	if line, _ := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		t.Fatalf("python said %q: %s", line, stderr.String())
	}
}

func stopPython(closeInput func() error, server *exec.Cmd, cancel func()) {
	// It ends with its input; how is of no interest any more.
	_ = closeInput()
	_ = server.Wait()
	cancel()
}
