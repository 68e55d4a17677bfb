//go:build unix

package amqp_test

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

//go:embed testdata/interop/peer.py
var peerScript string

// notFound is an error of this program that travels as a Python exception and back.
type notFound struct{ Resource, Msg string }

func (e *notFound) Error() string { return e.Resource + " not found" }

func labExceptions() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("labexc", "ResourceNotFound",
		func(e *notFound) map[string]any {
			return map[string]any{"resource": e.Resource, "msg": e.Msg, "code": 404}
		},
		func(r *rpc.RemoteError) *notFound {
			e := &notFound{}
			r.Kwarg("resource", &e.Resource)
			r.Kwarg("msg", &e.Msg)
			return e
		})}
}

type (
	valueArgs struct {
		Value any `json:"value"`
	}
	kindArgs struct {
		Kind string `json:"kind"`
	}
	secondsArgs struct {
		Seconds float64 `json:"seconds"`
	}
	textArgs struct {
		Text string `json:"text"`
	}
	noArgs struct{}
)

var (
	labEcho    = rpc.NewMethod[valueArgs, any]("echo", "1.0")
	labContext = rpc.NewMethod[noArgs, map[string]any]("context", "1.0")
	labNothing = rpc.NewMethod[noArgs, rpc.Null]("nothing", "1.0")
	labSlow    = rpc.NewMethod[secondsArgs, string]("slow", "1.0")
	labNote    = rpc.NewMethod[textArgs, rpc.Null]("note", "1.0")
	labNoted   = rpc.NewMethod[noArgs, []string]("noted", "1.0")
	labFail    = rpc.NewMethod[kindArgs, any]("fail", "1.0")
	labPing    = rpc.NewMethod[noArgs, string]("ping", "2.0")
	labMissing = rpc.NewMethod[noArgs, any]("missing", "1.0")
	labTooNew  = rpc.NewMethod[valueArgs, any]("echo", "1.9")
	labWrong   = rpc.NewMethod[textArgs, any]("echo", "1.0")
)

// generations are the Python peers by suite of Debian, as .ci/interop names them.
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

func python(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "chroot", append([]string{dir, "python3", "-W", "ignore", "-c", peerScript}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	return cmd
}

func TestInteropOsloMessaging(t *testing.T) {
	url := broker(t)
	for suite, dir := range generations(t) {
		version, err := exec.CommandContext(t.Context(), "chroot", dir, "dpkg-query", "-W", "-f", "${Version}", "python3-oslo.messaging").Output()
		if err != nil {
			t.Fatalf("%s: %v", suite, err)
		}
		t.Run(suite+" go client", func(t *testing.T) { goClient(t, url, dir, suite) })
		t.Run(suite+" go server", func(t *testing.T) { goServer(t, url, dir, suite) })
		fmt.Printf("interop: oslo.messaging %s (%s): failed %t\n", version, suite, t.Failed())
	}
}

// goClient calls a Python server.
func goClient(t *testing.T, url, dir, suite string) {
	topic := "interop-py-" + suite
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	server := python(ctx, dir, "server", url, "interop", topic, "py-host")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	server.Stderr = &stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Wait() }()
	defer in.Close()
	if line, _ := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		in.Close()
		t.Fatalf("python server said %q: %s", line, stderr.String())
	}
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "interop"})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(ctx)
	client := rpc.NewClient(tr, rpc.ClientConfig{Exceptions: labExceptions(), Timeout: 20 * time.Second})
	defer client.Close(ctx)
	c := goCaller{t: t, to: rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}}
	c.values(ctx)
	c.failures(ctx)
	c.casts(ctx)
}

type goCaller struct {
	t  *testing.T
	to rpc.Remote
}

func (c goCaller) values(ctx context.Context) {
	value := map[string]any{"text": "grüße ☃ 😀", "list": []any{json.Number("1"), json.Number("2.5"), nil, true}, "big": json.Number("1180591620717411303424")}
	got, err := labEcho.Call(ctx, c.to, valueArgs{Value: value})
	if diff := cmp.Diff(any(value), got); err != nil || diff != "" {
		c.t.Errorf("echo: %v (-want +got)\n%s", err, diff)
	}
	if got, err := labEcho.Call(ctx, c.to.On("py-host"), valueArgs{Value: "direct"}); err != nil || got != "direct" {
		c.t.Errorf("echo on a server: %v, %v", got, err)
	}
	if _, err := labNothing.Call(ctx, c.to, noArgs{}); err != nil {
		c.t.Errorf("nothing: %v", err)
	}
	control := c.to
	control.Target.Namespace = "ctl"
	if got, err := labPing.Call(ctx, control, noArgs{}); err != nil || got != "pong" {
		c.t.Errorf("namespace: %v, %v", got, err)
	}
	rc := &rpc.RequestContext{User: "u1", ProjectID: "p1", Roles: []string{"member"}, RequestID: "req-11", Extra: map[string]json.RawMessage{"colour": json.RawMessage(`"blue"`)}}
	seen, err := labContext.Call(rpc.WithRequest(ctx, rc), c.to, noArgs{})
	for key, want := range map[string]any{"user": "u1", "project_id": "p1", "request_id": "req-11", "colour": "blue", "is_admin": false} {
		if err != nil || seen[key] != want {
			c.t.Errorf("context %s = %v, want %v (%v)", key, seen[key], want, err)
		}
	}
	monitored := c.to
	monitored.Monitor = 2 * time.Second
	if got, err := labSlow.Call(ctx, monitored, secondsArgs{Seconds: 3}); err != nil || got != "slept" {
		c.t.Errorf("monitored call longer than the monitor: %v, %v", got, err)
	}
}

func (c goCaller) failures(ctx context.Context) {
	for kind, want := range map[string]error{
		"value": rpc.Class{Module: "builtins", Name: "ValueError"}, "key": rpc.Class{Module: "builtins", Name: "KeyError"},
		"allowed": rpc.Class{Module: "labexc", Name: "ResourceNotFound"}, "expected": rpc.Class{Module: "labexc", Name: "ResourceNotFound"},
		"hidden": rpc.Class{Module: "hiddenexc", Name: "Secret"},
	} {
		_, err := labFail.Call(ctx, c.to, kindArgs{Kind: kind})
		if !errors.Is(err, want) {
			c.t.Errorf("fail %s: %v, want %v", kind, err, want)
		}
	}
	_, err := labFail.Call(ctx, c.to, kindArgs{Kind: "allowed"})
	mapped, ok := errors.AsType[*notFound](err)
	remote, isRemote := errors.AsType[*rpc.RemoteError](err)
	if !ok || mapped.Resource != "Device" || !isRemote || remote.Code() != 404 {
		c.t.Errorf("mapped failure: %+v, %v", mapped, err)
	}
	if _, err := labMissing.Call(ctx, c.to, noArgs{}); !errors.Is(err, rpc.ErrNoSuchMethod) {
		c.t.Errorf("missing method: %v", err)
	}
	if _, err := labTooNew.Call(ctx, c.to, valueArgs{}); !errors.Is(err, rpc.ErrUnsupportedVersion) {
		c.t.Errorf("too new version: %v", err)
	}
	if _, err := labWrong.Call(ctx, c.to, textArgs{}); !errors.Is(err, rpc.ErrBadArguments) {
		c.t.Errorf("bad arguments: %v", err)
	}
	wrong := c.to
	wrong.Target.Namespace = "nope"
	if _, err := labMissing.Call(ctx, wrong, noArgs{}); !errors.Is(err, rpc.ErrUnsupportedVersion) {
		c.t.Errorf("wrong namespace: %v", err)
	}
	if _, err := labNothing.Call(ctx, c.to.On("nobody"), noArgs{}); !errors.Is(err, rpc.ErrUndeliverable) {
		c.t.Errorf("unknown server: %v", err)
	}
	capped := c.to
	capped.Cap = rpc.Version{Major: 1, Minor: 5}
	if _, err := labTooNew.Call(ctx, capped, valueArgs{}); err == nil || errors.Is(err, rpc.ErrUnsupportedVersion) {
		c.t.Errorf("above the cap: %v", err)
	}
}

func (c goCaller) casts(ctx context.Context) {
	for _, err := range []error{
		labNote.Cast(ctx, c.to, textArgs{Text: "cast"}), labNote.Cast(ctx, c.to.On("py-host"), textArgs{Text: "server cast"}),
		labNote.CastAll(ctx, c.to, textArgs{Text: "fanout"}),
	} {
		if err != nil {
			c.t.Error(err)
		}
	}
	until(c.t, 10*time.Second, "three casts to arrive", func() bool {
		got, err := labNoted.Call(ctx, c.to, noArgs{})
		return err == nil && slices.Equal(got, []string{"cast", "fanout", "server cast"})
	})
}

