package pyjson

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The separators that json.dumps writes by default.
const (
	ItemSeparator = ", "
	KeySeparator  = ": "
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with every character outside printable ASCII escaped, as Python does by default. The error
// is a [*TextError] if s is not UTF-8; dst is then unchanged.
func AppendString(dst []byte, s string) ([]byte, error) { return appendText(dst, s) }

// AppendBytes is [AppendString] for text in a byte slice.
func AppendBytes(dst, s []byte) ([]byte, error) { return appendText(dst, s) }

func appendText[T string | []byte](dst []byte, s T) ([]byte, error) {
	start := len(dst)
	dst = append(dst, '"')
	run := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c == 0x7f || !plain(c) {
			dst = append(dst, s[run:i]...)
			n := 1
			if c < utf8.RuneSelf {
				dst = appendEscape(dst, c)
			} else {
				ch, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
				if ch == utf8.RuneError && size <= 1 {
					return dst[:start], &TextError{Offset: i, Reason: "not UTF-8"}
				}
				dst, n = appendRune(dst, ch), size
			}
			i += n
			run = i
			continue
		}
		i++
		for i+8 <= len(s) && !hasSpecial(s[i:i+8]) {
			i += 8
		}
	}
	dst = append(dst, s[run:]...)
	return append(dst, '"'), nil
}

// hasSpecial tells whether one of eight bytes must be escaped; 0x7f may or may not be noticed.
func hasSpecial[T string | []byte](s T) bool {
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	del := w ^ ones*0x7f
	return special(w)|(del-ones)&^del&highs != 0
}

// appendEscape appends the escape of an ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return appendUnit(dst, uint16(c))
}

// appendRune appends the escape of a character, a pair of escapes above U+FFFF.
func appendRune(dst []byte, ch rune) []byte {
	if ch <= 0xffff {
		return appendUnit(dst, uint16(ch))
	}
	hi, lo := utf16.EncodeRune(ch)
	return appendUnit(appendUnit(dst, uint16(hi)), uint16(lo))
}

func appendUnit(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// AppendFloat appends f as json.dumps does: the shortest digits that read back as f, always with a fraction or an exponent, and the
// words NaN, Infinity and -Infinity, which JSON proper does not have.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }
