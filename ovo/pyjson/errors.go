package pyjson

import (
	"errors"
	"fmt"
)

// MaxDepth is the deepest nesting of objects and arrays that a [Reader] follows.
const MaxDepth = 200

// ErrDepth says that objects and arrays are nested deeper than [MaxDepth] levels.
var ErrDepth = errors.New("nested deeper than 200 levels")

// SyntaxError says where a text stops being JSON. Python's name for it is JSONDecodeError, a ValueError.
type SyntaxError struct {
	Offset int    // byte offset in the document that the Reader was made for
	Reason string // what was expected there
}

// Error tells the offset and what was expected.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

// PythonClass is the Python exception that a peer would raise.
func (e *SyntaxError) PythonClass() string { return "ValueError" }

// TextError says that a string cannot be held by a Go string or written as JSON: it is not UTF-8, or holds half a surrogate pair.
type TextError struct {
	Offset int    // byte offset in the document, or in the string when writing
	Reason string // what is wrong
}

// Error tells the offset and what is wrong.
func (e *TextError) Error() string {
	return fmt.Sprintf("unusable text at byte %d: %s", e.Offset, e.Reason)
}

// PythonClass is the Python exception that a peer would raise.
func (e *TextError) PythonClass() string { return "ValueError" }

// DuplicateKeyError says that an object holds a key twice. Python keeps the last value and drops the others without a word.
type DuplicateKeyError struct {
	Key string
}

// Error names the key.
func (e *DuplicateKeyError) Error() string { return fmt.Sprintf("duplicate key %q", e.Key) }

// PythonClass is the Python exception nearest in meaning; Python itself raises none.
func (e *DuplicateKeyError) PythonClass() string { return "ValueError" }
