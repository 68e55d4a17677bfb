package ovo

import (
	"math"
	"math/big"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// space says whether r is white space for Python's str.strip() and for \s. The separators U+001C to U+001F are, but not
// around numbers.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func trimSpace(s string) string { return strings.TrimFunc(s, space) }

// asciiNumber is what Python does before it reads a number: white space around it goes, decimal digits of other scripts
// become ASCII ones.
func asciiNumber(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitValue(r)
	}, strings.TrimSpace(s))
}

// digitValue returns the value of a decimal digit. Unicode keeps the ten digits of a script together, in order.
func digitValue(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

var (
	intText   = regexp.MustCompile(`^[+-]?[0-9]+(_[0-9]+)*$`)
	floatText = regexp.MustCompile(`(?i)^[+-]?(?:inf|infinity|nan|` +
		`(?:[0-9]+(?:_[0-9]+)*\.?|[0-9]+(?:_[0-9]+)*\.[0-9]+(?:_[0-9]+)*|\.[0-9]+(?:_[0-9]+)*)(?:e[+-]?[0-9]+(?:_[0-9]+)*)?)$`)
)

// parseInt is Python's int() of a text.
func parseInt(text string) (any, error) {
	s := asciiNumber(text)
	if !intText.MatchString(s) {
		return nil, &ValueError{"invalid literal for int() with base 10: " + pyReprString(text)}
	}
	s = strings.ReplaceAll(s, "_", "")
	if n := len(strings.TrimLeft(s, "+-")); n > maxDigits {
		return nil, &ValueError{"Exceeds the limit (4300 digits) for integer string conversion: value has " + strconv.Itoa(n) + " digits"}
	}
	i, _ := new(big.Int).SetString(s, 10)
	return normInt(i), nil
}

// parseFloat is Python's float() of a text. Text beyond the range gives an infinity, as there.
func parseFloat(text string) (any, error) {
	s := asciiNumber(text)
	if !floatText.MatchString(s) {
		return nil, &ValueError{"could not convert string to float: " + pyReprString(text)}
	}
	if strings.HasSuffix(strings.ToLower(s), "nan") {
		return math.NaN(), nil // strconv takes no sign before it
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, nil
}

// addrInt is Python's int() of an IPAddress.
func addrInt(a netip.Addr) any { return normInt(new(big.Int).SetBytes(a.AsSlice())) }
