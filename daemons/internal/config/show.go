package config

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// mask stands for every secret that is set.
const mask = "****"

// Setting is one effective value as it may be shown.
type Setting struct {
	Name Name
	// Text is the value, masked when secret; lists are joined with commas, each
	// value of a multi-valued option is a Setting of its own.
	Text string
	// Unset tells apart no value from an empty one.
	Unset bool
	// Origin tells where the value comes from.
	Origin Origin
	// Inert tells that the daemons ignore the option.
	Inert bool
	// Invalid tells that there is no value to show because it is not valid.
	Invalid bool
}

// Effective returns every declared option with its value, secrets masked,
// ordered by group (DEFAULT first) and name.
func (c *Config) Effective() []Setting {
	var out []Setting
	for i, d := range c.schema.options {
		out = append(out, c.show(i, d)...)
	}
	slices.SortStableFunc(out, func(a, b Setting) int { return compareNames(a.Name, b.Name) })
	return out
}

func (c *Config) show(i int, d declared) []Setting {
	r := c.resolved[i]
	one := Setting{Name: d.name, Origin: c.Origin(d.name.Group, d.name.Option), Inert: d.Inert}
	values, list := r.value.([]string)
	switch {
	case r.err != nil:
		one.Text, one.Invalid = "not valid", true
	case r.value == nil:
		one.Unset = true
	case d.Secret && pythonText(r.value) != "":
		one.Text = mask
	case d.Kind == MultiStr && len(values) == 0:
		one.Unset = true
	case d.Kind == MultiStr:
		var out []Setting
		for _, e := range c.Entries(d.name.Group, d.name.Option) {
			out = append(out, Setting{Name: d.name, Text: e.Value, Origin: e.Origin, Inert: d.Inert})
		}
		return out
	case list:
		one.Text = strings.Join(values, ",")
	case d.Kind == Bool:
		one.Text = strings.ToLower(pythonText(r.value))
	default:
		one.Text = pythonText(r.value)
	}
	return []Setting{one}
}

func compareNames(a, b Name) int {
	if a.Group != b.Group {
		switch defaultGroup {
		case a.Group:
			return -1
		case b.Group:
			return 1
		}
		return strings.Compare(a.Group, b.Group)
	}
	return strings.Compare(a.Option, b.Option)
}

// Write prints the effective values as a configuration file, each with its
// origin, secrets masked, options without value as comments.
func (c *Config) Write(w io.Writer) error {
	group := ""
	for _, s := range c.Effective() {
		if s.Name.Group != group {
			group = s.Name.Group
			if _, err := fmt.Fprintf(w, "[%s]\n", group); err != nil {
				return err
			}
		}
		line := fmt.Sprintf("%s = %s", s.Name.Option, strings.ReplaceAll(s.Text, "\n", "\n    "))
		if s.Unset {
			line = fmt.Sprintf("#%s is unset", s.Name.Option)
		}
		if s.Origin.Place != FromDefault {
			line = fmt.Sprintf("# %s\n%s", s.Origin, line)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Change is an option whose value differs between two readings.
type Change struct {
	Name Name
	// Old and New are the values as they may be shown.
	Old, New string
	// Mutable tells that the change can be applied without a restart.
	Mutable bool
}

// Changes compares two readings of the same schema.
func Changes(before, after *Config) []Change {
	var out []Change
	for i, d := range before.schema.options {
		old, now := pythonText(before.resolved[i].value), pythonText(after.resolved[i].value)
		if d.Inert || old == now {
			continue
		}
		if d.Secret {
			old, now = mask, mask
		}
		out = append(out, Change{Name: d.name, Old: old, New: now, Mutable: d.Mutable})
	}
	return out
}
