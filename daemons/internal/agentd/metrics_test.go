package agentd_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

// scrape gives the metrics page of a process that serves it on a unix socket; "" while it does not.
func scrape(t *testing.T, socket string) string {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
		DisableKeepAlives: true,
	}}
	answer, err := client.Get("http://process/metrics")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return string(page)
}

// TestMetricsWithoutBroker: the page tells that nothing is connected and that reports fail, before any broker was seen.
func TestMetricsWithoutBroker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never says anything
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, socket := filepath.Join(dir, "cyborg.conf"), filepath.Join(dir, "s")
	text := "[DEFAULT]\nhost = h\nrpc_response_timeout = 1\ntransport_url = rabbit://u:p@" + l.Addr().String() + "/\n[operations]\nlisten = unix:" + socket +
		"\n[agent]\nenabled_drivers = fake_driver\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	var log bytes.Buffer
	go func() {
		ended <- agentd.Daemon{Sysfs: dir}.Main(ctx, service.Invocation{Args: []string{"--config-file", file}, Stdout: io.Discard, Stderr: &log})
	}()
	want := []string{
		`cyborg_amqp_connected{link="server"} 0`, `cyborg_amqp_connected{link="replies"} 0`, `cyborg_rpc_events_total{event="returned"} 0`,
		`oslo_messaging_rpc_client_exception_total{call_type="call",exception="MessagingTimeout",exchange="None",fanout="None",method="object_class_action_versions",` +
			`namespace="None",process="cyborg-agent",server="None",timeout="None",topic="cyborg-conductor",version="1.1"}`,
	}
	var page, missing string
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-poll.C {
		page, missing = scrape(t, socket), ""
		for _, line := range want {
			if !strings.Contains(page, line) {
				missing += line + "\n"
			}
		}
		if missing == "" {
			break
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, &log)
	}
	if missing != "" {
		t.Errorf("the page lacks\n%s\n%s", missing, page)
	}
}
