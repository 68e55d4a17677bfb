package ovo

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseLiteral reads a Python literal as its value: None, numbers, strings, lists, tuples, dicts and sets of them. Strings are those that repr() writes.
func parseLiteral(text string) (any, error) {
	p := literalParser{text: text}
	if !utf8.ValidString(text) {
		return nil, p.fail("not UTF-8")
	}
	v, err := p.value(0)
	if err == nil {
		if p.space(); p.pos < len(text) {
			err = p.fail("want the end")
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type literalParser struct {
	text string
	pos  int
}

const maxLiteralDepth = 20

func (p *literalParser) fail(reason string) error {
	return fmt.Errorf("python literal %q: %s at byte %d", p.text, reason, p.pos)
}

func (p *literalParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\n' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

func (p *literalParser) accept(s string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *literalParser) value(depth int) (any, error) {
	if depth > maxLiteralDepth {
		return nil, p.fail("nested too deeply")
	}
	p.space()
	if p.pos == len(p.text) {
		return nil, p.fail("want a value")
	}
	switch c := p.text[p.pos]; c {
	case '\'', '"':
		return p.str()
	case '[':
		p.pos++
		items, _, err := p.items("]", depth)
		return items, err
	case '(':
		return p.tuple(depth)
	case '{':
		return p.braces(depth)
	}
	return p.word()
}

// items reads values up to the closing bracket and tells whether a comma came last.
func (p *literalParser) items(end string, depth int) (items []any, comma bool, err error) {
	items = []any{}
	for !p.accept(end) {
		if len(items) > 0 && !comma {
			return nil, false, p.fail("want a comma")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, false, err
		}
		items = append(items, v)
		comma = p.accept(",")
	}
	return items, comma, nil
}

func (p *literalParser) tuple(depth int) (any, error) {
	p.pos++
	items, comma, err := p.items(")", depth)
	if err != nil {
		return nil, err
	}
	if len(items) == 1 && !comma {
		return items[0], nil
	}
	return Tuple(items), nil
}

// braces reads a dict or a set.
func (p *literalParser) braces(depth int) (any, error) {
	p.pos++
	d, isDict := &Dict{}, false
	var items []any
	for comma := true; !p.accept("}"); {
		if !comma {
			return nil, p.fail("want a comma")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.accept(":") {
			w, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			isDict = true
			if err := d.Set(v, w); err != nil {
				return nil, err
			}
		} else {
			items = append(items, v)
		}
		comma = p.accept(",")
	}
	switch {
	case items == nil:
		return d, nil
	case isDict:
		return nil, p.fail("neither a dict nor a set")
	}
	return NewSet(items...)
}

func (p *literalParser) word() (any, error) {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \n\t,:()[]{}'\"", p.text[p.pos]) < 0 {
		p.pos++
	}
	switch word := p.text[start:p.pos]; word {
	case "None":
		return nil, nil
	case "True", "False":
		return word == "True", nil
	default:
		if i, ok := new(big.Int).SetString(word, 10); ok {
			return normInt(i), nil
		}
		f, err := strconv.ParseFloat(word, 64)
		if err != nil || strings.ContainsAny(word, "xXpP_") || strings.ContainsAny(word[:1], "iInN") {
			p.pos = start
			return nil, p.fail("want a value")
		}
		return f, nil
	}
}

// str reads a string with the escapes that repr() writes.
func (p *literalParser) str() (string, error) {
	quote := p.text[p.pos]
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); {
		switch c := p.text[i]; c {
		case quote:
			p.pos = i + 1
			return b.String(), nil
		case '\\':
			r, _, rest, err := strconv.UnquoteChar(p.text[i:], quote)
			if err != nil {
				p.pos = i
				return "", p.fail("unknown escape")
			}
			if p.text[i+1] == 'x' {
				r &= 0xff // a character, not a byte
			}
			b.WriteRune(r)
			i = len(p.text) - len(rest)
		default:
			_, n := utf8.DecodeRuneInString(p.text[i:])
			b.WriteString(p.text[i : i+n])
			i += n
		}
	}
	return "", p.fail("string does not end")
}
