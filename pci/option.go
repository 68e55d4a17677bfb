package pci

import (
	"fmt"
	"strings"
)

// Names of the options in section [pci] that this package reads.
const (
	// OptionDeviceSpec holds the inclusion rules.
	OptionDeviceSpec = "device_spec"
	// OptionPassthroughWhitelist is the deprecated name of OptionDeviceSpec,
	// accepted in 2027.1 and gone in 2027.2.
	OptionPassthroughWhitelist = "passthrough_whitelist"
	// OptionExcludeList holds the excluded addresses.
	OptionExcludeList = "exclude_list"
)

// OptionValue is one value of the multi-valued option [pci] device_spec.
type OptionValue struct {
	// Option is the name as the operator wrote it: OptionDeviceSpec or
	// OptionPassthroughWhitelist. Empty means OptionDeviceSpec.
	Option string
	// Text is the value after the configuration parser is done with it.
	Text string
	// Place is where the value stands, for messages: "cyborg.conf:12". Empty when unknown.
	Place string
}

// Location says where in the configuration a rule stands. The indexes count
// from 0 in data and from 1 in text.
type Location struct {
	// Option is the name as the operator wrote it.
	Option string
	// Value counts the values given under that name, in configuration order.
	Value int
	// Element is the place in the value's JSON list, or -1 when the value is a
	// single object.
	Element int
	// Place is that of the [OptionValue], or of the whole exclude list.
	Place string
}

// String gives "[pci] device_spec, value 2, element 1".
func (l Location) String() string {
	s := fmt.Sprintf("[pci] %s, value %d", l.Option, l.Value+1)
	if l.Element >= 0 {
		s += fmt.Sprintf(", element %d", l.Element+1)
	}
	return s
}

// EntryError is one thing wrong with one configured value.
type EntryError struct {
	Location
	// Pointer is the JSON pointer of the bad place inside the entry: "" is the
	// entry itself, "/address/bus" a member.
	Pointer string
	// Reason is a stable word for programs: "not_json", "not_object",
	// "not_list_or_object", "not_hex", "too_large", "regex", "exclude", or
	// "schema:" and the JSON Schema keyword.
	Reason string
	// Message says what is wrong and what to write instead.
	Message string
	// Entry is the value as configured.
	Entry string
}

func (e *EntryError) Error() string {
	var b strings.Builder
	if e.Place != "" {
		b.WriteString(e.Place + ": ")
	}
	b.WriteString(e.Location.String())
	if e.Pointer != "" {
		b.WriteString(", " + e.Pointer)
	}
	fmt.Fprintf(&b, ": %s (entry: %s)", e.Message, strings.ReplaceAll(e.Entry, "\n", " "))
	return b.String()
}

// ConfigError lists everything wrong with an option, in configuration order.
// Nothing of the option may be used.
type ConfigError struct {
	Entries []*EntryError
}

func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Entries))
	for i, entry := range e.Entries {
		lines[i] = entry.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single errors, for errors.As with an [*EntryError].
func (e *ConfigError) Unwrap() []error {
	errs := make([]error, len(e.Entries))
	for i, entry := range e.Entries {
		errs[i] = entry
	}
	return errs
}
