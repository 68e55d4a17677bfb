package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"

	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/go-cyborg/cyborg/rpc"
)

// LogConfig says how and where a daemon logs. The zero value logs lines at INFO
// to Stderr.
type LogConfig struct {
	// Debug lets DEBUG records pass.
	Debug bool
	// Levels are logger=LEVEL pairs; the longest dotted prefix of a record's
	// logger counts. They stand below Debug and above the general level.
	Levels []string
	// JSON selects oslo.log's JSON form.
	JSON bool
	// File is appended to; empty logs to Stderr.
	File string
	// Stderr is the fall-back, os.Stderr when nil. AlsoStderr writes there
	// beside File.
	Stderr     io.Writer
	AlsoStderr bool
	// Syslog is the facility (LOG_USER, LOG_LOCAL0, …) of a local syslog daemon
	// to write to as well; empty does not.
	Syslog string
	// Program is the name used with syslog.
	Program string
	// Request tells on whose behalf a context runs; nil means that no record has
	// a request.
	Request func(context.Context) (Request, bool)
}

// Request is what a log line says about the request it belongs to.
type Request struct {
	GlobalID, ID                       string
	User, Project, Domain, SystemScope string
	UserDomain, ProjectDomain          string
}

// requestOf reads the request context that RPC servers and the API put into a
// context.
func requestOf(ctx context.Context) (Request, bool) {
	if !rpc.HasRequest(ctx) {
		return Request{}, false
	}
	r := rpc.RequestOf(ctx)
	return Request{
		GlobalID: r.GlobalRequestID, ID: r.RequestID, User: r.User, Project: r.ProjectID, Domain: r.Domain,
		SystemScope: r.SystemScope, UserDomain: r.UserDomain, ProjectDomain: r.ProjectDomain,
	}, true
}

// Logger is a daemon's log. It is safe for concurrent use.
type Logger struct {
	core    *core
	file    *logFile
	closers []io.Closer
	request func(context.Context) (Request, bool)
}

// NewLogger opens the log. The error says which file or socket cannot be opened,
// or which level is not one.
func NewLogger(c LogConfig) (*Logger, error) {
	levels, err := newLevels(c.Debug, c.Levels)
	if err != nil {
		return nil, err
	}
	l := &Logger{request: c.Request}
	out, err := l.open(c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.core = &core{shared: &shared{out: out, format: formatLine, origin: origin{pid: os.Getpid()}}}
	l.core.origin.host, _ = os.Hostname()
	if c.JSON {
		l.core.format = formatJSON
	}
	l.core.levels.Store(levels)
	return l, nil
}

func (l *Logger) open(c LogConfig) (output, error) {
	var out output
	if c.File != "" {
		file, err := openLogFile(c.File)
		if err != nil {
			return nil, err
		}
		l.file = file
		l.closers = append(l.closers, file)
		out = append(out, file)
	}
	if c.Syslog != "" {
		w, err := dialSyslog(c.Syslog, c.Program)
		if err != nil {
			return nil, err
		}
		l.closers = append(l.closers, w)
		out = append(out, w)
	}
	if len(out) == 0 || c.AlsoStderr {
		stderr := c.Stderr
		if stderr == nil {
			stderr = os.Stderr
		}
		out = append(out, &lockedWriter{w: stderr})
	}
	return out, nil
}

// Named returns the log of one module, in the peer's style: cyborg.agent.manager.
func (l *Logger) Named(name string) *slog.Logger {
	handler := zapslog.NewHandler(l.core,
		zapslog.WithName(name),
		zapslog.WithCaller(true),
		// zapslog would add a stack trace to every error.
		zapslog.AddStacktraceAt(slog.Level(1<<10)),
	)
	return slog.New(requestHandler{Handler: handler, request: l.request})
}

// SetLevels replaces debug and default_log_levels, as on HUP.
func (l *Logger) SetLevels(debug bool, pairs []string) error {
	levels, err := newLevels(debug, pairs)
	if err != nil {
		return err
	}
	l.core.levels.Store(levels)
	return nil
}

// Reopen opens the log file anew, as after its rotation; without a file it does
// nothing.
func (l *Logger) Reopen() error {
	if l.file == nil {
		return nil
	}
	return l.file.Reopen()
}

// Close closes the file and the sockets.
func (l *Logger) Close() error {
	var first error
	for _, c := range l.closers {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// requestHandler adds the request of a record's context, which zapslog drops.
type requestHandler struct {
	slog.Handler
	request func(context.Context) (Request, bool)
}

func (h requestHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.request != nil {
		if request, ok := h.request(ctx); ok {
			r = r.Clone()
			r.AddAttrs(slog.Any(requestKey, request))
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs), h.request}
}

func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name), h.request}
}

// requestKey marks the attribute; formats look for the value's type.
const requestKey = "context"

// levelNames are oslo.log's names and Python's numbers.
func levelName(l zapcore.Level) (name string, number int) {
	switch {
	case l <= zapcore.DebugLevel:
		return "DEBUG", 10
	case l == zapcore.InfoLevel:
		return "INFO", 20
	case l == zapcore.WarnLevel:
		return "WARNING", 30
	case l == zapcore.ErrorLevel:
		return "ERROR", 40
	}
	return "CRITICAL", 50
}

func parseLevel(text string) (zapcore.Level, bool) {
	switch strings.ToUpper(text) {
	case "DEBUG", "TRACE", "NOTSET":
		return zapcore.DebugLevel, true
	case "INFO", "AUDIT":
		return zapcore.InfoLevel, true
	case "WARN", "WARNING":
		return zapcore.WarnLevel, true
	case "ERROR":
		return zapcore.ErrorLevel, true
	case "CRITICAL", "FATAL":
		return zapcore.FatalLevel, true
	}
	return 0, false
}
