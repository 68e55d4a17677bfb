package pci

import "strings"

// asciiByName gives the ASCII character with an upper-case Unicode name, for
// \N{NAME}.
func asciiByName(name string) (rune, bool) {
	if letter, ok := strings.CutPrefix(name, "LATIN SMALL LETTER "); ok {
		return asciiLetter(strings.ToLower(letter))
	}
	if letter, ok := strings.CutPrefix(name, "LATIN CAPITAL LETTER "); ok {
		return asciiLetter(letter)
	}
	r, ok := asciiNames[name]
	return r, ok
}

func asciiLetter(s string) (rune, bool) {
	if len(s) != 1 || !isASCIILetter(rune(s[0])) {
		return 0, false
	}
	return rune(s[0]), true
}

// asciiNames are the names of the printable characters that are no letters. It
// is never written.
var asciiNames = map[string]rune{
	"SPACE":                ' ',
	"EXCLAMATION MARK":     '!',
	"QUOTATION MARK":       '"',
	"NUMBER SIGN":          '#',
	"DOLLAR SIGN":          '$',
	"PERCENT SIGN":         '%',
	"AMPERSAND":            '&',
	"APOSTROPHE":           '\'',
	"LEFT PARENTHESIS":     '(',
	"RIGHT PARENTHESIS":    ')',
	"ASTERISK":             '*',
	"PLUS SIGN":            '+',
	"COMMA":                ',',
	"HYPHEN-MINUS":         '-',
	"FULL STOP":            '.',
	"SOLIDUS":              '/',
	"DIGIT ZERO":           '0',
	"DIGIT ONE":            '1',
	"DIGIT TWO":            '2',
	"DIGIT THREE":          '3',
	"DIGIT FOUR":           '4',
	"DIGIT FIVE":           '5',
	"DIGIT SIX":            '6',
	"DIGIT SEVEN":          '7',
	"DIGIT EIGHT":          '8',
	"DIGIT NINE":           '9',
	"COLON":                ':',
	"SEMICOLON":            ';',
	"LESS-THAN SIGN":       '<',
	"EQUALS SIGN":          '=',
	"GREATER-THAN SIGN":    '>',
	"QUESTION MARK":        '?',
	"COMMERCIAL AT":        '@',
	"LEFT SQUARE BRACKET":  '[',
	"REVERSE SOLIDUS":      '\\',
	"RIGHT SQUARE BRACKET": ']',
	"CIRCUMFLEX ACCENT":    '^',
	"LOW LINE":             '_',
	"GRAVE ACCENT":         '`',
	"LEFT CURLY BRACKET":   '{',
	"VERTICAL LINE":        '|',
	"RIGHT CURLY BRACKET":  '}',
	"TILDE":                '~',
}
