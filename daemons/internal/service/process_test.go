package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

// bench is a process whose signals and notifications are the test's.
type bench struct {
	*Process
	signals chan os.Signal
	mu      sync.Mutex
	told    []string
	log     *bytes.Buffer
	file    string
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{signals: make(chan os.Signal, 4), log: &bytes.Buffer{}, file: filepath.Join(dir, "cyborg.conf")}
	b.write(t, text)
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "node7", Program: "cyborg-test"}))
	if err != nil {
		t.Fatal(err)
	}
	source := config.Source{Program: "cyborg-test", Root: dir, Args: []string{"--config-file", b.file}}
	b.Process, err = Open(Invocation{Program: "cyborg-test", Stderr: &lockedWriter{w: b.log}}, schema, source)
	if err != nil {
		t.Fatal(err)
	}
	b.Process.signals = b.signals
	b.notify = func(state string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		first, _, _ := strings.Cut(state, "\n")
		b.told = append(b.told, first)
	}
	return b
}

func (b *bench) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(b.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorder makes parts that note when they start and stop.
type recorder struct {
	mu    sync.Mutex
	notes []string
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, text)
}

func (r *recorder) part(name string, stopTakes time.Duration) Part {
	return Part{Name: name, Run: func(ctx context.Context) error {
		<-ctx.Done()
		<-time.After(stopTakes)
		r.note("stopped " + name)
		return ctx.Err()
	}}
}

func TestPartsStopInReverseOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		var r recorder
		b.signals <- syscall.SIGTERM
		err := b.Run(t.Context(), r.part("database", 0), r.part("rpc", time.Second), r.part("http", 5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"stopped http", "stopped rpc", "stopped database"}; !slices.Equal(r.notes, want) {
			t.Errorf("order %q", r.notes)
		}
		if !slices.Contains(b.told, "STOPPING=1") {
			t.Errorf("systemd was told %q", b.told)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "[DEFAULT]\ngraceful_shutdown_timeout = 7\n")
		var r recorder
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		err := b.Run(ctx, r.part("slow", time.Minute))
		if !errors.Is(err, ErrStopTimeout) || time.Since(began) != 7*time.Second || !strings.Contains(err.Error(), "slow") {
			t.Errorf("error %v after %s", err, time.Since(began))
		}
		<-time.After(time.Minute) // the part ends by itself
	})
}

func TestNoLimitWhenTheTimeoutIsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "[DEFAULT]\ngraceful_shutdown_timeout = 0\n")
		var r recorder
		b.signals <- syscall.SIGTERM
		if err := b.Run(t.Context(), r.part("slow", 48*time.Hour)); err != nil {
			t.Error(err)
		}
	})
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		var r recorder
		b.signals <- os.Interrupt
		b.signals <- os.Interrupt
		began := time.Now()
		if err := b.Run(t.Context(), r.part("slow", time.Minute)); !errors.Is(err, ErrInterrupted) {
			t.Errorf("error %v", err)
		}
		if time.Since(began) != 0 {
			t.Errorf("took %s", time.Since(began))
		}
		<-time.After(time.Minute) // the part ends by itself
	})
}

func TestFailingPartStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		var r recorder
		broken := errors.New("broken")
		err := b.Run(t.Context(), r.part("http", 0), Part{Name: "rpc", Run: func(context.Context) error { return broken }})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "rpc: ") || len(r.notes) != 1 {
			t.Errorf("error %v, notes %q", err, r.notes)
		}
		err = b.Run(t.Context(), Part{Name: "early", Run: func(context.Context) error { return nil }})
		if err == nil || !strings.Contains(err.Error(), "early ended") {
			t.Errorf("error %v", err)
		}
	})
}

func TestReadyIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.Readiness.Require("database", "broker")
		var r recorder
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Run(ctx, r.part("x", 0)) }()
		b.Readiness.Set("database", nil)
		synctest.Wait()
		if len(b.told) != 0 {
			t.Errorf("told %q although the broker is missing", b.told)
		}
		b.Readiness.Set("broker", nil)
		synctest.Wait()
		b.Readiness.Set("broker", errors.New("gone"))
		b.Readiness.Set("broker", errors.New("still gone"))
		b.Readiness.Set("broker", nil)
		synctest.Wait()
		if !slices.Equal(b.told, []string{"READY=1"}) {
			t.Errorf("told %q", b.told)
		}
		if n := strings.Count(b.logged(), "not ready condition=broker"); n != 1 {
			t.Errorf("%d warnings for one change", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestSignalsDuringTheStart: a daemon whose start waits for a database stops when it is told to, answers whether it is
// ready, and says why it is not.
func TestSignalsDuringTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		waits := func(ctx context.Context, _ *Process) ([]Part, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("connect: %w", ctx.Err())
		}
		done := make(chan error)
		go func() { done <- b.Run(t.Context(), b.daemon(waits)) }()
		synctest.Wait()
		if got := b.Readiness.Reasons(); len(got) != 1 || got[0].Condition != "start" {
			t.Errorf("not ready because of %v", got)
		}
		b.signals <- syscall.SIGHUP
		synctest.Wait()
		b.signals <- syscall.SIGTERM
		if err := <-done; err != nil {
			t.Error(err)
		}
		if want := []string{"STOPPING=1"}; !slices.Equal(b.told, want) {
			t.Errorf("told %q", b.told)
		}
	})
}

// TestStartFails: the error of a start ends the process.
func TestStartFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	broken := errors.New("broken")
	err := b.Run(t.Context(), b.daemon(func(context.Context, *Process) ([]Part, error) { return nil, broken }))
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestPartsOfADaemon: they stop in reverse order, one that fails ends the others, and the watchdog asks each of them.
func TestPartsOfADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		var r recorder
		broken := errors.New("broken")
		fail := make(chan error)
		d := b.daemon(func(context.Context, *Process) ([]Part, error) {
			return []Part{r.part("database", 0), r.part("rpc", time.Second), {
				Name: "frail", Run: func(context.Context) error { return <-fail }, Alive: func() bool { return false },
			}}, nil
		})
		done := make(chan error)
		go func() { done <- b.Run(t.Context(), d) }()
		synctest.Wait()
		if d.Alive() {
			t.Error("alive although a part is not")
		}
		if got := b.Readiness.Reasons(); len(got) != 0 {
			t.Errorf("not ready because of %v", got)
		}
		fail <- broken
		if err := <-done; !errors.Is(err, broken) || !strings.Contains(err.Error(), "frail") {
			t.Errorf("error %v", err)
		}
		if want := []string{"stopped rpc", "stopped database"}; !slices.Equal(r.notes, want) {
			t.Errorf("order %q", r.notes)
		}
	})
}

