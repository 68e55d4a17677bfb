package config

import (
	"strings"
	"unicode"
)

// assignment is one `key = value` of a file, with its continuation lines.
type assignment struct {
	section string
	key     string
	value   string
	line    int
}

// scanner walks over the lines of one file. A value stays open until a line
// that does not continue it.
type scanner struct {
	file    string
	section string
	open    *assignment
	parts   []string
	done    []assignment
}

// scan reads oslo.config's INI dialect with exact line numbers. Its rules are
// those of oslo_config.iniparser, one deliberate difference apart: an assignment
// before any section is reported at its own line.
func scan(file, text string) ([]assignment, error) {
	s := &scanner{file: file}
	for i, line := range splitLines(text) {
		if err := s.line(i+1, strings.TrimRightFunc(line, isSpace)); err != nil {
			return nil, err
		}
	}
	s.flush()
	return s.done, nil
}

func (s *scanner) line(number int, line string) error {
	fail := func(reason string) error {
		return &ParseError{File: s.file, Line: number, Reason: reason, Text: line}
	}
	switch {
	case line == "":
		s.flush()
		return nil
	case line[0] == ' ' || line[0] == '\t':
		if s.open == nil {
			return fail("unexpected continuation line (a blank or comment line ends a value)")
		}
		s.parts = append(s.parts, strings.TrimLeftFunc(line, isSpace))
		return nil
	}
	s.flush()
	switch line[0] {
	case '[':
		if !strings.HasSuffix(line, "]") {
			return fail("invalid section (must end with ])")
		}
		if len(line) == len("[]") {
			return fail("empty section name")
		}
		s.section = line[1 : len(line)-1]
		return nil
	case '#', ';':
		return nil
	}
	key, value, found := cutAssignment(line)
	switch {
	case !found:
		return fail("no ':' or '=' found in assignment")
	case key == "":
		return fail("key cannot be empty")
	case s.section == "":
		return fail("section must be started before assignment")
	}
	s.open = &assignment{section: s.section, key: key, line: number}
	s.parts = append(s.parts[:0], value)
	return nil
}

// flush closes the open value.
func (s *scanner) flush() {
	if s.open == nil {
		return
	}
	s.open.value = strings.Join(s.parts, "\n")
	s.done = append(s.done, *s.open)
	s.open = nil
}

// cutAssignment splits at the first '=' or ':' and removes one pair of quotes
// around the value of this line.
func cutAssignment(line string) (key, value string, found bool) {
	i := strings.IndexAny(line, ":=")
	if i < 0 {
		return "", "", false
	}
	key = strings.TrimFunc(line[:i], isSpace)
	value = strings.TrimFunc(line[i+1:], isSpace)
	if value == "" || value[0] != '"' && value[0] != '\'' || value[0] != value[len(value)-1] {
		return key, value, true
	}
	// The lone quote is both ends of itself: oslo.config makes it empty.
	return key, value[1:max(1, len(value)-1)], true
}

// splitLines splits at "\n", "\r\n" and "\r", as Python opens text files.
func splitLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return strings.Split(text, "\n")
}

// isSpace is Python's str.isspace: Unicode's white space and the four ASCII
// separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