// labServer serves what peer.py's client calls.
func labServer(t *testing.T, tr *amqp.Transport, topic string) *rpc.Server {
	t.Helper()
	var mu sync.Mutex
	var noted []string
	plain, control := rpc.NewEndpoint("", "1.5"), rpc.NewEndpoint("ctl", "2.1")
	labEcho.Handle(plain, func(_ context.Context, a valueArgs) (any, error) { return a.Value, nil })
	labContext.Handle(plain, func(ctx context.Context, _ noArgs) (map[string]any, error) {
		rc := rpc.RequestOf(ctx)
		return map[string]any{"user": rc.User, "project_id": rc.ProjectID, "request_id": rc.RequestID, "roles": rc.Roles, "colour": rc.Extra["colour"]}, nil
	})
	labNothing.Handle(plain, func(context.Context, noArgs) (rpc.Null, error) { return rpc.Null{}, nil })
	labSlow.Handle(plain, func(ctx context.Context, a secondsArgs) (string, error) {
		timer := time.NewTimer(time.Duration(a.Seconds * float64(time.Second)))
		defer timer.Stop()
		<-timer.C
		return "slept", nil
	})
	labNote.Handle(plain, func(_ context.Context, a textArgs) (rpc.Null, error) {
		mu.Lock()
		defer mu.Unlock()
		noted = append(noted, a.Text)
		return rpc.Null{}, nil
	})
	labNoted.Handle(plain, func(context.Context, noArgs) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(slices.Values(noted)), nil
	})
	labFail.Handle(plain, func(_ context.Context, a kindArgs) (any, error) {
		switch a.Kind {
		case "value":
			return nil, &rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "ValueError"}, Message: "bad value"}
		case "allowed":
			return nil, fmt.Errorf("load: %w", &notFound{Resource: "Device", Msg: "gone"})
		}
		return nil, errors.New("SELECT * FROM secrets")
	})
	labPing.Handle(control, func(context.Context, noArgs) (string, error) { return "pong", nil })
	server, err := rpc.NewServer(tr, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "go-host"}, Endpoints: []*rpc.Endpoint{plain, control}, Exceptions: labExceptions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// goServer is called by a Python client.
func goServer(t *testing.T, url, dir, suite string) {
	topic := "interop-go-" + suite
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	tr, err := amqp.Open(amqp.Config{URL: url, ControlExchange: "interop"})
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- labServer(t, tr, topic).Run(serving) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("server: %v", err)
		}
		if err := tr.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	until(t, 20*time.Second, "the server to listen", func() bool {
		return slices.ContainsFunc(tr.Health(), func(s amqp.LinkState) bool { return s.State == "up" })
	})
	cmd := python(ctx, dir, "client", url, "interop", topic, "go-host")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python client: %v\n%s", err, stderr.String())
	}
	var got map[string]pyOutcome
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("python client said %q: %v", out, err)
	}
	judgePython(t, got)
}

// pyOutcome is what a call came to in Python.
type pyOutcome struct {
	Result  any
	Class   string
	Module  string
	Text    string
	Code    any
	Kwargs  map[string]any
	ExcType string `json:"exc_type"`
	Value   string
}

func judgePython(t *testing.T, got map[string]pyOutcome) {
	t.Helper()
	for scenario, want := range map[string]any{
		"echo": true, "nothing": nil, "server": "direct", "namespace": "pong", "minor": 1.0, "monitor": "slept",
		"noted": []any{"cast", "fanout", "server cast"},
	} {
		if diff := cmp.Diff(want, got[scenario].Result); diff != "" || got[scenario].Class != "" {
			t.Errorf("%s: %+v (-want +got)\n%s", scenario, got[scenario], diff)
		}
	}
	seen, _ := got["context"].Result.(map[string]any)
	for key, want := range map[string]any{"user": "u1", "project_id": "p1", "request_id": "req-11", "colour": "blue"} {
		if seen[key] != want {
			t.Errorf("context %s = %v, want %v", key, seen[key], want)
		}
	}
	for scenario, want := range map[string]string{
		"too_new": "UnsupportedVersion_Remote", "major": "UnsupportedVersion_Remote", "wrong_namespace": "UnsupportedVersion_Remote",
		"no_method": "NoSuchMethod_Remote", "private": "NoSuchMethod_Remote", "monitor_missing": "NoSuchMethod_Remote",
		"bad_args": "TypeError", "fail_value": "ValueError", "fail_allowed": "ResourceNotFound_Remote", "fail_unmapped": "RuntimeError",
	} {
		if got[scenario].Class != want {
			t.Errorf("%s: class %q, want %q (%+v)", scenario, got[scenario].Class, want, got[scenario])
		}
	}
	if o := got["fail_allowed"]; o.Code != 404.0 || o.Kwargs["resource"] != "Device" || !strings.HasPrefix(o.Text, "Device not found") {
		t.Errorf("mapped failure in Python: %+v", o)
	}
	if strings.Contains(got["fail_unmapped"].Text, "SELECT") {
		t.Errorf("an internal error's text crossed the bus: %+v", got["fail_unmapped"])
	}
	if !strings.Contains(got["bad_args"].Text, "unexpected keyword argument 'wrong'") {
		t.Errorf("bad arguments: %+v", got["bad_args"])
	}
}
