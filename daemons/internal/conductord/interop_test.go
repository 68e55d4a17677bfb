package conductord_test

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/interop/indirection.py
var indirectionScript string

//go:embed testdata/interop/cyborg17.py
var cyborg17Script string

// current is the suite whose peers are Cyborg 17.0.0 and oslo.versionedobjects 3.12.
const current = "forky"

// generations are the directories of the Python peers by suite of Debian.
func generations(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for pair := range strings.FieldsSeq(os.Getenv("CYBORG_PEERS")) {
		suite, dir, _ := strings.Cut(pair, "=")
		found[suite] = dir
	}
	if len(found) == 0 {
		t.Skip("CYBORG_PEERS is not set: no Python peers to test with")
	}
	return found
}

func currentPeer(t *testing.T) string {
	t.Helper()
	dir, ok := generations(t)[current]
	if !ok {
		t.Skip("CYBORG_PEERS has no " + current)
	}
	return dir
}

// python runs a script of ours in a peer's root.
type python struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func startPython(t *testing.T, dir, script string, args ...string) *python {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	t.Cleanup(cancel)
	p := &python{t: t, cmd: exec.CommandContext(ctx, "chroot", append([]string{dir, "python3", "-W", "ignore", "-c", script}, args...)...)}
	p.cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// ready waits until a server says that it serves.
func (p *python) ready() {
	p.t.Helper()
	if line, _ := p.out.ReadString('\n'); strings.TrimSpace(line) != "ready" {
		p.in.Close()
		_ = p.cmd.Wait()
		p.t.Fatalf("python said %q: %s", line, p.stderr.String())
	}
}

// finish ends the script's input and reads its last line into v.
func (p *python) finish(v any) {
	p.t.Helper()
	p.in.Close()
	raw, err := io.ReadAll(p.out)
	if waitErr := p.cmd.Wait(); err != nil || waitErr != nil {
		p.t.Fatalf("python: %v, %v: %s", err, waitErr, p.stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), v); err != nil {
		p.t.Fatalf("python said %q: %v: %s", raw, err, p.stderr.String())
	}
}

// outcomes are what the scenarios of a script came to.
type outcomes map[string]any
