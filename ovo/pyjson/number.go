package pyjson

import "strconv"

// ReadNumber reads a number and returns its text, a part of the document. Integer says that the text has neither fraction nor exponent, which
// is when Python makes an int of it. The bare words NaN, Infinity and -Infinity are numbers too.
func (r *Reader) ReadNumber() (text []byte, integer bool, err error) {
	r.space()
	start := r.pos
	if r.Accept("NaN") || r.Accept("Infinity") || r.Accept("-Infinity") {
		return r.Slice(start, r.pos), false, nil
	}
	data, i := r.data, start
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := i
	i = skipDigits(data, i)
	if i == digits || data[digits] == '0' && i > digits+1 {
		return nil, false, r.fail("want a number")
	}
	integer = true
	if i+1 < len(data) && data[i] == '.' && isDigit(data[i+1]) {
		integer = false
		i = skipDigits(data, i+1)
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		e := i + 1
		if e < len(data) && (data[e] == '+' || data[e] == '-') {
			e++
		}
		if e < len(data) && isDigit(data[e]) {
			integer = false
			i = skipDigits(data, e)
		}
	}
	r.pos = i
	return r.Slice(start, i), integer, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func skipDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

// ParseInt is the value of an integer's text, and false if it does not fit into 64 bits.
func ParseInt(text []byte) (int64, bool) {
	digits, negative := text, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 18 {
		v, err := strconv.ParseInt(string(text), 10, 64)
		return v, err == nil
	}
	var v int64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}

// ParseFloat is the nearest float64 to a number's text. As in Python, a number beyond its range is an infinity.
func ParseFloat(text []byte) float64 {
	// The text comes from ReadNumber, so the only possible error is the range, for which the result is an infinity.
	v, _ := strconv.ParseFloat(string(text), 64)
	return v
}
