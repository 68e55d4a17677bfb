package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var versionForm = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

// versionCap accepts one of the RPC versions that the client supports. Caps are
// numeric: finding them out by "auto" is future work of the specification.
func versionCap(allowed []string) func(string) error {
	list := strings.Join(allowed, ", ")
	return func(text string) error {
		switch {
		case strings.EqualFold(text, "auto"):
			return fmt.Errorf("%q is not supported; set the version by hand, allowed are %s", text, list)
		case !versionForm.MatchString(text):
			return fmt.Errorf("%q is not a version of the form MAJOR.MINOR, allowed are %s", text, list)
		case !slices.Contains(allowed, text):
			return fmt.Errorf("version %s is not supported by this client, allowed are %s", text, list)
		}
		return nil
	}
}
