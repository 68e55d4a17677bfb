package demo

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// logs keeps log records as text, so that the story can count what an operator would read.
type logs struct {
	mu    sync.Mutex
	lines []string
}

// logger writes to l.
func (l *logs) logger() *slog.Logger { return slog.New(logHandler{logs: l}) }

// matching returns the lines that hold all of the words.
func (l *logs) matching(words ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
next:
	for _, line := range l.lines {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		out = append(out, line)
	}
	return out
}

type logHandler struct {
	logs  *logs
	attrs []slog.Attr
}

// Enabled implements [slog.Handler]: what an operator sees by default.
func (logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle implements [slog.Handler].
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Level.String() + " " + r.Message)
	write := func(a slog.Attr) bool {
		b.WriteString(" " + a.String())
		return true
	}
	for _, a := range h.attrs {
		write(a)
	}
	r.Attrs(write)
	h.logs.mu.Lock()
	defer h.logs.mu.Unlock()
	h.logs.lines = append(h.logs.lines, b.String())
	return nil
}

// WithAttrs implements [slog.Handler].
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = append(slices.Clip(h.attrs), attrs...)
	return h
}

// WithGroup implements [slog.Handler]; nothing here groups.
func (h logHandler) WithGroup(string) slog.Handler { return h }
