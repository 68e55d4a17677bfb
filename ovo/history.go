package ovo

// History is the change log of a class, oldest version first. The class's version is that of its last entry, and what must happen to an object
// that is written for an older peer follows from the entries above the peer's version, newest first.
type History []Entry

// Entry is one version of a class and what it brought. [V] makes it.
type Entry struct {
	version string
	changes []Change
}

// V is the entry of a version: dotted numbers, such as "1.2".
func V(version string, changes ...Change) Entry { return Entry{version, changes} }

// Version is the version of the entry.
func (e Entry) Version() string { return e.version }

// Change is one thing that a version brought.
type Change struct {
	kind   changeKind
	name   string   // field or method
	names  []string // fields of addsFields
	to     string   // new name of a field, version of a part
	values []string // enum values
	fn     func(*Data) error
}

type changeKind uint8

const (
	addsFields changeKind = iota
	addsValues
	addsMethod
	renamesField
	membersAt
	partAt
	rewritesData
)

// Adds says that the version brought these fields. They are left out for older peers.
func Adds(fields ...string) Change { return Change{kind: addsFields, names: fields} }

// AddsValue says that the version brought these values of an enum field. An object holding one cannot be written for older peers: *ActionError.
func AddsValue[T ~string](field string, values ...T) Change {
	c := Change{kind: addsValues, name: field}
	for _, v := range values {
		c.values = append(c.values, string(v))
	}
	return c
}

// AddsMethod says that the version brought a remotable method. It changes nothing on the wire; the registry checks that the method exists.
func AddsMethod(name string) Change { return Change{kind: addsMethod, name: name} }

// Renames says that the version renamed a field. Older peers get it under its old name.
func Renames(old, name string) Change { return Change{kind: renamesField, name: old, to: name} }

// Members says that from this version on the members of a list object have the given version: Python's child_versions.
func Members(version string) Change { return Change{kind: membersAt, to: version} }

// Part says that from this version on the object in a field has the given version: Python's obj_relationships. A peer older than the field's first Part gets no such
// field. It is only asked when no manifest is at hand.
func Part(field, version string) Change { return Change{kind: partAt, name: field, to: version} }

// Rewrites says that the version changed the data in a way that only code can undo. The function gets the data as it would be written, after the
// conversion of nested objects and of all newer versions, and makes it that of the version before.
func Rewrites(undo func(*Data) error) Change { return Change{kind: rewritesData, fn: undo} }
