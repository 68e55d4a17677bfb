package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

type textArgs struct {
	Text string `json:"text"`
}

type noArgs struct{}

// The methods of the suite's interface, which has version 1.5.
var (
	echo     = rpc.NewMethod[textArgs, string]("echo", "1.0").Idempotent()
	fail     = rpc.NewMethod[textArgs, string]("fail", "1.0")
	slow     = rpc.NewMethod[noArgs, string]("slow", "1.2")
	note     = rpc.NewMethod[textArgs, rpc.Null]("note", "1.0")
	whoCalls = rpc.NewMethod[noArgs, string]("who_calls", "1.5")
)

// missingError stands for a program's own error.
type missingError struct{ Name string }

func (e *missingError) Error() string { return "there is no " + e.Name }

func table() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("suite.exception", "Missing",
		func(e *missingError) map[string]any { return map[string]any{"name": e.Name, "code": 404} },
		func(r *rpc.RemoteError) *missingError {
			e := &missingError{}
			r.Kwarg("name", &e.Name)
			return e
		})}
}

// fixture is a server with its client.
type fixture struct {
	topic  string
	remote rpc.Remote
	client *rpc.Client
	notes  chan string
	// release lets slow calls return.
	release chan struct{}
	stop    func(t *testing.T)
}

// serve starts a server and a client.
func serve(t *testing.T, p Pair, cfg rpc.ServerConfig) *fixture {
	t.Helper()
	f := &fixture{topic: newTopic(), notes: make(chan string, 1024), release: make(chan struct{})}
	f.client = newClient(t, p, rpc.ClientConfig{Exceptions: table()})
	f.remote = rpc.Remote{Client: f.client, Target: rpc.Target{Topic: f.topic}, Timeout: patience}
	f.serve(t, p, "host-a", cfg)
	return f
}

