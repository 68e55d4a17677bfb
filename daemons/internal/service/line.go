package service

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
)

// formatLine writes oslo.log's default line:
//
//	2026-11-29 15:51:10.123 4711 INFO cyborg.agent.manager [-] message key=value
//
// Time is local and without zone. A message's own newlines stay; attributes
// follow the message, quoted when they need it. DEBUG records end with function,
// file and line, as the peer's.
func formatLine(o origin, e zapcore.Entry, fields []zapcore.Field) []byte {
	level, _ := levelName(e.Level)
	request, attrs := attributes(fields)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s %s [%s] %s",
		e.Time.Local().Format("2006-01-02 15:04:05.000"), o.pid, level, loggerName(e), requestText(request), e.Message)
	for _, a := range attrs {
		b.WriteByte(' ')
		b.WriteString(a.key)
		b.WriteByte('=')
		b.WriteString(quoteIfNeeded(attributeText(a.value)))
	}
	if e.Level <= zapcore.DebugLevel && e.Caller.Defined {
		fmt.Fprintf(&b, " %s %s:%d", functionName(e.Caller.Function), e.Caller.File, e.Caller.Line)
	}
	b.WriteByte('\n')
	return []byte(b.String())
}

// requestText is oslo.log's context: a missing global id is the word None, any
// other missing part a hyphen.
func requestText(r *Request) string {
	if r == nil {
		return "-"
	}
	global := r.GlobalID
	if global == "" {
		global = "None"
	}
	parts := []string{global}
	for _, part := range []string{r.ID, r.User, r.Project, r.Domain, r.SystemScope, r.UserDomain, r.ProjectDomain} {
		if part == "" {
			part = "-"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func loggerName(e zapcore.Entry) string {
	if e.LoggerName == "" {
		return "cyborg"
	}
	return e.LoggerName
}

// functionName drops the package's path.
func functionName(full string) string { return full[strings.LastIndexByte(full, '/')+1:] }

// attribute is one named value of a record.
type attribute struct {
	key   string
	value any
}

// attributes takes the request out of the fields and names the rest; a group's
// name stands before its members, with a dot.
func attributes(fields []zapcore.Field) (*Request, []attribute) {
	var request *Request
	var out []attribute
	var groups []string
	prefix := ""
	for _, f := range fields {
		if r, ok := f.Interface.(Request); ok && f.Key == requestKey {
			request = &r
			continue
		}
		if f.Type == zapcore.NamespaceType {
			groups = append(groups, f.Key)
			prefix = strings.Join(groups, ".") + "."
			continue
		}
		encoder := zapcore.NewMapObjectEncoder()
		f.AddTo(encoder)
		out = appendFields(out, prefix, f.Key, encoder.Fields)
	}
	return request, out
}

// appendFields keeps the field's own key first: an error adds details beside it.
func appendFields(out []attribute, prefix, key string, fields map[string]any) []attribute {
	if value, ok := fields[key]; ok {
		out = append(out, attribute{prefix + key, value})
		delete(fields, key)
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if k != key+"Verbose" {
			out = append(out, attribute{prefix + k, fields[k]})
		}
	}
	return out
}

func attributeText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(value)
}

func quoteIfNeeded(text string) string {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || r == 0x7f }) {
		return strconv.Quote(text)
	}
	return text
}
