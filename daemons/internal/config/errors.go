package config

import (
	"fmt"
	"strings"
)

// ParseError tells that a file is not in oslo.config's INI dialect.
type ParseError struct {
	// File is the path as it was given, Line counts from 1.
	File string
	Line int
	// Reason is the rule that was broken, Text the offending line.
	Reason string
	Text   string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("parse %s: at %s:%d, %s: %q", e.File, e.File, e.Line, e.Reason, e.Text)
}

// FileError tells that a file or directory named on the command line cannot be
// read.
type FileError struct {
	// Path is the file or directory.
	Path string
	// Flag is how it was asked for: --config-file or --config-dir; empty for
	// a file found by default.
	Flag string
	Err  error
}

func (e *FileError) Error() string {
	asked := "found by default"
	if e.Flag != "" {
		asked = "named by " + e.Flag
	}
	return fmt.Sprintf("read configuration %s (%s): %v; correct the path or make it readable for this user",
		e.Path, asked, unwrapPath(e.Err))
}

// Unwrap returns the system's error.
func (e *FileError) Unwrap() error { return e.Err }

// ValueError tells that an option's value is not valid.
type ValueError struct {
	// Option is the option's current name.
	Option Name
	// Origin is where the value stands; its As is the operator's spelling.
	Origin Origin
	// Value is the text as written, masked when the option is secret.
	Value string
	// Err says what is wrong with it.
	Err error
}

func (e *ValueError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "option %s", e.Option)
	if e.Origin.As != (Name{}) && e.Origin.As != e.Option {
		fmt.Fprintf(&b, " (given as %s)", e.Origin.As)
	}
	fmt.Fprintf(&b, " from %s is not valid: %v", e.Origin, e.Err)
	return b.String()
}

// Unwrap returns what is wrong with the value.
func (e *ValueError) Unwrap() error { return e.Err }

// ArgumentError tells that the command line cannot be understood.
type ArgumentError struct {
	// Argument is the offending argument.
	Argument string
	Reason   string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("command line argument %s: %s", e.Argument, e.Reason)
}

// unwrapPath drops the path that os puts into its errors: the message names it
// already.
func unwrapPath(err error) error {
	type unwrapper interface{ Unwrap() error }
	if u, ok := err.(unwrapper); ok {
		if inner := u.Unwrap(); inner != nil {
			return inner
		}
	}
	return err
}
