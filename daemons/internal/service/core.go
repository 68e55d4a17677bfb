package service

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap/zapcore"
)

// core is a zap core whose level depends on the logger's name and whose formats
// are OpenStack's. It is safe for concurrent use.
type core struct {
	*shared
	fields []zapcore.Field
}

// shared is what all cores of one log have in common.
type shared struct {
	levels atomic.Pointer[levels]
	out    output
	format format
	origin origin
}

// origin is the process that logs.
type origin struct {
	host string
	pid  int
}

// format turns a record into bytes, the final newline included.
type format func(origin, zapcore.Entry, []zapcore.Field) []byte

// Enabled lets pass what any logger lets pass; Check knows the name.
func (c *core) Enabled(level zapcore.Level) bool { return level >= c.levels.Load().lowest }

// Check adds the core when the level of the record's logger allows it.
func (c *core) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.Level >= c.levels.Load().of(e.LoggerName) {
		return ce.AddCore(e, c)
	}
	return ce
}

// With keeps the fields as they are: the formats want names and values.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{shared: c.shared, fields: append(slices.Clip(c.fields), fields...)}
}

// Write formats and writes one record.
func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return c.out.write(c.format(c.origin, e, append(slices.Clip(c.fields), fields...)))
}

// Sync does nothing: records are written at once.
func (c *core) Sync() error { return nil }

// output is where records go; each writer takes a whole record at a time.
type output []io.Writer

func (o output) write(record []byte) error {
	var problems []error
	for _, w := range o {
		if _, err := w.Write(record); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// lockedWriter keeps the records of a writer apart.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
