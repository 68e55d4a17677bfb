package ovo

import (
	"math/big"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// space says whether r is white space for Python's str.strip(), int() and float().
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func trimSpace(s string) string { return strings.TrimFunc(s, space) }

// asciiDigits replaces decimal digits of other scripts by ASCII ones, as Python does before it reads a number.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitValue(r)
	}, s)
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
	floatText = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|([0-9]+(_[0-9]+)*)?\.?([0-9]+(_[0-9]+)*)?(e[+-]?[0-9]+(_[0-9]+)*)?)$`)
)

// parseInt is Python's int() of a text.
func parseInt(text string) (any, error) {
	s := asciiDigits(trimSpace(text))
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
	s := asciiDigits(trimSpace(text))
	if m := floatText.FindStringSubmatch(s); m == nil || !strings.ContainsFunc(m[1], unicode.IsLetter) && m[2] == "" && m[4] == "" {
		return nil, badFloat(text)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && f == 0 {
		return nil, badFloat(text)
	}
	return f, nil
}

func badFloat(text string) error {
	return &ValueError{"could not convert string to float: " + pyReprString(text)}
}

// addrInt is Python's int() of an IPAddress.
func addrInt(a netip.Addr) any { return normInt(new(big.Int).SetBytes(a.AsSlice())) }
