package pyjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// ReadString reads a string and returns a copy that shares no memory with the document.
func (r *Reader) ReadString() (string, error) {
	var buf [64]byte
	text, err := r.ReadText(buf[:0])
	return string(text), err
}

// ReadText reads a string without copying it when it can: the result is a part of the document if the string holds no escape sequence, and otherwise
// what append(buf, …) returns. It is valid as long as both are left alone.
func (r *Reader) ReadText(buf []byte) ([]byte, error) {
	if text, ok := r.readEscaped(buf); ok {
		return text, nil
	}
	s, err := r.scanText()
	if err != nil {
		return nil, err
	}
	body := r.data[s.start:s.end:s.end]
	if !s.escaped {
		if s.wide && !utf8.Valid(body) {
			return nil, &TextError{Offset: s.start, Reason: "not UTF-8"}
		}
		return body, nil
	}
	return unescape(buf, body, s.start)
}

// readEscaped reads an ASCII string with one-letter escapes in one pass, which is what a document inside a document is. It
// reads nothing if the string is anything else.
func (r *Reader) readEscaped(buf []byte) ([]byte, bool) {
	if r.space() != '"' {
		return nil, false
	}
	data, from := r.data, r.pos+1
	i := skipPlain(data, from)
	if i >= len(data) || data[i] != '\\' {
		return nil, false
	}
	for {
		buf = append(buf, data[from:i]...)
		switch {
		case i >= len(data):
			return nil, false
		case data[i] == '"':
			r.pos = i + 1
			return buf, true
		case data[i] != '\\' || i+1 == len(data) || unescaped[data[i+1]] == 0:
			return nil, false
		}
		buf = append(buf, unescaped[data[i+1]])
		from = i + 2
		i = skipPlain(data, from)
	}
}

// span is the body of a string literal in the document, without the quotes.
type span struct {
	start, end int
	escaped    bool // holds a backslash
	wide       bool // holds a byte above 0x7f
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of a little-endian word that end the plain run of a string: quote, backslash, control character, non-ASCII. Only the
// lowest mark is exact.
func special(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash | w) & highs
}

// scanText reads a string literal and tells where its body is. Escape sequences are checked for form, not for meaning.
func (r *Reader) scanText() (span, error) {
	if r.space() != '"' {
		return span{}, r.fail("want a string")
	}
	data, i := r.data, r.pos+1
	s := span{start: i}
	for {
		i = skipPlain(data, i)
		if i >= len(data) {
			r.pos = len(data)
			return s, r.fail("string does not end")
		}
		switch c := data[i]; {
		case c == '"':
			s.end, r.pos = i, i+1
			return s, nil
		case c == '\\':
			s.escaped = true
			n := escapeLen(data[i:])
			if n == 0 {
				r.pos = i
				return s, r.fail("unknown escape sequence")
			}
			i += n
		case c < ' ':
			r.pos = i
			return s, r.fail("control character in a string")
		default:
			s.wide = true
			i++
		}
	}
}

// skipPlain returns the place of the first byte at or after i that ends a plain run.
func skipPlain(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if marks := special(binary.LittleEndian.Uint64(data[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(data) && plain(data[i]) {
		i++
	}
	return i
}

// plain tells whether a byte stands for itself in a string and is ASCII.
func plain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// escapeLen is the length of the escape sequence at the start of b, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if unescaped[b[1]] == 0 {
			return 0
		}
		return 2
	}
	if len(b) < 6 || hex4(b[2:6]) < 0 {
		return 0
	}
	return 6
}

// unescaped is the meaning of the one-letter escapes.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 is the value of four hexadecimal digits, negative if they are not.
func hex4(b []byte) rune {
	var v rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		v = v<<4 | rune(c)
	}
	return v
}

// unescape appends the meaning of a string body whose escapes have the right form. Offset is the body's place in the document.
func unescape(dst, body []byte, offset int) ([]byte, error) {
	for i := 0; i < len(body); {
		if end := skipPlain(body, i); end > i {
			dst = append(dst, body[i:end]...)
			i = end
			continue
		}
		switch c := body[i]; {
		case c >= utf8.RuneSelf:
			ch, n := utf8.DecodeRune(body[i:])
			if ch == utf8.RuneError && n <= 1 {
				return nil, &TextError{Offset: offset + i, Reason: "not UTF-8"}
			}
			dst = append(dst, body[i:i+n]...)
			i += n
		case body[i+1] != 'u':
			dst = append(dst, unescaped[body[i+1]])
			i += 2
		default:
			ch, n := unescapeRune(body[i:])
			if ch < 0 {
				return nil, &TextError{Offset: offset + i, Reason: "half a surrogate pair"}
			}
			dst = utf8.AppendRune(dst, ch)
			i += n
		}
	}
	return dst, nil
}

// unescapeRune decodes a \u escape or a pair of them; the rune is negative for half a pair.
func unescapeRune(b []byte) (rune, int) {
	hi := hex4(b[2:6])
	if !utf16.IsSurrogate(hi) {
		return hi, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if ch := utf16.DecodeRune(hi, hex4(b[8:12])); ch != utf8.RuneError {
			return ch, 12
		}
	}
	return -1, 0
}
