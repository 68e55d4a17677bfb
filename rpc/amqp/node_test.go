//go:build unix

package amqp_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// node is a RabbitMQ node of the test's own: own name, ports and data, so that breaking it disturbs nobody.
type node struct {
	t    *testing.T
	name string
	port int
	env  []string
	bin  string
}

// rabbitBin is where the packages keep the scripts that do not change user.
const rabbitBin = "/usr/lib/rabbitmq/bin"

// startNode starts a node and stops it with the test. It skips where no integration tests are asked for or RabbitMQ is not
// installed.
func startNode(t *testing.T) *node {
	t.Helper()
	return startNodeWith(t, "", "")
}

// startNodeWith is startNode with plugins, separated by commas, and more lines of configuration.
func startNodeWith(t *testing.T, plugins, more string) *node {
	t.Helper()
	broker(t)
	if _, err := os.Stat(filepath.Join(rabbitBin, "rabbitmq-server")); err != nil {
		t.Skip("RabbitMQ is not installed: ", err)
	}
	dir, err := os.MkdirTemp("", "rabbit")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &node{t: t, port: freePort(t), bin: rabbitBin}
	n.name = fmt.Sprintf("cyborgtest%d@localhost", n.port)
	for file, text := range map[string]string{"plugins": "[" + plugins + "].", "rabbit.conf": "loopback_users = none\nheartbeat = 60\n" + more} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n.env = append(os.Environ(),
		"HOME="+dir, "RABBITMQ_NODENAME="+n.name, fmt.Sprintf("RABBITMQ_NODE_PORT=%d", n.port), "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", freePort(t)), "RABBITMQ_MNESIA_BASE="+dir+"/data", "RABBITMQ_LOG_BASE="+dir+"/log",
		"RABBITMQ_PID_FILE="+dir+"/pid", "RABBITMQ_ENABLED_PLUGINS_FILE="+dir+"/plugins", "RABBITMQ_CONFIG_FILE="+dir+"/rabbit.conf",
		"RABBITMQ_ADVANCED_CONFIG_FILE="+dir+"/advanced.config", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1",
	)
	server := exec.Command(filepath.Join(n.bin, "rabbitmq-server"))
	server.Env, server.SysProcAttr = n.env, &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The node ends with its process group; an error means that it is gone already.
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
		_ = server.Wait()
	})
	n.await()
	return n
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// await blocks until the node has taken a connection and a log-in.
func (n *node) await() {
	n.t.Helper()
	until(n.t, 60*time.Second, "the broker to start", func() bool {
		c, err := amqp091.DialConfig(n.url(n.address()), amqp091.Config{Heartbeat: 10 * time.Second})
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}

func (n *node) address() string           { return fmt.Sprintf("127.0.0.1:%d", n.port) }
func (n *node) url(address string) string { return "amqp://guest:guest@" + address + "/" }
func (n *node) oslo(hosts ...string) string {
	for i := range hosts {
		hosts[i] = "guest:guest@" + hosts[i]
	}
	return "rabbit://" + strings.Join(hosts, ",") + "/"
}

// ctl runs rabbitmqctl on the node.
func (n *node) ctl(args ...string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(n.bin, "rabbitmqctl"), append([]string{"-q", "-n", n.name}, args...)...)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.t.Errorf("rabbitmqctl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// channel does something on a connection of the test's own.
func (n *node) channel(f func(*amqp091.Channel) error) {
	n.t.Helper()
	c, err := amqp091.Dial(n.url(n.address()))
	if err != nil {
		n.t.Fatal(err)
	}
	defer c.Close()
	ch, err := c.Channel()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := f(ch); err != nil {
		n.t.Fatal(err)
	}
}

// lists is what the broker holds: connections, channels and queues with their consumers, sorted.
func (n *node) lists() string {
	n.t.Helper()
	var all []string
	for _, list := range [][]string{{"list_connections", "name"}, {"list_channels", "name"}, {"list_queues", "name", "consumers"}} {
		for line := range strings.Lines(n.ctl(list...)) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "name") {
				all = append(all, list[0]+" "+line)
			}
		}
	}
	sort.Strings(all)
	return strings.Join(all, "\n")
}

// queues are the names with a prefix.
func (n *node) queues(prefix string) []string {
	n.t.Helper()
	var found []string
	for line := range strings.Lines(n.ctl("list_queues", "name")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	return found
}

// until polls a condition of another process, which no bubble of synthetic time can hold.
func until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(limit); !ok(); <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", limit, what)
		}
	}
}
