package arq

import "strings"

// maxFlat bounds the objects that [scanFlat] reads.
const maxFlat = 16

// scanFlat reads the objects that drivers really write, at a fifth of the
// cost of encoding/json: at most maxFlat members, values that are strings
// without escapes, integers, true, false or null, ASCII only, no key twice.
// ok is false for everything else, valid or not; the general reader decides
// then.
func scanFlat(s string) (members []member, ok bool) {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '{' {
		return nil, false
	}
	if i = skipSpace(s, i+1); i < len(s) && s[i] == '}' {
		return nil, skipSpace(s, i+1) == len(s)
	}
	members = make([]member, 0, strings.Count(s, ":"))
	for len(members) < maxFlat {
		end, ok := scanString(s, i)
		if !ok {
			return nil, false
		}
		key := s[i+1 : end-1]
		if i = skipSpace(s, end); i >= len(s) || s[i] != ':' {
			return nil, false
		}
		i = skipSpace(s, i+1)
		if end, ok = scanValue(s, i); !ok || hasKey(members, key) {
			return nil, false
		}
		members = append(members, member{key, s[i:end]})
		if i = skipSpace(s, end); i >= len(s) {
			return nil, false
		}
		switch s[i] {
		case ',':
			i = skipSpace(s, i+1)
		case '}':
			return members, skipSpace(s, i+1) == len(s)
		default:
			return nil, false
		}
	}
	return nil, false
}

func hasKey(members []member, key string) bool {
	for i := range members {
		if members[i].key == key {
			return true
		}
	}
	return false
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// scanString returns the index behind the closing quote of the string at i.
func scanString(s string, i int) (end int, ok bool) {
	if i >= len(s) || s[i] != '"' {
		return 0, false
	}
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\', c < 0x20, c >= 0x80:
			return 0, false
		}
	}
	return 0, false
}

// scanValue returns the index behind the scalar at i.
func scanValue(s string, i int) (end int, ok bool) {
	if i >= len(s) {
		return 0, false
	}
	if s[i] == '"' {
		return scanString(s, i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(s[i:], word) {
			return i + len(word), true
		}
	}
	return scanInteger(s, i)
}

// scanInteger reads -?(0|[1-9][0-9]*) and nothing that goes on as a fraction.
func scanInteger(s string, i int) (end int, ok bool) {
	if s[i] == '-' {
		i++
	}
	first := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == first || s[first] == '0' && i > first+1 {
		return 0, false
	}
	if i < len(s) && (s[i] == '.' || s[i] == 'e' || s[i] == 'E') {
		return 0, false
	}
	return i, true
}
