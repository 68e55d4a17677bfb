package pci

import "strings"

// regexTokens cuts a pattern into tokens: one code point, or a backslash and
// the code point behind it. The empty token is the end. Even names and
// comments are read token by token, as in Python.
type regexTokens struct {
	runes []rune
	at    int
}

func newRegexTokens(pattern string) *regexTokens {
	t := &regexTokens{runes: []rune(pattern)}
	// A last backslash stands alone if the run of backslashes is odd.
	run := 0
	for i := len(t.runes) - 1; i >= 0 && t.runes[i] == '\\'; i-- {
		run++
	}
	if run%2 == 1 {
		panic(&regexError{"bad escape (end of pattern)", len(t.runes) - 1})
	}
	return t
}

func (t *regexTokens) pos() int { return t.at }

func (t *regexTokens) atEnd() bool { return t.at >= len(t.runes) }

func (t *regexTokens) mark() int { return t.at }

func (t *regexTokens) reset(mark int) { t.at = mark }

// next gives the token ahead.
func (t *regexTokens) next() string {
	if t.atEnd() {
		return ""
	}
	if t.runes[t.at] == '\\' && t.at+1 < len(t.runes) {
		return string(t.runes[t.at : t.at+2])
	}
	return string(t.runes[t.at])
}

// get consumes the token ahead.
func (t *regexTokens) get() string {
	token := t.next()
	if token != "" && token[0] == '\\' {
		t.at++
	}
	if token != "" {
		t.at++
	}
	return token
}

// accept consumes the token ahead if it is the wanted one.
func (t *regexTokens) accept(want string) bool {
	if t.next() != want {
		return false
	}
	t.get()
	return true
}

// while consumes up to n tokens out of chars.
func (t *regexTokens) while(n int, chars string) string {
	var b strings.Builder
	for range n {
		token := t.next()
		if token == "" || !strings.Contains(chars, token) {
			break
		}
		b.WriteString(t.get())
	}
	return b.String()
}

func (t *regexTokens) digits() string { return t.while(len(t.runes), "0123456789") }

// until consumes a name and the terminator behind it.
func (p *regexParser) until(terminator, what string) string {
	var b strings.Builder
	for {
		token := p.tokens.get()
		switch {
		case token == "" && b.Len() == 0, token == terminator && b.Len() == 0:
			p.fail(0, "missing %s", what)
		case token == "":
			p.fail(0, "missing %s, unterminated name", terminator)
		case token == terminator:
			return b.String()
		}
		b.WriteString(token)
	}
}
