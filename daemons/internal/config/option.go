package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Kind is the type of an option's value, in oslo.config's words.
type Kind string

// The kinds of values. Str is the zero value's meaning as well.
const (
	Str      Kind = "str"
	Int      Kind = "int"
	Float    Kind = "float"
	Bool     Kind = "bool"
	List     Kind = "list"
	MultiStr Kind = "multistr"
	Dict     Kind = "dict"
	Port     Kind = "port"
	HostAddr Kind = "hostaddr"
	URI      Kind = "uri"
)

// Name is the address of an option: its group and its name.
type Name struct {
	// Group is the section; empty means the group of the option at hand.
	Group string
	// Option is the name; '-' and '_' are the same. Empty means the name of
	// the option at hand.
	Option string
}

// Option declares one setting.
type Option struct {
	// Group is the section, DEFAULT when empty.
	Group string
	// Name is the option's name; '-' and '_' are the same.
	Name string
	// Kind is the type of the value, [Str] when empty.
	Kind Kind
	// Default is the value without any setting, as text; nil means unset. A
	// []string serves lists and multi-valued options.
	Default any
	// Deprecated are former names, still read, with a warning.
	Deprecated []Name
	// Removal says why the option will go; empty means it stays.
	Removal string
	// Help is one line for documentation.
	Help string
	// Flag is the name on the command line without dashes; empty means that
	// there is none.
	Flag string
	// Secret values are masked wherever the configuration is shown.
	Secret bool
	// Mutable options are applied when the files are read again on HUP.
	Mutable bool
	// Required options must have a value.
	Required bool
	// Ours marks options that the Python services do not have.
	Ours bool
	// Inert options are the peer's and have no effect here: their values are
	// not checked, so that they cannot stop a daemon that ignores them.
	Inert bool

	// Min and Max bound numbers, both included; nil means no bound.
	Min, Max *float64
	// Choices are the values allowed; empty allows all.
	Choices []string
	// IgnoreCase compares Choices and Pattern without case.
	IgnoreCase bool
	// Pattern is a regular expression that must be found in the value.
	Pattern string
	// MaxLength bounds the number of characters; 0 means no bound.
	MaxLength int
	// Bounds asks for a list between brackets or a dict between braces.
	Bounds bool
	// Quotes removes one pair of quotes from a value or a list's item.
	Quotes bool
	// Validate refuses values by a rule of its own; its error completes the
	// sentence "… is not valid: …".
	Validate func(text string) error
}

// Schema is a checked set of options. The zero value declares nothing.
type Schema struct {
	options []declared
	index   map[Name]int
}

// declared is an option with its names in normal form.
type declared struct {
	Option
	name    Name
	former  []Name
	pattern *regexp.Regexp
}

// NewSchema checks the declarations and returns them as one set. An option
// declared twice, a pattern that is no regular expression or a default that its
// own type refuses is an error; all of them are reported.
func NewSchema(tables ...[]Option) (*Schema, error) {
	s := &Schema{index: map[Name]int{}}
	var problems []error
	for _, table := range tables {
		for _, o := range table {
			d, err := declare(o)
			if err == nil {
				if _, twice := s.index[d.name]; twice {
					err = fmt.Errorf("option %s is declared twice", d.name)
				}
			}
			if err != nil {
				problems = append(problems, err)
				continue
			}
			s.index[d.name] = len(s.options)
			s.options = append(s.options, d)
		}
	}
	return s, errors.Join(problems...)
}

// Options returns the declarations in order.
func (s *Schema) Options() []Option {
	out := make([]Option, len(s.options))
	for i, d := range s.options {
		out[i] = d.Option
	}
	return out
}

// String returns the usual spelling: [group] option.
func (n Name) String() string { return "[" + n.Group + "] " + n.Option }

func declare(o Option) (declared, error) {
	if o.Kind == "" {
		o.Kind = Str
	}
	if o.Group == "" {
		o.Group = defaultGroup
	}
	d := declared{Option: o, name: normalName(o.Group, o.Name)}
	for _, n := range o.Deprecated {
		group, option := n.Group, n.Option
		if group == "" {
			group = o.Group
		}
		if option == "" {
			option = o.Name
		}
		d.former = append(d.former, normalName(group, option))
	}
	if o.Pattern == "" {
		return d, nil
	}
	expr := o.Pattern
	if o.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return d, fmt.Errorf("pattern of option %s: %w", d.name, err)
	}
	d.pattern = re
	return d, nil
}

// defaultGroup is the one group whose name is compared with case.
const defaultGroup = "DEFAULT"

func normalName(group, option string) Name {
	return Name{Group: normalGroup(group), Option: normalOption(option)}
}

func normalGroup(group string) string {
	if group == defaultGroup {
		return group
	}
	return strings.ToLower(group)
}

func normalOption(option string) string { return strings.ReplaceAll(option, "-", "_") }

// orDefault lets an empty group stand for DEFAULT.
func orDefault(group string) string {
	if group == "" {
		return defaultGroup
	}
	return group
}
