package conductord_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

// logBuffer is a log that a test can wait on.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// daemon runs a daemon until stop is called, which gives its exit code.
func daemon(t *testing.T, main func(context.Context, service.Invocation) int, file string) (log *logBuffer, stop func() int) {
	t.Helper()
	log = &logBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		code <- main(ctx, service.Invocation{Args: []string{"--config-file", file, "--debug"}, Stdout: &bytes.Buffer{}, Stderr: log})
	}()
	stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { stop() })
	return log, stop
}

// wantMetrics waits until the metrics page on a unix socket has these lines.
func wantMetrics(t *testing.T, socket string, lines ...string) {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
		DisableKeepAlives: true,
	}}
	missing := func() []string {
		answer, err := client.Get("http://process/metrics")
		if err != nil {
			return []string{err.Error()}
		}
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err != nil {
			return []string{err.Error()}
		}
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(string(page), line+"\n") })
	}
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(50 * time.Millisecond) {
		lacks := missing()
		if len(lacks) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the page lacks\n%s", strings.Join(lacks, "\n"))
			return
		}
	}
}

// TestIntegrationDaemons: conductor and agent as processes. The agent reads persisted objects through the conductor
// under the default cap, and with a cap of 1.0, which none of its features needs more than, it reports without.
func TestIntegrationDaemons(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		more string
		used bool
	}{"default caps": {"", true}, "cap 1.0": {"[upgrade_levels]\nconductor = 1.0\n", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bus := vhost(t)
			sockets := t.TempDir()
			operations := func(name string) string { return "[operations]\nlisten = unix:" + filepath.Join(sockets, name) + "\n" }
			conductorLog, stopConductor := daemon(t, conductord.Daemon{}.Main, configFile(t, bus, operations("c")))
			until(t, 30*time.Second, "the conductor", func() bool { return strings.Contains(conductorLog.String(), "service is ready") })
			taps := tap(t, bus, "cyborg-conductor")
			agentLog, stopAgent := daemon(t, agentd.Daemon{Sysfs: t.TempDir()}.Main, configFile(t, bus, operations("a")+tt.more))
			until(t, 30*time.Second, "the first report", func() bool { return strings.Contains(agentLog.String(), "service is ready") })
			wantMetrics(t, filepath.Join(sockets, "c"), `cyborg_amqp_connected{link="publish"} 1`, `cyborg_amqp_connected{link="server"} 1`,
				`oslo_messaging_rpc_server_invocation_end_total{endpoint="None",exchange="None",method="report_data",namespace="None",process="cyborg-conductor",server="compute-1",topic="cyborg-conductor",version="1.0"} 1`)
			wantMetrics(t, filepath.Join(sockets, "a"), `cyborg_amqp_connected{link="replies"} 1`, `cyborg_rpc_events_total{event="stray"} 0`,
				`oslo_messaging_rpc_client_invocation_end_total{call_type="call",exchange="None",fanout="None",method="report_data",namespace="None",process="cyborg-agent",server="None",timeout="None",topic="cyborg-conductor",version="1.0"} 1`)
			if code := stopAgent(); code != 0 {
				t.Errorf("the agent ended with %d: %s", code, agentLog)
			}
			if code := stopConductor(); code != 0 {
				t.Errorf("the conductor ended with %d: %s", code, conductorLog)
			}
			used := 0
			for _, m := range taps.methods() {
				if m == "object_class_action_versions 1.1" {
					used++
				} else if m != "report_data 1.0" {
					t.Errorf("the agent sent %s", m)
				}
			}
			if (used > 0) != tt.used {
				t.Errorf("%d object operations: %v", used, taps.methods())
			}
		})
	}
}
