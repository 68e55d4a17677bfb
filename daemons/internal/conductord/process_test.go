package conductord_test

import (
	"bytes"
	"context"
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
			conductorLog, stopConductor := daemon(t, conductord.Daemon{}.Main, configFile(t, bus, ""))
			until(t, 30*time.Second, "the conductor", func() bool { return strings.Contains(conductorLog.String(), "service is ready") })
			taps := tap(t, bus, "cyborg-conductor")
			agentLog, stopAgent := daemon(t, agentd.Daemon{Sysfs: t.TempDir()}.Main, configFile(t, bus, tt.more))
			until(t, 30*time.Second, "the first report", func() bool { return strings.Contains(agentLog.String(), "service is ready") })
			if code := stopAgent(); code != 0 {
				t.Errorf("the agent ended with %d: %s", code, agentLog)
			}
			if code := stopConductor(); code != 0 {
				t.Errorf("the conductor ended with %d: %s", code, conductorLog)
			}
			operations := 0
			for _, m := range taps.methods() {
				if m == "object_class_action_versions 1.1" {
					operations++
				} else if m != "report_data 1.0" {
					t.Errorf("the agent sent %s", m)
				}
			}
			if (operations > 0) != tt.used {
				t.Errorf("%d object operations: %v", operations, taps.methods())
			}
		})
	}
}
