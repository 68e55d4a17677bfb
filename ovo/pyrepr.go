package ovo

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// pyStr is Python's str() of a value.
func pyStr(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return isoFormat(v, ' ')
	case netip.Addr:
		return addrText(v)
	case netip.Prefix:
		return prefixText(v)
	}
	return pyRepr(v)
}

// pyRepr is Python's repr() of a value. A set prints its elements in the order of their texts.
func pyRepr(v any) string { return string(appendRepr(nil, v)) }

func appendRepr(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "None"...)
	case bool:
		if v {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case *big.Int:
		return v.Append(b, 10)
	case float64:
		return appendFloat(b, v)
	case string:
		return appendReprString(b, v)
	case time.Time:
		return appendReprTime(b, v)
	case netip.Addr:
		return fmt.Appendf(b, "IPAddress('%s')", addrText(v))
	case netip.Prefix:
		return fmt.Appendf(b, "IPNetwork('%s')", prefixText(v))
	case []any:
		return append(appendReprItems(append(b, '['), v), ']')
	case Tuple:
		b = appendReprItems(append(b, '('), v)
		if len(v) == 1 {
			b = append(b, ',')
		}
		return append(b, ')')
	case *Dict:
		return appendReprDict(b, v)
	case *Set:
		return appendReprSet(b, v)
	case fmt.Stringer:
		return append(b, v.String()...)
	}
	return fmt.Appendf(b, "<%T object>", v)
}

func appendReprItems(b []byte, items []any) []byte {
	for i, e := range items {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendRepr(b, e)
	}
	return b
}

func appendReprDict(b []byte, d *Dict) []byte {
	b = append(b, '{')
	for i, k := range d.keys {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(appendRepr(b, k), ": "...)
		b = appendRepr(b, d.values[i])
	}
	return append(b, '}')
}

func appendReprSet(b []byte, s *Set) []byte {
	name := "set"
	if s.frozen {
		name = "frozenset"
	}
	if s.Len() == 0 {
		return append(append(b, name...), "()"...)
	}
	texts := make([][]byte, 0, s.Len())
	for _, e := range s.items {
		texts = append(texts, appendRepr(nil, e))
	}
	slices.SortFunc(texts, bytes.Compare)
	elements := append(append([]byte{'{'}, bytes.Join(texts, []byte(", "))...), '}')
	if !s.frozen {
		return append(b, elements...)
	}
	return append(append(append(b, "frozenset("...), elements...), ')')
}

// appendFloat writes the shortest digits that read back as f, the way Python does.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	return pyjson.AppendFloat(b, f)
}

func pyReprString(s string) string { return string(appendReprString(nil, s)) }

func appendReprString(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b = append(b, quote)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\udc%02x`, s[i]) // as Python's surrogateescape shows a stray byte
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		default:
			b = appendReprRune(b, r)
		}
		i += n
	}
	return append(b, quote)
}

func appendReprRune(b []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case printable(r):
		return utf8.AppendRune(b, r)
	case r < 0x100:
		return fmt.Appendf(b, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(b, `\u%04x`, r)
	}
	return fmt.Appendf(b, `\U%08x`, r)
}

// printable says whether repr() leaves r as it is.
func printable(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	i, found := slices.BinarySearch(nonPrintable, r)
	return !found && i%2 == 0 // between the last of one range and the first of the next
}

func appendReprTime(b []byte, t time.Time) []byte {
	y, mo, d := t.Date()
	h, mi, s := t.Clock()
	b = fmt.Appendf(b, "datetime.datetime(%d, %d, %d, %d, %d", y, int(mo), d, h, mi)
	us := t.Nanosecond() / 1000
	if s != 0 || us != 0 {
		b = fmt.Appendf(b, ", %d", s)
	}
	if us != 0 {
		b = fmt.Appendf(b, ", %d", us)
	}
	switch name, offset := t.Zone(); {
	case isNaive(t):
	case name == "UTC" && offset == 0:
		b = append(b, ", tzinfo=datetime.timezone.utc"...)
	case offset < 0:
		b = fmt.Appendf(b, ", tzinfo=datetime.timezone(datetime.timedelta(days=-1, seconds=%d)%s)", 86400+offset, reprZoneName(name))
	default:
		b = fmt.Appendf(b, ", tzinfo=datetime.timezone(datetime.timedelta(seconds=%d)%s)", offset, reprZoneName(name))
	}
	return append(b, ')')
}

// reprZoneName returns the second argument of timezone(), absent for a zone with Python's own name.
func reprZoneName(name string) string {
	if strings.HasPrefix(name, "UTC") {
		return ""
	}
	return ", " + pyReprString(name)
}

// isoFormat is Python's datetime.isoformat(sep): microseconds when there are any, the offset when aware.
func isoFormat(t time.Time, sep byte) string {
	b := t.AppendFormat(nil, "2006-01-02")
	b = t.AppendFormat(append(b, sep), "15:04:05")
	if us := t.Nanosecond() / 1000; us != 0 {
		b = fmt.Appendf(b, ".%06d", us)
	}
	if !isNaive(t) {
		_, offset := t.Zone()
		b = appendOffset(b, offset)
	}
	return string(b)
}

// appendOffset writes seconds east of UTC as ±HH:MM, with :SS when there are any.
func appendOffset(b []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	b = fmt.Appendf(append(b, sign), "%02d:%02d", seconds/3600, seconds/60%60)
	if s := seconds % 60; s != 0 {
		b = fmt.Appendf(b, ":%02d", s)
	}
	return b
}

// pyTypeName is the name of a value's Python type, as in type(v).__name__.
func pyTypeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case time.Time:
		return "datetime"
	case netip.Addr:
		return "IPAddress"
	case netip.Prefix:
		return "IPNetwork"
	case []any:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Set:
		if v.frozen {
			return "frozenset"
		}
		return "set"
	case interface{ pyTypeName() string }:
		return v.pyTypeName()
	}
	return fmt.Sprintf("Go %T", v) // not in the value model
}

// pyQualifiedName is the type's name in messages of Python itself, with its module.
func pyQualifiedName(v any) string {
	if _, ok := v.(time.Time); ok {
		return "datetime.datetime"
	}
	return pyTypeName(v)
}