// TestWatchedConditions: what is only watched is shown, and systemd does not wait for it.
func TestWatchedConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.Readiness.Require("broker")
		b.Readiness.Watch("placement")
		var r recorder
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Run(ctx, r.part("x", 0)) }()
		b.Readiness.Set("broker", nil)
		synctest.Wait()
		if !slices.Equal(b.told, []string{"READY=1"}) {
			t.Errorf("told %q", b.told)
		}
		if got := b.Readiness.Reasons(); len(got) != 1 || got[0].Condition != "placement" {
			t.Errorf("not ready because of %v", got)
		}
		b.Readiness.Set("placement", nil)
		if got := b.Readiness.Reasons(); len(got) != 0 {
			t.Errorf("not ready because of %v", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// logged returns what was logged so far.
func (b *bench) logged() string { return b.log.String() }

func TestWatchdogIsFedWhilePartsAreAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		ticks := make(chan time.Time)
		b.ticks = ticks
		var mu sync.Mutex
		alive := true
		part := Part{
			Name: "x", Run: func(ctx context.Context) error { <-ctx.Done(); return nil },
			Alive: func() bool { mu.Lock(); defer mu.Unlock(); return alive },
		}
		ctx, cancel := context.WithCancel(t.Context())
		b.Readiness.Require("never")
		done := make(chan error)
		go func() { done <- b.Run(ctx, part) }()
		ticks <- time.Now()
		synctest.Wait()
		mu.Lock()
		alive = false
		mu.Unlock()
		ticks <- time.Now()
		synctest.Wait()
		if !slices.Equal(b.told, []string{"WATCHDOG=1"}) {
			t.Errorf("told %q", b.told)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestHangupAppliesLevelsOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, "[DEFAULT]\ndebug = false\n")
	b.write(t, "[DEFAULT]\ndebug = true\n[pci]\nexclude_list = 0000:01:00.0\n")
	if stop := b.handle(syscall.SIGHUP); stop {
		t.Fatal("HUP stops the process")
	}
	text := b.logged()
	for _, part := range []string{
		`option changed and applied option="[DEFAULT] debug"`,
		`option changed; it takes effect after a restart option="[pci] exclude_list"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("log lacks %q:\n%s", part, text)
		}
	}
	b.Logger.Named("x").Debug("visible")
	b.write(t, "[DEFAULT]\ndebug = false\n[api]\nport = x\n")
	b.handle(syscall.SIGHUP)
	b.Logger.Named("x").Debug("still")
	text = b.logged()
	if !strings.Contains(text, "visible") || !strings.Contains(text, "still") || !strings.Contains(text, "nothing was changed") {
		t.Errorf("a bad file changed something:\n%s", text)
	}
	if want := []string{"RELOADING=1", "READY=1", "RELOADING=1", "READY=1"}; !slices.Equal(b.told, want) {
		t.Errorf("told %q", b.told)
	}
}

func TestReportMasksSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, "[DEFAULT]\ntransport_url = rabbit://u:hunter2@h\n[oslo_reports]\nlog_dir = "+dir+"\n")
	b.Reports.Add("RPCs in flight", func(w io.Writer) { _, _ = w.Write([]byte("none\n")) })
	b.handle(syscall.SIGUSR2)
	files, err := filepath.Glob(filepath.Join(dir, "cyborg-test_gurumeditation_*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"RPCs in flight", "none", "transport_url = ****", "goroutine ", "program = cyborg-test"} {
		if !strings.Contains(string(content), part) {
			t.Errorf("report lacks %q", part)
		}
	}
	if strings.Contains(string(content), "hunter2") {
		t.Error("report shows a password")
	}
}

func TestOperationsPages(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.Readiness.Require("broker")
	handler := b.OperationsHandler(false)
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, _ := get("/healthz"); code != 200 {
		t.Errorf("healthz %d", code)
	}
	if code, body := get("/readyz"); code != 503 || !strings.Contains(body, `{"condition":"broker","reason":"starting"}`) {
		t.Errorf("readyz %d %s", code, body)
	}
	b.Readiness.Set("broker", nil)
	if code, body := get("/readyz"); code != 200 || !strings.Contains(body, `"ready":true`) {
		t.Errorf("readyz %d %s", code, body)
	}
	if code, body := get("/metrics"); code != 200 || !strings.Contains(body, `cyborg_build_info{program="cyborg-test"`) || !strings.Contains(body, "cyborg_config_last_reload_successful 1") {
		t.Errorf("metrics %d %s", code, body)
	}
	for _, path := range []string{"/debug/report", "/debug/pprof/"} {
		if code, _ := get(path); code != 404 {
			t.Errorf("%s is shown to strangers", path)
		}
	}
}

func TestListenTellsWhatToDo(t *testing.T) {
	t.Parallel()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = Listen(l.Addr().String())
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("error %v", err)
	}
}

func TestDeadSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("unix:" + path); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a living socket was taken: %v", err)
	}
	l.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = Listen("unix:" + path)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestHTTPPartServesAndStops(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	part := HTTP("x", l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), b.Logger.Named("x"))
	go func() { done <- part.Run(ctx) }()
	client := &http.Client{Transport: &http.Transport{}}
	response, err := client.Get("http://" + l.Addr().String())
	if err != nil || response.StatusCode != http.StatusNoContent {
		t.Fatalf("%v %v", response, err)
	}
	_ = response.Body.Close()
	client.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestMainReportsEarlyErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{[]string{"--version"}, 0, Version(), ""},
		{[]string{"--config-file", "/no/such.conf"}, 1, "", "cyborg-test: read configuration /no/such.conf (named by --config-file): no such file"},
		{[]string{"check-config", "--config-dir", t.TempDir()}, 0, "[DEFAULT]", ""},
		{[]string{"--nonsense"}, 1, "", "--nonsense"},
	} {
		var out, problems bytes.Buffer
		code := Main(t.Context(), Invocation{Program: "cyborg-test", Args: tc.args, Stdout: &out, Stderr: &problems}, nil)
		if code != tc.code || !strings.Contains(out.String(), tc.out) || !strings.Contains(problems.String(), tc.err) {
			t.Errorf("%q: code %d, out %q, err %q", tc.args, code, out.String(), problems.String())
		}
	}
}