func newClient(t *testing.T, p Pair, cfg rpc.ClientConfig) *rpc.Client {
	t.Helper()
	c := rpc.NewClient(p.Client, cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return c
}

// serve starts another server of the topic.
func (f *fixture) serve(t *testing.T, p Pair, name string, cfg rpc.ServerConfig) {
	t.Helper()
	ready := make(chan bool, 64)
	cfg.Target = rpc.Target{Topic: f.topic, Server: name}
	cfg.Exceptions = table()
	cfg.Endpoints = append(cfg.Endpoints, f.endpoint())
	cfg.Ready = func(up bool) { ready <- up }
	srv, err := rpc.NewServer(p.Server, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	var once sync.Once
	f.stop = func(t *testing.T) {
		t.Helper()
		once.Do(func() {
			cancel()
			if err := receive(t, ended, "the end of the server"); err != nil {
				t.Errorf("server: %v", err)
			}
		})
	}
	stop := f.stop
	t.Cleanup(func() { stop(t) })
	if !receive(t, ready, "the server") {
		t.Fatal("the server came up as down")
	}
}

func (f *fixture) endpoint() *rpc.Endpoint {
	e := rpc.NewEndpoint("", "1.5")
	echo.Handle(e, func(_ context.Context, a textArgs) (string, error) { return a.Text, nil })
	fail.Handle(e, func(_ context.Context, a textArgs) (string, error) {
		switch a.Text {
		case "mapped":
			return "", fmt.Errorf("look for it: %w", &missingError{Name: "thing"})
		case "foreign":
			return "", &rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "KeyError"}, Message: "'k'"}
		case "panic":
			panic("on purpose")
		}
		return "", errors.New("secret SQL text")
	})
	slow.Handle(e, func(ctx context.Context, _ noArgs) (string, error) {
		select {
		case <-f.release:
			return "slept", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	note.Handle(e, func(_ context.Context, a textArgs) (rpc.Null, error) {
		f.notes <- a.Text
		return rpc.Null{}, nil
	})
	whoCalls.Handle(e, func(ctx context.Context, _ noArgs) (string, error) { return rpc.RequestOf(ctx).RequestID, nil })
	return e
}

func crossing(t *testing.T, p Pair) {
	const callers, each = 64, 20
	f := serve(t, p, rpc.ServerConfig{})
	var all sync.WaitGroup
	var wrong atomic.Int32
	for i := range callers {
		all.Go(func() {
			for j := range each {
				want := fmt.Sprint(i, " ", j)
				if got, err := echo.Call(t.Context(), f.remote, textArgs{want}); err != nil || got != want {
					wrong.Add(1)
					t.Errorf("sent %s, got %q, %v", want, got, err)
				}
			}
		})
	}
	all.Wait()
	if wrong.Load() > 0 {
		t.Errorf("%d of %d calls went wrong", wrong.Load(), callers*each)
	}
}

func failures(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	call := func(text string) error {
		_, err := fail.Call(t.Context(), f.remote, textArgs{text})
		return err
	}
	var missing *missingError
	var remote *rpc.RemoteError
	err := call("mapped")
	if !errors.As(err, &missing) || missing.Name != "thing" || !errors.As(err, &remote) || remote.Code() != 404 || remote.Message != missing.Error() {
		t.Errorf("a mapped error arrived as %v", err)
	}
	if err := call("foreign"); !errors.Is(err, rpc.Class{Module: "builtins", Name: "KeyError"}) {
		t.Errorf("an error with a class arrived as %v", err)
	}
	for _, text := range []string{"unmapped", "panic"} {
		err := call(text)
		if !errors.As(err, &remote) || remote.Class.Name != "RuntimeError" || len(remote.Message) > 80 {
			t.Errorf("%s arrived as %v", text, err)
		}
	}
}

func versions(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	for _, c := range []struct {
		method *rpc.Method[textArgs, string]
		to     rpc.Remote
		want   error
	}{
		{rpc.NewMethod[textArgs, string]("echo", "1.5"), f.remote, nil},
		{rpc.NewMethod[textArgs, string]("echo", ""), f.remote, nil},
		{rpc.NewMethod[textArgs, string]("echo", "1.6"), f.remote, rpc.ErrUnsupportedVersion},
		{rpc.NewMethod[textArgs, string]("echo", "2.0"), f.remote, rpc.ErrUnsupportedVersion},
		{rpc.NewMethod[textArgs, string]("nope", "1.0"), f.remote, rpc.ErrNoSuchMethod},
		{echo, rpc.Remote{Client: f.client, Target: rpc.Target{Topic: f.topic, Namespace: "ctl"}, Timeout: patience}, rpc.ErrUnsupportedVersion},
	} {
		got, err := c.method.Call(t.Context(), c.to, textArgs{"x"})
		if c.want == nil && (err != nil || got != "x") || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s %s: %q, %v, want %v", c.method.Name(), c.method.Version(), got, err, c.want)
		}
	}
	_, err := rpc.NewMethod[noArgs, string]("echo", "1.0").Call(t.Context(), f.remote, noArgs{})
	if !errors.Is(err, rpc.ErrBadArguments) {
		t.Errorf("a missing argument: %v", err)
	}
}

func monitor(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	watched := f.remote
	watched.Monitor = 2 * time.Second
	go func() {
		pause(5 * time.Second)
		close(f.release)
	}()
	if got, err := slow.Call(t.Context(), watched, noArgs{}); err != nil || got != "slept" {
		t.Errorf("%q, %v", got, err)
	}
}

func casts(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	f.serve(t, p, "host-b", rpc.ServerConfig{})
	if err := note.Cast(t.Context(), f.remote.On("host-b"), textArgs{"one"}); err != nil {
		t.Fatal(err)
	}
	if err := note.CastAll(t.Context(), f.remote, textArgs{"all"}); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for range 3 {
		count[receive(t, f.notes, "a note")]++
	}
	quiet(t, f.notes)
	if count["one"] != 1 || count["all"] != 2 {
		t.Errorf("got %v", count)
	}
	if err := note.Cast(t.Context(), f.remote.On("ghost"), textArgs{"x"}); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("a cast to nobody: %v", err)
	}
}

func duplicates(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	body := `{"oslo.version": "2.0", "oslo.message": "{\"method\": \"note\", \"args\": {\"text\": \"once\"}, \"version\": \"1.0\", \"_unique_id\": \"77\"}"}`
	for range 3 {
		mustSend(t, p.Client, rpc.Address{Topic: f.topic}, body)
	}
	receive(t, f.notes, "the note")
	quiet(t, f.notes)
}

func garbage(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{Prefetch: 1}) // what is not settled lets nothing more through
	for _, body := range []string{
		"", "not json", "[]", `{"oslo.version": "3.0", "oslo.message": "{}"}`, `{"oslo.version": "2.0", "oslo.message": "{"}`,
		`{"oslo.version": "2.0", "oslo.message": {}}`, `{"method": 5}`, `{"method": "note", "args": [], "version": "x"}`,
	} {
		mustSend(t, p.Client, rpc.Address{Topic: f.topic}, body)
	}
	if got, err := echo.Call(t.Context(), f.remote, textArgs{"alive"}); err != nil || got != "alive" {
		t.Errorf("%q, %v", got, err)
	}
}

