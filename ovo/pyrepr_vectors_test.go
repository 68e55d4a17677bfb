package ovo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// runRepr runs the cases of python_repr.json.
func runRepr(t *testing.T) tally {
	t.Helper()
	file := loadVectors(t, "python_repr.json")
	var count tally
	for i, c := range items(at(file, "cases")) {
		name := fmt.Sprintf("python_repr.json case %d", i)
		if annotation := annotationOf(c); annotation != "" {
			problem := ""
			if got := annotationRepr(annotation); got != text(c, "repr") {
				problem = fmt.Sprintf("annotation %s: want %s, got %s", annotation, text(c, "repr"), got)
			}
			count.record(t, name, problem)
			continue
		}
		v, err := untag(at(c, "value"), nil)
		if errors.Is(err, errPythonOnly) {
			count.skipped++
			continue
		}
		switch {
		case err != nil:
			count.record(t, name, err.Error())
		case pyRepr(v) != text(c, "repr"):
			count.record(t, name, fmt.Sprintf("repr: want %s, got %s", text(c, "repr"), pyRepr(v)))
		case pyStr(v) != text(c, "str"):
			count.record(t, name, fmt.Sprintf("str: want %s, got %s", text(c, "str"), pyStr(v)))
		case pyTypeName(v) != text(c, "type"):
			count.record(t, name, fmt.Sprintf("type: want %s, got %s", text(c, "type"), pyTypeName(v)))
		default:
			count.record(t, name, "")
		}
	}
	escaped := map[rune]bool{}
	for _, r := range items(at(file, "non_printable_ranges")) {
		for c := items(r)[0].(int64); c <= items(r)[1].(int64); c++ {
			escaped[rune(c)] = true
		}
	}
	for c := rune(0); c <= unicode.MaxRune && len(escaped) > 0; c++ {
		if printable(c) == escaped[c] {
			t.Errorf("U+%04X: printable is %v", c, printable(c))
		}
	}
	return count
}

// annotationOf returns how a class or generic type is written in a method signature, the one place where we meet one.
func annotationOf(c any) string {
	py := text(c, "value", "$py")
	if name, ok := strings.CutPrefix(py, "<class '"); ok && py != "<class 'NoneType'>" {
		return strings.TrimSuffix(name, "'>")
	}
	if text(c, "type") == "GenericAlias" {
		return py
	}
	return ""
}
