package pyjson

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
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
func AppendString(dst []byte, s string) ([]byte, error) {
	return AppendBytes(dst, []byte(s)) // no copy: the bytes are only read
}

// AppendBytes is [AppendString] for text in a byte slice.
func AppendBytes(dst, text []byte) ([]byte, error) {
	start, run := len(dst), 0
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			del := w ^ ones*0x7f
			marks := special(w) | (del-ones)&^del&highs
			if marks == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marks) / 8
		} else if c := text[i]; plain(c) && c != 0x7f {
			i++
			continue
		}
		dst = append(dst, text[run:i]...)
		if c := text[i]; c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			i++
		} else {
			ch, size := utf8.DecodeRune(text[i:])
			if ch == utf8.RuneError && size <= 1 {
				return dst[:start], &TextError{Offset: i, Reason: "not UTF-8"}
			}
			dst = appendRune(dst, ch)
			i += size
		}
		run = i
	}
	dst = append(dst, text[run:]...)
	return append(dst, '"'), nil
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
	if slices.Contains(dst[start:], '.') {
		return dst
	}
	return append(dst, ".0"...)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }
