package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

//go:embed peer.py
var peerScript string

// peerCount is what a Python process says of itself.
type peerCount struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
}

func (p peerCount) cpuPerCall() float64 { return p.CPU * 1e6 / float64(max(p.Calls, 1)) }

// peer starts the script in the chroot.
func peer(ctx context.Context, chroot string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "chroot", append([]string{chroot, "python3", "-W", "ignore", "-c", peerScript}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	return cmd
}

// pythonServer runs an echo server; stop ends it and returns its counts.
func pythonServer(ctx context.Context, url, chroot, topic string) (stop func() (peerCount, error), err error) {
	cmd := peer(ctx, chroot, "server", url, exchange, topic)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out := bufio.NewReader(pipe)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := out.ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		return nil, fmt.Errorf("python server said %q: %w", line, err)
	}
	return func() (peerCount, error) {
		var count peerCount
		if err := in.Close(); err != nil {
			return count, err
		}
		text, err := io.ReadAll(out)
		if err != nil {
			return count, err
		}
		if err := json.Unmarshal(text, &count); err != nil {
			return count, fmt.Errorf("python server said %q: %w", text, err)
		}
		return count, cmd.Wait()
	}, nil
}

func pythonClient(ctx context.Context, url, chroot, topic string, callers int, d time.Duration) (peerCount, error) {
	var count peerCount
	cmd := peer(ctx, chroot, "client", url, exchange, topic, strconv.Itoa(callers), fmt.Sprint(d.Seconds()), strconv.Itoa(len(requestText)))
	text, err := cmd.Output()
	if err != nil {
		return count, fmt.Errorf("python client: %w", err)
	}
	if err := json.Unmarshal(text, &count); err != nil {
		return count, fmt.Errorf("python client said %q: %w", text, err)
	}
	return count, nil
}

// pythonRound measures Python to Python, then this project's client to a Python server.
func pythonRound(ctx context.Context, url, chroot string, n int, d time.Duration, add func(result)) error {
	const topic = "bench-python"
	stop, err := pythonServer(ctx, url, chroot, topic)
	if err != nil {
		return err
	}
	client, err := pythonClient(ctx, url, chroot, topic, n, d)
	if err != nil {
		return err
	}
	server, err := stop()
	if err != nil {
		return err
	}
	add(result{
		Name: "python to python", Callers: n, PerSecond: float64(client.Calls) / client.Seconds,
		ClientCPU: client.cpuPerCall(), ServerCPU: server.cpuPerCall(),
	})
	return goToPython(ctx, url, chroot, topic, n, d, add)
}

func goToPython(ctx context.Context, url, chroot, topic string, n int, d time.Duration, add func(result)) error {
	stop, err := pythonServer(ctx, url, chroot, topic)
	if err != nil {
		return err
	}
	c, err := newClient(url, topic, "go to python")
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.call(ctx); err != nil {
		return err
	}
	r, err := measure(ctx, c, n, d)
	if err != nil {
		return err
	}
	server, err := stop()
	if err != nil {
		return err
	}
	r.ServerCPU = server.cpuPerCall()
	add(r)
	return nil
}
