package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/rpc"
)

func newTestLogger(t *testing.T, c LogConfig) (*Logger, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	c.Stderr, c.Request = &b, requestOf
	l, err := NewLogger(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, &b
}

func TestLineFormat(t *testing.T) {
	t.Parallel()
	full := &rpc.RequestContext{
		GlobalRequestID: "req-1", RequestID: "req-2", User: "u", ProjectID: "p", Domain: "d",
		SystemScope: "all", UserDomain: "ud", ProjectDomain: "pd",
	}
	for _, tc := range []struct {
		name string
		log  func(*slog.Logger)
		want string
	}{
		{"plain", func(l *slog.Logger) { l.Info("hello") }, `INFO cyborg.agent.manager [-] hello`},
		{"levels", func(l *slog.Logger) { l.Warn("w") }, `WARNING cyborg.agent.manager [-] w`},
		{"error without stack trace", func(l *slog.Logger) { l.Error("e", "error", errors.New("no route")) }, `ERROR cyborg.agent.manager [-] e error="no route"`},
		{"request without global id", func(l *slog.Logger) {
			l.InfoContext(rpc.WithRequest(t.Context(), &rpc.RequestContext{RequestID: "req-2"}), "m")
		}, `INFO cyborg.agent.manager [None req-2 - - - - - -] m`},
		{"whole request", func(l *slog.Logger) {
			l.With("host", "h").InfoContext(rpc.WithRequest(t.Context(), full), "m", "n", 3)
		}, `INFO cyborg.agent.manager [req-1 req-2 u p d all ud pd] m host=h n=3`},
		{"groups and values", func(l *slog.Logger) {
			l.WithGroup("g").With("a", "").Info("two\nlines", "b", "x y", "c", true)
		}, "INFO cyborg.agent.manager [-] two\nlines g.a=\"\" g.b=\"x y\" g.c=true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, out := newTestLogger(t, LogConfig{})
			tc.log(l.Named("cyborg.agent.manager"))
			prefix := regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \d+ `)
			got := out.String()
			if !prefix.MatchString(got) {
				t.Fatalf("no time and process: %q", got)
			}
			if got = prefix.ReplaceAllString(got, ""); got != tc.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestDebugLinesEndWithTheirPlace(t *testing.T) {
	t.Parallel()
	l, out := newTestLogger(t, LogConfig{Debug: true})
	l.Named("x").Debug("d")
	if !regexp.MustCompile(`DEBUG x \[-\] d service\.TestDebugLines\S+ \S+/logger_test\.go:\d+\n$`).MatchString(out.String()) {
		t.Errorf("got %q", out.String())
	}
}

func TestLevelsByLoggerName(t *testing.T) {
	t.Parallel()
	l, out := newTestLogger(t, LogConfig{Levels: []string{"amqp=WARN", "cyborg.agent=DEBUG", "cyborg.agent.quiet=ERROR"}})
	for _, name := range []string{"amqp.channel", "amqpx", "cyborg.agent", "cyborg.agent.quiet.x", "cyborg"} {
		log := l.Named(name)
		log.Debug("d-" + name)
		log.Info("i-" + name)
	}
	var got []string
	for _, m := range regexp.MustCompile(`\] (\S+)`).FindAllStringSubmatch(out.String(), -1) {
		got = append(got, m[1])
	}
	if want := "i-amqpx d-cyborg.agent i-cyborg.agent i-cyborg"; strings.Join(got, " ") != want {
		t.Errorf("passed %q, want %q", got, want)
	}
	out.Reset()
	if err := l.SetLevels(true, nil); err != nil {
		t.Fatal(err)
	}
	l.Named("amqp").Debug("now")
	if !strings.Contains(out.String(), "now") {
		t.Error("new levels do not count")
	}
	if err := l.SetLevels(true, []string{"amqp=LOUD"}); err == nil || !strings.Contains(err.Error(), `"amqp=LOUD"`) {
		t.Errorf("error %v", err)
	}
}

func TestJSONFormat(t *testing.T) {
	t.Parallel()
	l, out := newTestLogger(t, LogConfig{JSON: true})
	ctx := rpc.WithRequest(t.Context(), &rpc.RequestContext{RequestID: "req-2", User: "u"})
	l.Named("cyborg.api").ErrorContext(ctx, "bad", "error", errors.New("e"), "n", 3)
	var got struct {
		Message, Asctime, Name, LevelName, Hostname string
		LevelNo, Process                            int
		Created, Msecs                              float64
		Traceback                                   *string
		Context, Extra                              map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Message != "bad" || got.Name != "cyborg.api" || got.LevelName != "ERROR" || got.LevelNo != 40 || got.Process != os.Getpid() {
		t.Errorf("record %+v", got)
	}
	if got.Context["request_id"] != "req-2" || got.Context["global_request_id"] != nil || got.Context["user"] != "u" {
		t.Errorf("context %v", got.Context)
	}
	if got.Extra["error"] != "e" || got.Extra["n"] != 3.0 || got.Created == 0 {
		t.Errorf("extra %v, created %v", got.Extra, got.Created)
	}
}

func TestLogFileIsReopened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.log")
	l, stderr := newTestLogger(t, LogConfig{File: path, AlsoStderr: true})
	log := l.Named("x")
	log.Info("first")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	log.Info("second")
	for file, want := range map[string]string{path + ".1": "first", path: "second"} {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), want) || strings.Count(string(content), "\n") != 1 {
			t.Errorf("%s holds %q, %v", file, content, err)
		}
	}
	if !strings.Contains(stderr.String(), "second") {
		t.Error("use_stderr is ignored")
	}
}

func TestUnwritableLogFile(t *testing.T) {
	t.Parallel()
	_, err := NewLogger(LogConfig{File: filepath.Join(t.TempDir(), "no", "a.log")})
	if err == nil || !strings.Contains(err.Error(), "open log file") || !strings.Contains(err.Error(), "log_file") {
		t.Errorf("error %v", err)
	}
}
