package pci

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// regexSet is a character set under construction, seen through the only
// characters that occur in subjects (lower-case hexadecimal digits) and their
// upper-case forms.
type regexSet struct {
	lower, upper uint16
}

const subjectDigits = "0123456789abcdef"

// add puts the code points from lo to hi into the set.
func (s *regexSet) add(lo, hi rune) {
	for i, r := range subjectDigits {
		if lo <= r && r <= hi {
			s.lower |= 1 << i
		}
		if upper := r - 'a' + 'A'; i >= 10 && lo <= upper && upper <= hi {
			s.upper |= 1 << i
		}
	}
}

func (s *regexSet) union(o regexSet) {
	s.lower |= o.lower
	s.upper |= o.upper
}

// mask gives the digits of the set. No other character folds to one of them.
func (s regexSet) mask(flags regexFlags) uint16 {
	if flags.ignoreCase {
		return s.lower | s.upper
	}
	return s.lower
}

// category gives the set of \d, \D, \s, \S, \w or \W.
func category(letter byte) (regexSet, bool) {
	var s regexSet
	switch letter {
	case 'd':
		s.add('0', '9')
	case 'D':
		s.add('a', 'f')
		s.add('A', 'F')
	case 'w', 'S':
		s.add(0, utf8.MaxRune)
	case 'W', 's':
	default:
		return s, false
	}
	return s, true
}

// class parses a set after "[".
func (p *regexParser) class(flags regexFlags) regexNode {
	start := p.tokens.pos() - 1
	negate := p.tokens.accept("^")
	var set regexSet
	for empty := true; ; empty = false {
		token := p.classToken(start)
		if token == "]" && !empty {
			break
		}
		item, literal, r := p.classItem(token)
		if !p.tokens.accept("-") {
			set.union(item)
			continue
		}
		end := p.classToken(start)
		if end == "]" {
			set.union(item)
			break
		}
		_, endLiteral, endRune := p.classItem(end)
		if !literal || !endLiteral || endRune < r {
			p.fail(len(token)+1+len(end), "bad character range %s-%s", token, end)
		}
		set.add(r, endRune)
	}
	mask := set.mask(flags)
	if negate {
		mask = ^mask
	}
	return regexNode{op: opSet, mask: mask}
}

func (p *regexParser) classToken(start int) string {
	token := p.tokens.get()
	if token == "" {
		p.fail(p.tokens.pos()-start, "unterminated character set")
	}
	return token
}

// classItem reads one member of a set; literal tells that it is the single
// code point r.
func (p *regexParser) classItem(token string) (item regexSet, literal bool, r rune) {
	r, _ = utf8.DecodeRuneInString(token)
	if token[0] == '\\' {
		if set, ok := category(token[1]); ok {
			return set, false, 0
		}
		r = p.classEscape(token)
	}
	item.add(r, r)
	return item, true, r
}

// classEscape reads an escape inside a set, which is a code point.
func (p *regexParser) classEscape(token string) rune {
	switch c := token[1]; {
	case c == 'b':
		return '\b'
	case '0' <= c && c <= '7':
		return p.octal(token[1:] + p.tokens.while(2, "01234567"))
	}
	return p.characterEscape(token)
}

// escape reads an escape outside of sets.
func (p *regexParser) escape(token string, flags regexFlags) regexNode {
	c := token[1]
	if set, ok := category(c); ok {
		return regexNode{op: opSet, mask: set.mask(flags)}
	}
	switch {
	case c == 'A':
		return regexNode{op: opBegin}
	case c == 'Z' || c == 'z':
		return regexNode{op: opEnd}
	case c == 'b' || c == 'B':
		return regexNode{op: opBoundary, negate: c == 'B'}
	case c == '0':
		return literalNode(p.octal(token[1:]+p.tokens.while(2, "01234567")), flags)
	case '1' <= c && c <= '9':
		return p.numeric(token[1:], flags)
	}
	return literalNode(p.characterEscape(token), flags)
}

// numeric reads \1 to \99 as a group reference and three octal digits as a
// code point.
func (p *regexParser) numeric(digits string, flags regexFlags) regexNode {
	digits += p.tokens.while(1, "0123456789")
	if len(digits) == 2 && digits[0] < '8' && digits[1] < '8' {
		if third := p.tokens.while(1, "01234567"); third != "" {
			return literalNode(p.octal(digits+third), flags)
		}
	}
	id, _ := strconv.Atoi(digits) // one or two decimal digits
	if id >= len(p.widths) {
		p.fail(len(digits), "invalid group reference %d", id)
	}
	return *p.reference(id)
}

func (p *regexParser) octal(digits string) rune {
	v, _ := strconv.ParseUint(digits, 8, 32) // at most three octal digits
	if v > 0o377 {
		p.fail(len(digits)+1, "octal escape value \\%s outside of range 0-0o377", digits)
	}
	return rune(v)
}

// characterEscape reads the escapes that mean one code point everywhere.
func (p *regexParser) characterEscape(token string) rune {
	r, _ := utf8.DecodeRuneInString(token[1:])
	switch r {
	case 'a':
		return '\a'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'x':
		return p.hex(token, 2)
	case 'u':
		return p.hex(token, 4)
	case 'U':
		return p.hex(token, 8)
	case 'N':
		return p.named()
	}
	if r < utf8.RuneSelf && (isASCIILetter(r) || '0' <= r && r <= '9') {
		p.fail(len(token), "bad escape %s", token)
	}
	return r
}

func isASCIILetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func (p *regexParser) hex(token string, n int) rune {
	digits := p.tokens.while(n, "0123456789abcdefABCDEF")
	if len(digits) != n {
		p.fail(len(token)+len(digits), "incomplete escape %s%s", token, digits)
	}
	v, _ := strconv.ParseUint(digits, 16, 32) // at most eight hexadecimal digits
	if v > utf8.MaxRune {
		p.fail(len(token)+len(digits), "bad escape %s%s", token, digits)
	}
	return rune(v)
}

// named reads \N{NAME}.
func (p *regexParser) named() rune {
	if !p.tokens.accept("{") {
		p.fail(0, "missing {")
	}
	name := p.until("}", "character name")
	r, ok := asciiByName(strings.ToUpper(name))
	if !ok {
		p.fail(len(name)+4, "undefined character name %q (only names of ASCII characters are known)", name)
	}
	return r
}
