package config

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// expand replaces $name, ${name}, $group.name and ${group.name} by the text of
// the option's value, as string.Template.safe_substitute does for oslo.config:
// $$ and \$ are a literal dollar sign, a dollar sign without a name stays. A name
// without group is looked for in the group of the option at hand, then in
// DEFAULT. An unknown name is an error.
func (c *Config) expand(text, group string) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	text = strings.ReplaceAll(text, `\$`, "$$")
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		b.WriteString(text[:i])
		name, length := reference(text[i:])
		if name == "" {
			b.WriteByte('$')
			text = text[i+length:]
			continue
		}
		value, err := c.referenced(name, group)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = text[i+length:]
	}
}

// reference reads what stands at a dollar sign: a name, or none and the number
// of bytes that stand for a literal dollar sign.
func reference(text string) (name string, length int) {
	rest := text[1:]
	if strings.HasPrefix(rest, "$") {
		return "", len("$$")
	}
	braced := strings.HasPrefix(rest, "{")
	if braced {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && nameByte(rest[n], n == 0) {
		n++
	}
	switch {
	case n == 0:
		return "", len("$")
	case !braced:
		return rest[:n], len("$") + n
	case n < len(rest) && rest[n] == '}':
		return rest[:n], len("${}") + n
	}
	return "", len("$")
}

func nameByte(c byte, first bool) bool {
	switch {
	case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	case '0' <= c && c <= '9', c == '.':
		return !first
	}
	return false
}

// referenced is the text of the option that a reference names.
func (c *Config) referenced(name, group string) (string, error) {
	i, ok := c.lookupReference(name, group)
	if !ok {
		return "", fmt.Errorf("$%s names no option (write $$ for a literal dollar sign)", name)
	}
	if c.resolved[i].state == reading {
		return "", fmt.Errorf("$%s refers to itself", name)
	}
	c.convert(i)
	if err := c.resolved[i].err; err != nil {
		return "", fmt.Errorf("$%s: %w", name, err)
	}
	return pythonText(c.resolved[i].value), nil
}

func (c *Config) lookupReference(name, group string) (int, bool) {
	candidates := []Name{{group, name}, {defaultGroup, name}}
	if g, option, dotted := strings.Cut(name, "."); dotted {
		candidates = []Name{{g, option}}
	}
	for _, n := range candidates {
		// A reference is taken literally: neither case nor '-' is equalised.
		if i, ok := c.schema.index[n]; ok {
			return i, true
		}
	}
	return 0, false
}

// pythonText is str(value) of the Python value that oslo.config would insert.
func pythonText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case *big.Int:
		return v.String()
	case float64:
		return pythonFloat(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = pythonRepr(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		pairs := make([]string, 0, len(v))
		for key, s := range v {
			pairs = append(pairs, pythonRepr(key)+": "+pythonRepr(s))
		}
		slices.Sort(pairs)
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// pythonFloat is repr of a Python float: the shortest text, with an exponent
// from 1e16 on and below 1e-4, and always a point or an exponent.
func pythonFloat(v float64) string {
	switch size := math.Abs(v); {
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	case math.IsNaN(v):
		return "nan"
	case size != 0 && (size >= 1e16 || size < 1e-4):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pythonRepr is repr of a Python string without control characters, which do not
// occur in options that others refer to.
func pythonRepr(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`).Replace(s) + quote
}
