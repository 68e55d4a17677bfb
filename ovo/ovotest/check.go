package ovotest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
)

// Check reports everything that is wrong with the contract of r: fingerprints that are not those of want, versions of a history that cannot be written
// or read back, and nested objects that are declared at another version than their class has. Each class is walked down with an empty object, with one that
// has its defaults, and with the samples of its class.
func Check(t testing.TB, r *ovo.Registry, want map[string]string, samples ...ovo.Object) {
	t.Helper()
	Fingerprints(t, r, want)
	Walk(t, r, samples...)
	Relationships(t, r)
}

// Fingerprints compares the fingerprints of all classes of r with want.
func Fingerprints(t testing.TB, r *ovo.Registry, want map[string]string) {
	t.Helper()
	got := r.Fingerprints()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		expected, known := want[name]
		switch {
		case !known:
			t.Errorf("%s is not expected; add %q: %q", name, name, got[name])
		case got[name] == expected:
		case versionOf(got[name]) != versionOf(expected):
			t.Errorf("%s is %s, expected %s: if the new version is meant, put its fingerprint into the map", name, got[name], expected)
		default:
			t.Error(notBumped(r, name, got[name], expected))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, registered := got[name]; !registered {
			t.Errorf("%s is expected but not registered", name)
		}
	}
}

func versionOf(fingerprint string) string {
	version, _, _ := strings.Cut(fingerprint, "-")
	return version
}

// Walk writes objects of every class at every version of its history and reads them back.
func Walk(t testing.TB, r *ovo.Registry, samples ...ovo.Object) {
	t.Helper()
	for _, name := range r.Names() {
		c := r.Highest(name)
		objects := make([]ovo.Object, 0, 2)
		for _, defaults := range []bool{false, true} {
			o, err := fresh(r, c, defaults)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			objects = append(objects, o)
		}
		for _, s := range samples {
			if v, err := r.View(s); err == nil && v.Class() == c {
				objects = append(objects, s)
			}
		}
		for _, o := range objects {
			walk(t, r, c, o)
		}
	}
}

func fresh(r *ovo.Registry, c *ovo.Class, defaults bool) (ovo.Object, error) {
	o, err := c.New()
	if err != nil || !defaults {
		return o, err
	}
	v, err := r.View(o)
	if err != nil {
		return nil, err
	}
	return o, v.SetDefaults()
}

func walk(t testing.TB, r *ovo.Registry, c *ovo.Class, o ovo.Object) {
	t.Helper()
	manifest, err := r.Manifest(c.Name())
	if err != nil {
		t.Errorf("%s: %v", c.Name(), err)
		return
	}
	for _, e := range c.Definition().History {
		data, err := r.AppendAt(nil, o, e.Version(), manifest)
		if err != nil {
			t.Errorf("%s cannot be written at %s: %v", c.Name(), e.Version(), err)
			continue
		}
		back, err := r.Decode(data)
		if err != nil {
			t.Errorf("%s, written at %s, cannot be read: %v", c.Name(), e.Version(), err)
			continue
		}
		if got := ovo.VersionOf(back); got != e.Version() {
			t.Errorf("%s, written at %s, reads as %s", c.Name(), e.Version(), got)
		}
	}
}

// Relationships checks the versions that classes declare for the objects in their fields and for their members: they never fall, and the last one is
// the version that the other class has.
func Relationships(t testing.TB, r *ovo.Registry) {
	t.Helper()
	for _, name := range r.Names() {
		d := r.Highest(name).Definition()
		for _, f := range d.Fields {
			if d.List && f.Name == "objects" {
				checkPairs(t, r, d, f, d.ChildVersions, "Members(")
			}
			checkPairs(t, r, d, f, d.Relationships[f.Name], "Part("+quoted(f.Name)+", ")
		}
	}
}

// checkPairs checks one table of versions.
func checkPairs(t testing.TB, r *ovo.Registry, d ovo.Definition, f ovo.FieldDefinition, pairs []ovo.VersionPair, change string) {
	t.Helper()
	if len(pairs) == 0 {
		return
	}
	spec := f.Type
	if spec.Element != nil {
		spec = *spec.Element
	}
	child := r.Highest(spec.Object)
	if child == nil {
		t.Errorf("%s.%s: class %s is not registered", d.Name, f.Name, spec.Object)
		return
	}
	for i := 1; i < len(pairs); i++ {
		if compareVersions(pairs[i].Child, pairs[i-1].Child) < 0 {
			t.Errorf("%s.%s: %s at %s follows %s at %s", d.Name, f.Name, pairs[i].Child, pairs[i].Own, pairs[i-1].Child, pairs[i-1].Own)
		}
	}
	if last := pairs[len(pairs)-1]; last.Child != child.Version() {
		t.Errorf("%s %s declares %s %s in %s, but %s is at %s; add ovo.V(%s, ovo.%s%s))",
			d.Name, d.Version, child.Name(), last.Child, f.Name, child.Name(), child.Version(), quoted(nextVersion(d.Version)), change, quoted(child.Version()))
	}
}