func drain(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	answers := make(chan string, 1)
	go func() {
		got, err := slow.Call(t.Context(), f.remote, noArgs{})
		answers <- fmt.Sprint(got, err)
	}()
	if err := note.Cast(t.Context(), f.remote, textArgs{"behind the slow one"}); err != nil {
		t.Fatal(err)
	}
	receive(t, f.notes, "the note") // the slow call was accepted before or soon after
	pause(silence)
	go func() {
		pause(silence)
		close(f.release)
	}()
	f.stop(t)
	if got := receive(t, answers, "the answer of the slow call"); got != "slept<nil>" {
		t.Errorf("the slow call ended with %s", got)
	}
}

func nested(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	relay := rpc.NewEndpoint("relay", "1.0")
	through := rpc.NewMethod[noArgs, string]("through", "1.0")
	through.Handle(relay, func(ctx context.Context, _ noArgs) (string, error) { return whoCalls.Call(ctx, f.remote, noArgs{}) })
	f.serve(t, p, "host-b", rpc.ServerConfig{Endpoints: []*rpc.Endpoint{relay}})
	to := f.remote.On("host-b")
	to.Target.Namespace = "relay"
	rc := rpc.AdminContext()
	got, err := through.Call(rpc.WithRequest(t.Context(), rc), to, noArgs{})
	if err != nil || got != rc.RequestID {
		t.Errorf("%q, %v, want %s", got, err, rc.RequestID)
	}
}

func route(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	late := &fixture{topic: newTopic(), notes: make(chan string, 10), release: make(chan struct{})}
	late.client = newClient(t, p, rpc.ClientConfig{RouteWait: patience})
	late.remote = rpc.Remote{Client: late.client, Target: rpc.Target{Topic: late.topic}}
	start := time.Now()
	if _, err := echo.Call(t.Context(), rpc.Remote{Client: f.client, Target: rpc.Target{Topic: late.topic}}, textArgs{"x"}); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("a call to nobody: %v", err)
	}
	if _, err := echo.Call(t.Context(), late.remote.On("ghost"), textArgs{"x"}); !errors.Is(err, rpc.ErrUndeliverable) {
		t.Errorf("a call to a named server that is not there: %v", err)
	}
	if waited := time.Since(start); waited > patience/3 {
		t.Errorf("that took %s", waited)
	}
	answers := make(chan error, 1)
	go func() {
		_, err := echo.Call(t.Context(), late.remote, textArgs{"x"})
		answers <- err
	}()
	pause(silence)
	late.serve(t, p, "host-a", rpc.ServerConfig{})
	if err := receive(t, answers, "the answer of the server that came late"); err != nil {
		t.Error(err)
	}
}

func deadline(t *testing.T, p Pair) {
	f := serve(t, p, rpc.ServerConfig{})
	defer close(f.release)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	_, err := slow.Call(ctx, f.remote, noArgs{})
	var timeout *rpc.TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) || timeout.Reached != "confirmed" {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	ctx, giveUp := context.WithCancelCause(t.Context())
	cause := errors.New("changed my mind")
	ended := make(chan error, 1)
	go func() {
		_, err := slow.Call(ctx, f.remote, noArgs{})
		ended <- err
	}()
	pause(silence)
	giveUp(cause)
	_, before := slow.Call(ctx, f.remote, noArgs{})
	for when, err := range map[string]error{"before": before, "while it waited": receive(t, ended, "the end of a cancelled call")} {
		if !errors.Is(err, cause) || errors.As(err, &timeout) {
			t.Errorf("a call cancelled %s ended with %v", when, err)
		}
	}
}
