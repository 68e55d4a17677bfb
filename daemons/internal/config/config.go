package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Config is what was read. It does not change; its methods are safe for
// concurrent use.
type Config struct {
	schema   *Schema
	source   Source
	line     commandLine
	files    []string
	layers   []layer
	resolved []resolved
	unknown  []Entry
	warnings []string
}

// resolved is the outcome for one option: a converted value or an error.
type resolved struct {
	found []setting
	value any
	err   error
	state state
}

// state guards against options that refer to themselves by $name.
type state int

const (
	unread state = iota
	reading
	read
)

// Entry is one occurrence of a multi-valued option, or of an option nobody
// declared.
type Entry struct {
	// Value is the text after expansion of $name.
	Value string
	// Origin tells where it stands; Origin.As is the operator's spelling.
	Origin Origin
}

// Load reads the configuration and checks all of it. The error joins every
// problem found: *[ArgumentError], *[FileError], *[ParseError], *[ValueError].
func Load(schema *Schema, source Source) (*Config, error) {
	c, err := Read(schema, source)
	if err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c, nil
}

// Read reads the configuration; problems with single values are left to
// [Config.Check]. The error joins every *[ArgumentError], *[FileError] and
// *[ParseError].
func Read(schema *Schema, source Source) (*Config, error) {
	line, err := parseArgs(schema, source.Args)
	if err != nil {
		return nil, err
	}
	c := &Config{schema: schema, source: source, line: line}
	places, problems := source.files(line)
	for _, p := range places {
		if err := c.readFile(p); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	c.resolve()
	c.findUnknown()
	return c, nil
}

func (c *Config) readFile(p place) error {
	content, err := os.ReadFile(p.path)
	if err != nil {
		flag := p.flag
		if flag != "" {
			flag = "--" + flag
		}
		return &FileError{Path: p.path, Flag: flag, Err: err}
	}
	parsed, err := parseFile(p.path, string(content))
	if err != nil {
		return err
	}
	c.files = append(c.files, p.path)
	c.layers = append(c.layers, newLayer(p.path, parsed))
	return nil
}

func (c *Config) resolve() {
	c.resolved = make([]resolved, len(c.schema.options))
	for i, d := range c.schema.options {
		r := &c.resolved[i]
		r.found, r.err = c.find(d)
		c.warnings = append(c.warnings, d.deprecations(r.found)...)
	}
	for i := range c.resolved {
		c.convert(i)
	}
}

func (c *Config) findUnknown() {
	known := map[Name]bool{}
	for _, d := range c.schema.options {
		for _, n := range d.names() {
			known[n] = true
		}
	}
	for _, l := range c.layers {
		var found []Entry
		for n, settings := range l {
			if known[n] {
				continue
			}
			for _, s := range settings {
				found = append(found, Entry{Value: s.text, Origin: s.origin})
			}
		}
		slices.SortFunc(found, func(a, b Entry) int { return a.Origin.Line - b.Origin.Line })
		c.unknown = append(c.unknown, found...)
	}
}

// Check returns every problem with the values of the options in use, joined;
// options that are [Option.Inert] here are left alone.
func (c *Config) Check() error {
	var problems []error
	for i, d := range c.schema.options {
		r := c.resolved[i]
		switch {
		case d.Inert:
		case r.err != nil:
			problems = append(problems, r.err)
		case d.Required && r.value == nil:
			problems = append(problems, &ValueError{
				Option: d.name, Origin: Origin{Place: FromDefault},
				Err: errors.New("a value is required"),
			})
		}
	}
	return errors.Join(problems...)
}

// CheckAll joins what [Config.Check] finds and what a daemon's own checks find beside it; extra may be nil. An option
// whose value is not valid reads as unset there.
func (c *Config) CheckAll(extra func(*Config) error) error {
	problems := c.Check()
	if extra != nil {
		problems = errors.Join(problems, extra(c))
	}
	return problems
}

// Args returns the words of the command line that are no options: the
// sub-command.
func (c *Config) Args() []string { return slices.Clone(c.line.rest) }

// Files returns the files that were read, in order of application.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// Warnings returns the deprecation warnings in oslo.config's words, one for each
// deprecated name in use.
func (c *Config) Warnings() []string { return slices.Clone(c.warnings) }

// Unknown returns the settings in the files that no option declares, in the
// order in which they stand there.
func (c *Config) Unknown() []Entry { return slices.Clone(c.unknown) }

// Value returns the converted value of an option: string, int64 (or *big.Int
// beyond it), float64, bool, []string or map[string]string, nil when unset. The
// error is a *[ValueError]; an option nobody declared is an error as well.
func (c *Config) Value(group, option string) (any, error) {
	i, ok := c.schema.index[normalName(orDefault(group), option)]
	if !ok {
		return nil, fmt.Errorf("option %s is not declared", Name{group, option})
	}
	return c.resolved[i].value, c.resolved[i].err
}

// IsSet reports whether the option has a value from anywhere but its default.
func (c *Config) IsSet(group, option string) bool {
	return len(c.resolved[c.at(group, option)].found) > 0
}

// Origin tells where the value of a single-valued option comes from.
func (c *Config) Origin(group, option string) Origin {
	found := c.resolved[c.at(group, option)].found
	if len(found) == 0 {
		return Origin{Place: FromDefault, As: normalName(group, option)}
	}
	return found[len(found)-1].origin
}

// String returns the text of an option, empty when unset. Like its siblings it
// panics for an option that is not declared: that is a mistake of the program.
func (c *Config) String(group, option string) string { return get[string](c, group, option) }

// Bool returns a Bool, false when unset.
func (c *Config) Bool(group, option string) bool { return get[bool](c, group, option) }

// Float returns a Float, 0 when unset.
func (c *Config) Float(group, option string) float64 { return get[float64](c, group, option) }

// List returns the items of a List or the values of a MultiStr, nil when unset.
func (c *Config) List(group, option string) []string { return get[[]string](c, group, option) }

// Dict returns the pairs of a Dict, nil when unset.
func (c *Config) Dict(group, option string) map[string]string {
	return get[map[string]string](c, group, option)
}

// Int returns an Int or a Port, 0 when unset. Numbers beyond 64 bits, which
// oslo.config accepts, come out as the largest of their sign.
func (c *Config) Int(group, option string) int64 {
	return clampInt(c.resolved[c.at(group, option)].value)
}

// Seconds returns a number of seconds as a duration, 0 when unset.
func (c *Config) Seconds(group, option string) time.Duration {
	seconds, ok := c.resolved[c.at(group, option)].value.(float64)
	if !ok {
		seconds = float64(c.Int(group, option))
	}
	// Three hundred years stand for every longer time: the duration would wrap.
	const limit = float64(1<<63-1) / float64(time.Second)
	if seconds >= limit {
		return time.Duration(1<<63 - 1)
	}
	return time.Duration(seconds * float64(time.Second))
}

// Entries returns each occurrence of a MultiStr with its place and the name it
// was given under; the default's values have no file.
func (c *Config) Entries(group, option string) []Entry {
	r := c.resolved[c.at(group, option)]
	values, _ := r.value.([]string)
	out := make([]Entry, len(values))
	for i, v := range values {
		out[i] = Entry{Value: v, Origin: Origin{Place: FromDefault, As: normalName(group, option)}}
		if len(r.found) > 0 {
			out[i].Origin = r.found[i].origin
		}
	}
	return out
}

func get[T any](c *Config, group, option string) T {
	value, _ := c.resolved[c.at(group, option)].value.(T)
	return value
}

func (c *Config) at(group, option string) int {
	i, ok := c.schema.index[normalName(orDefault(group), option)]
	if !ok {
		panic(fmt.Sprintf("config: option %s is not declared", Name{group, option}))
	}
	return i
}
