package conductord_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// process is a conductor in a process of its own, which can be killed.
type process struct {
	cmd  *exec.Cmd
	done chan error
}

func startProcess(t *testing.T, file string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serveEnv+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, done: make(chan error, 1)}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		t.Errorf("the conductor said %q, %v", line, err)
	}
	go func() { p.done <- cmd.Wait() }()
	return p
}

// kill ends the process without a word to anybody.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.done
}

// onBroker is the number of connections and channels of a virtual host.
func onBroker(t *testing.T, busURL string) (connections, channels int) {
	t.Helper()
	name := busURL[strings.LastIndexByte(busURL, '/')+1:]
	for line := range strings.Lines(rabbitmqctl(t, "list_connections", "vhost")) {
		if strings.TrimSpace(line) == name {
			connections++
		}
	}
	for line := range strings.Lines(rabbitmqctl(t, "list_channels", "vhost")) {
		if strings.TrimSpace(line) == name {
			channels++
		}
	}
	return connections, channels
}

// load64 is what 64 agents met.
type load64 struct {
	answered, failed, crossed atomic.Int64
	late                      atomic.Int64 // agents answered after the last restart
}

// TestIntegrationConductorKilledUnderLoad: 64 agents make remotable calls while the conductor is killed and started
// again twice. Every answer belongs to its call, every agent is answered in the end, and nothing is left on the
// broker or in this process.
func TestIntegrationConductorKilledUnderLoad(t *testing.T) {
	const agents = 64
	run := 30 * time.Second
	if testing.Short() {
		run = 3 * time.Second
	}
	bus := vhost(t)
	file := configFile(t, bus, "")
	conductor := startProcess(t, file)
	defer func() { conductor.kill() }()
	// The conductor connects for its first answer; what counts as before is with that.
	t.Run("first call", func(t *testing.T) {
		if _, err := newPeer(t, file).lab.Echo.Echo(admin(t.Context()), "first"); err != nil {
			t.Fatal(err)
		}
	})
	var connections, channels int
	until(t, 10*time.Second, "the caller to leave the broker's lists", func() bool {
		connections, channels = onBroker(t, bus)
		return connections == 2 && channels == 2
	})

	var total load64
	t.Run("load", func(t *testing.T) { // its end closes the agents' connections
		var restarted atomic.Bool
		ctx, stop := context.WithTimeout(admin(t.Context()), run+10*time.Second)
		defer stop()
		finish := time.Now().Add(run)
		var group sync.WaitGroup
		for i := range agents {
			p := newPeer(t, file)
			group.Go(func() { total.agent(ctx, p, i, finish, &restarted) })
		}
		for range 2 {
			after(ctx, run/3)
			conductor.kill()
			conductor = startProcess(t, file)
		}
		restarted.Store(true)
		group.Wait()
	})
	t.Logf("%d calls answered, %d failed", total.answered.Load(), total.failed.Load())
	if n := total.crossed.Load(); n > 0 {
		t.Errorf("%d answers went to another call", n)
	}
	if total.late.Load() != agents || total.answered.Load() < agents {
		t.Errorf("%d agents were answered after the last restart, %d calls in all", total.late.Load(), total.answered.Load())
	}
	until(t, 20*time.Second, "the broker's lists to be as before", func() bool {
		nowConnections, nowChannels := onBroker(t, bus)
		return nowConnections == connections && nowChannels == channels
	})
}

// agent calls until the time is over and it has been answered after the last restart.
func (l *load64) agent(ctx context.Context, p *peer, i int, finish time.Time, restarted *atomic.Bool) {
	answeredLate := false
	for n := 0; ctx.Err() == nil && (time.Now().Before(finish) || !answeredLate); n++ {
		late := restarted.Load()
		nonce := fmt.Sprintf("%d-%d", i, n)
		got, err := call(ctx, p, nonce, n)
		switch {
		case err != nil:
			l.failed.Add(1)
		case got != nonce:
			l.crossed.Add(1)
		default:
			l.answered.Add(1)
			answeredLate = answeredLate || late
		}
	}
	if answeredLate {
		l.late.Add(1)
	}
}

// call makes a call of one kind or another that brings the nonce back.
func call(ctx context.Context, p *peer, nonce string, n int) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	switch n % 3 {
	case 0:
		return p.lab.Echo.Echo(ctx, nonce)
	case 1:
		list, err := p.lab.Lists.Fill(ctx, nonce, 5)
		if err != nil {
			return "", err
		}
		return list.All()[4].Note.Value(), nil
	}
	c := counter(int64(n))
	c.Note.Set(nonce)
	if _, err := p.lab.Counter.Add(ctx, c, 1); err != nil {
		return "", err
	}
	if c.Count.Value() != int64(n+1) {
		return fmt.Sprintf("count %d after %d", c.Count.Value(), n), nil
	}
	return c.Note.Value(), nil
}

// after waits for a while or until ctx ends.
func after(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
