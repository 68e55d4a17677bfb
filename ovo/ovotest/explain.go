package ovotest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/ovo"
)

// notBumped is the report on a contract that changed without a new version.
func notBumped(r *ovo.Registry, name, got, want string) string {
	d := r.Highest(name).Definition()
	what, line := explain(r.Namespace(), d, want)
	if what == "" {
		return fmt.Sprintf("the contract of %s changed, but its version is still %s (%s, expected %s). What changed cannot be told from the fingerprint; the contract is now\n%s",
			name, d.Version, got, want, r.Highest(name).Contract())
	}
	return fmt.Sprintf("the contract of %s changed, but its version is still %s: %s. Add ovo.V(%s, %s) to the history of %s", name, d.Version, what, quoted(nextVersion(d.Version)), line, name)
}

// guess is a way in which an earlier contract may have been different.
type guess struct {
	what, line string
	undo       func(*ovo.Definition)
}

// explain looks for the change that leads from the expected fingerprint to the present one: one or two things that can be undone.
func explain(ns ovo.Namespace, d ovo.Definition, want string) (what, line string) {
	d.History = nil // only the contract counts
	guesses := guessesOf(d)
	for i, g := range guesses {
		if fingerprint(ns, d, g) == want {
			return g.what, g.line
		}
		for _, h := range guesses[:i] {
			if fingerprint(ns, d, g, h) == want {
				return h.what + " and " + g.what, h.line + ", " + g.line
			}
		}
	}
	return "", ""
}

func fingerprint(ns ovo.Namespace, d ovo.Definition, undo ...guess) string {
	d.Fields = slices.Clone(d.Fields)
	for _, g := range undo {
		g.undo(&d)
	}
	r, err := ovo.NewRegistry(ns, d.Class())
	if err != nil {
		return ""
	}
	return r.Highest(d.Name).Fingerprint()
}

func guessesOf(d ovo.Definition) []guess {
	var list []guess
	for _, s := range d.Signatures {
		name, _, _ := strings.Cut(s, "(")
		list = append(list, guess{
			what: "method " + name + " is new", line: "ovo.AddsMethod(" + quoted(name) + ")",
			undo: func(d *ovo.Definition) {
				d.Signatures = slices.DeleteFunc(slices.Clone(d.Signatures), func(t string) bool { return t == s })
			},
		})
	}
	for _, f := range d.Fields {
		list = append(list, guess{
			what: "field " + f.Name + " is new", line: "ovo.Adds(" + quoted(f.Name) + ")",
			undo: func(d *ovo.Definition) {
				d.Fields = slices.DeleteFunc(d.Fields, func(g ovo.FieldDefinition) bool { return g.Name == f.Name })
			},
		})
		list = append(list, guessesOfField(f)...)
	}
	return list
}

// guessesOfField undoes changes of one field.
func guessesOfField(f ovo.FieldDefinition) []guess {
	change := func(what, line string, undo func(*ovo.FieldDefinition)) guess {
		return guess{what, line, func(d *ovo.Definition) {
			for i := range d.Fields {
				if d.Fields[i].Name == f.Name {
					undo(&d.Fields[i])
				}
			}
		}}
	}
	rewrites := "ovo.Rewrites(…)"
	list := []guess{change(fmt.Sprintf("nullable of field %s is now %v", f.Name, f.Nullable), rewrites, func(f *ovo.FieldDefinition) { f.Nullable = !f.Nullable })}
	if f.HasDefault {
		list = append(list, change("field "+f.Name+" has a default now", rewrites, func(f *ovo.FieldDefinition) { f.HasDefault = false }))
	}
	spec := &f.Type
	for spec.Element != nil {
		spec = spec.Element
	}
	values := spec.Values.Strings()
	for n := 1; n < len(values); n++ {
		added := values[len(values)-n:]
		list = append(list, change(fmt.Sprintf("field %s has the new values %s", f.Name, strings.Join(added, ", ")),
			"ovo.AddsValue("+quoted(f.Name)+", "+quoteAll(added)+")",
			func(f *ovo.FieldDefinition) { f.Type = withoutLast(f.Type, n) }))
	}
	return list
}

// withoutLast takes the last n values of an enum away, in a container as well.
func withoutLast(spec ovo.TypeSpec, n int) ovo.TypeSpec {
	if spec.Element != nil {
		e := withoutLast(*spec.Element, n)
		spec.Element = &e
		return spec
	}
	spec.Values = spec.Values.WithoutLast(n)
	return spec
}

func quoteAll(values []string) string {
	quotes := make([]string, len(values))
	for i, v := range values {
		quotes[i] = quoted(v)
	}
	return strings.Join(quotes, ", ")
}

func quoted(s string) string { return strconv.Quote(s) }

// nextVersion is the version after a version: the next minor one.
func nextVersion(version string) string {
	head, last, ok := cutLast(version)
	n, err := strconv.Atoi(last)
	if !ok || err != nil {
		return version + ".1"
	}
	return head + "." + strconv.Itoa(n+1)
}

func cutLast(version string) (head, last string, ok bool) {
	i := strings.LastIndexByte(version, '.')
	if i < 0 {
		return "", "", false
	}
	return version[:i], version[i+1:], true
}

// compareVersions orders dotted integers; registered versions are nothing else.
func compareVersions(a, b string) int {
	numbers := func(v string) []int {
		var list []int
		for p := range strings.SplitSeq(v, ".") {
			n, _ := strconv.Atoi(p) // checked when the class was registered
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(numbers(a), numbers(b))
}
