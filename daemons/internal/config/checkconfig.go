package config

import (
	"errors"
	"fmt"
	"io"
)

// CheckConfig is the check-config sub-command: it prints the effective values to
// out and every problem, deprecated name and unknown option to problems, and
// returns the exit code: 0, or 1 when a daemon would refuse to start. extra adds
// the daemon's own checks as [Config.CheckAll] calls them; it may be nil.
func CheckConfig(schema *Schema, source Source, out, problems io.Writer, extra func(*Config) error) int {
	c, err := Read(schema, source)
	if err != nil {
		report(problems, "error", err)
		return 1
	}
	if err := c.Write(out); err != nil {
		report(problems, "error", err)
		return 1
	}
	for _, text := range c.Warnings() {
		fmt.Fprintln(problems, "warning:", text)
	}
	for _, e := range c.Unknown() {
		fmt.Fprintf(problems, "unknown: option %s at %s is ignored\n", e.Origin.As, e.Origin)
	}
	if err := c.CheckAll(extra); err != nil {
		report(problems, "error", err)
		return 1
	}
	return 0
}

// report prints each of the joined errors on its own line, also of those inside an
// error that adds no words to them.
func report(w io.Writer, level string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			report(w, level, e)
		}
		return
	}
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
		report(w, level, inner)
		return
	}
	fmt.Fprintf(w, "%s: %v\n", level, err)
}
