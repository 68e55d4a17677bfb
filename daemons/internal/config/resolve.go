package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is the kind of place a value came from.
type Place string

// The places, from the highest to the lowest precedence.
const (
	FromEnvironment Place = "environment"
	FromCommandLine Place = "command line"
	FromFile        Place = "file"
	FromDefault     Place = "default"
)

// Origin tells where a value came from.
type Origin struct {
	Place Place
	// File and Line are set for FromFile; Line counts from 1.
	File string
	Line int
	// As is the option as the operator wrote it, a deprecated name perhaps.
	As Name
}

// String is the text used in messages: "cyborg.conf:12", "the environment".
func (o Origin) String() string {
	switch o.Place {
	case FromFile:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	case FromEnvironment:
		return "environment variable " + environmentName(o.As)
	case FromCommandLine:
		return "the command line"
	}
	return "the default"
}

// setting is one text found for an option.
type setting struct {
	text   string
	origin Origin
}

// layer is the content of one file, by normal name, in file order.
type layer map[Name][]setting

func newLayer(file string, parsed []assignment) layer {
	l := layer{}
	for _, a := range parsed {
		n := normalName(a.section, a.key)
		l[n] = append(l[n], setting{a.value, Origin{
			Place: FromFile, File: file, Line: a.line, As: Name{a.section, a.key},
		}})
	}
	return l
}

// find returns the settings of an option by precedence; none means that the
// default applies.
func (c *Config) find(d declared) ([]setting, error) {
	variable := environmentName(d.name)
	if text, ok := c.source.lookupEnv(variable); ok {
		s := setting{text, Origin{Place: FromEnvironment, As: d.name}}
		if d.Kind == MultiStr {
			// oslo.config splits such a value into its characters: nobody means that.
			return []setting{s}, errors.New("a multi-valued option cannot be set by an environment variable; use a file")
		}
		return []setting{s}, nil
	}
	if texts := c.line.values[d.name]; len(texts) > 0 {
		var out []setting
		for _, text := range texts {
			out = append(out, setting{text, Origin{Place: FromCommandLine, As: d.name}})
		}
		return lastUnlessMulti(d, out), nil
	}
	if d.Kind == MultiStr {
		return c.findAll(d), nil
	}
	return c.findLast(d), nil
}

// findLast takes the last file that has the option under any name; within it the
// current name wins over a deprecated one, and the last occurrence of it.
func (c *Config) findLast(d declared) []setting {
	for _, l := range slices.Backward(c.layers) {
		for _, n := range d.names() {
			if found := l[n]; len(found) > 0 {
				return found[len(found)-1:]
			}
		}
	}
	return nil
}

// findAll concatenates every occurrence: file by file, and within a file the
// deprecated names before the current one (oslo.config's order).
func (c *Config) findAll(d declared) []setting {
	var out []setting
	for _, l := range c.layers {
		for _, n := range slices.Backward(d.names()) {
			out = append(out, l[n]...)
		}
	}
	return out
}

// names are the current name and the deprecated ones.
func (d declared) names() []Name { return append([]Name{d.name}, d.former...) }

func lastUnlessMulti(d declared, found []setting) []setting {
	if d.Kind == MultiStr {
		return found
	}
	return found[len(found)-1:]
}

func environmentName(n Name) string {
	return "OS_" + strings.ToUpper(n.Group) + "__" + strings.ToUpper(n.Option)
}

// deprecations are the warnings of oslo.config about the settings in use, each
// once.
func (d declared) deprecations(found []setting) []string {
	var out []string
	for _, s := range found {
		used := normalName(s.origin.As.Group, s.origin.As.Option)
		if used != d.name {
			out = append(out, fmt.Sprintf("Deprecated: Option %q from group %q is deprecated. Use option %q from group %q.",
				used.Option, used.Group, d.name.Option, d.name.Group))
		}
	}
	if d.Removal != "" && len(found) > 0 {
		out = append(out, fmt.Sprintf("Deprecated: Option %q from group %q is deprecated for removal (%s).  Its value may be silently ignored in the future.",
			d.name.Option, d.name.Group, d.Removal))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
