package wire

import (
	"fmt"
	"math/big"
	"strings"
)

// PythonError is the exception that a Python peer raises for the same input.
type PythonError struct{ Class, Text string }

// Error gives the class and the text.
func (e *PythonError) Error() string { return e.Class + ": " + e.Text }

// Compatible is oslo.messaging's version rule on the texts themselves, malformed ones included: the same answers and the
// same exceptions, in the same order of evaluation.
func Compatible(implemented, requested string) (bool, error) {
	// Only three parts count, whatever a peer sends.
	have, want := strings.SplitN(implemented, ".", 4), strings.SplitN(requested, ".", 4)
	major, err := comparePart(want, have, 0)
	if err != nil || major != 0 {
		return false, err
	}
	minor, err := comparePart(want, have, 1)
	if err != nil || minor != 0 {
		return minor < 0 && err == nil, err
	}
	revision, err := comparePart(withRevision(want), withRevision(have), 2)
	return revision <= 0 && err == nil, err
}

func withRevision(parts []string) []string {
	if len(parts) > 2 {
		return parts
	}
	return append(parts[:2:2], "0")
}

func comparePart(a, b []string, i int) (int, error) {
	x, err := pythonInt(a, i)
	if err != nil {
		return 0, err
	}
	y, err := pythonInt(b, i)
	if err != nil {
		return 0, err
	}
	return x.Cmp(y), nil
}

// pythonInt is int(parts[i]).
func pythonInt(parts []string, i int) (*big.Int, error) {
	if i >= len(parts) {
		return nil, &PythonError{"IndexError", "list index out of range"}
	}
	text := strings.Trim(parts[i], " \t\n\r\v\f")
	digits := strings.TrimLeft(text, "+-")
	valid := len(text)-len(digits) <= 1 && digits != "" && len(digits) <= 4300
	for j := range len(digits) {
		c := digits[j]
		inner := c == '_' && j > 0 && j < len(digits)-1 && digits[j-1] != '_'
		valid = valid && ('0' <= c && c <= '9' || inner)
	}
	v := new(big.Int)
	if valid {
		_, valid = v.SetString(strings.ReplaceAll(text, "_", ""), 10)
	}
	if !valid {
		return nil, &PythonError{"ValueError", fmt.Sprintf("invalid literal for int() with base 10: %s", Repr(parts[i]))}
	}
	return v, nil
}

// Repr quotes a text as Python's repr does, for the usual characters.
func Repr(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	var b strings.Builder
	b.WriteString(quote)
	for _, c := range s {
		switch {
		case c == '\\' || string(c) == quote:
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteString(quote)
	return b.String()
}
