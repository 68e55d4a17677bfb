package conductord_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// statements is a MariaDB relay that counts what is asked on the wire, transaction control included.
type statements struct {
	port int

	mu   sync.Mutex
	seen []string
}

// countStatements relays to MariaDB until the test ends.
func countStatements(t *testing.T) *statements {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &statements{port: l.Addr().(*net.TCPAddr).Port}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			relays.Go(func() { s.relay(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		relays.Wait()
	})
	return s
}

// relay ends when either side does.
func (s *statements) relay(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", "127.0.0.1:3306")
	if err != nil {
		return
	}
	defer server.Close()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		client.Close()
	})
	_ = s.copyCommands(server, bufio.NewReader(client))
	server.Close()
	back.Wait()
}

// Commands of the protocol that run a statement: COM_QUERY, COM_STMT_PREPARE, COM_STMT_EXECUTE.
const (
	comQuery   = 0x03
	comPrepare = 0x16
	comExecute = 0x17
)

// copyCommands copies packets: three bytes of length, a sequence number that is 0 where a command starts, the payload.
func (s *statements) copyCommands(to io.Writer, from *bufio.Reader) error {
	for {
		var head [4]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return err
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		if head[3] == 0 && len(body) > 0 && (body[0] == comQuery || body[0] == comPrepare || body[0] == comExecute) {
			s.mu.Lock()
			s.seen = append(s.seen, string(body[1:min(len(body), 80)]))
			s.mu.Unlock()
		}
		if _, err := to.Write(append(head[:], body...)); err != nil {
			return err
		}
	}
}

// take gives the statements since the last call.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

// take gives the requests to Placement since the last call.
func (s *stack) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

// kinds counts requests by method and last part of the path.
func kinds(requests []string) string {
	counts := map[string]int{}
	for _, r := range requests {
		r, _, _ = strings.Cut(r, "?")
		method, path, _ := strings.Cut(r, " ")
		kind := method + " " + path[strings.LastIndexByte(path, '/')+1:]
		if first, _, _ := strings.Cut(path[1:], "/"); first == "traits" || first == "resource_classes" {
			kind = method + " /" + first
		}
		counts[kind]++
	}
	var out []string
	for kind, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// machineLoad is the machine's load average of the last minute.
func machineLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
