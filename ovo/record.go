package ovo

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Definition describes a class as data. It serves where classes are only known at run time, in tools and in conformance tests; its objects are [*Record]
// values. [Class.Definition] gives the definition of any class.
type Definition struct {
	// Name is the class name on the wire.
	Name string
	// Version is the class's version; "" means that of the last entry of History.
	Version string
	// Namespace is the class's own; the zero value means the registry's.
	Namespace Namespace
	// Bases are the names of base classes, nearest first, that fields with subclasses may ask for.
	Bases []string
	// List makes it a list object. Its members are in the field "objects".
	List bool
	// Iterable says that iteration over an object yields the names of its set fields: Python's dict-compatible objects.
	Iterable bool
	// Fields in the order of the wire, at most 64.
	Fields []FieldDefinition
	// History holds the rules for older versions. Entries above Version apply to every conversion.
	History History
	// Relationships give the versions of the objects in a field by own version: Python's obj_relationships, in addition to the Part entries of the history.
	Relationships map[string][]VersionPair
	// ChildVersions give the versions of a list object's members by own version, in the order in which Python would look at them, in addition to the Members
	// entries of the history.
	ChildVersions []VersionPair
	// Methods is a struct of functions, the remotable methods; nil for none.
	Methods reflect.Type
	// Signatures are the Python signatures of remotable methods that have no Go functions here: part of the contract, but not callable.
	Signatures []string
}

// FieldDefinition describes a field.
type FieldDefinition struct {
	Name       string
	Type       TypeSpec
	Nullable   bool
	ReadOnly   bool
	HasDefault bool
	Default    any // a value of the value model, coerced on each use
	// Plain leaves the values of an enum out of the fingerprint.
	Plain bool
	// Opaque keeps conversion, manifests and recursive resets out of a field of objects, as a plain Field of Python does; ObjectField and ListOfObjectsField are
	// not opaque.
	Opaque bool
}

// VersionPair says that from version Own of a class on, a nested object has version Child.
type VersionPair struct{ Own, Child string }

// Class declares the class that the definition describes.
func (d Definition) Class() *Class {
	c := &Class{name: d.Name, version: d.Version, isList: d.List, iterable: d.Iterable, methods: d.Methods, bases: slices.Clone(d.Bases), history: slices.Clone(d.History)}
	if d.Namespace != (Namespace{}) {
		c.namespace, c.ownSpace = d.Namespace, true
	}
	for _, line := range d.Signatures {
		sig, err := parseSignature(line)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		c.signatures = append(c.signatures, sig)
	}
	seen := map[string]bool{}
	for i, fd := range d.Fields {
		if fd.Name == "" || seen[fd.Name] {
			c.fail("field %d: the name %q is empty or used twice", i, fd.Name)
		}
		seen[fd.Name] = true
		c.fields = append(c.fields, fd.field(i, d.List))
	}
	if d.List && !seen[objectsField] {
		c.fail("a list object needs the field %s", objectsField)
	}
	c.relations = map[string][]versionPair{}
	for name, pairs := range d.Relationships {
		c.relations[name] = c.pairs(pairs)
	}
	c.children = c.pairs(d.ChildVersions)
	c.finish()
	return c
}

func (c *Class) pairs(pairs []VersionPair) []versionPair {
	var list []versionPair
	for _, p := range pairs {
		tuple, err := parseTuple(p.Own)
		if err != nil {
			c.fail("version %q: %w", p.Own, err)
		}
		list = append(list, versionPair{p.Own, tuple, p.Child})
	}
	return list
}

func (d FieldDefinition) field(i int, list bool) field {
	f := field{name: d.Name, spec: cloneSpec(d.Type), offset: uintptr(i) * recordCellSize, always: list && d.Name == objectsField}
	f.state = f.offset + recordStateOffset
	f.nullable, f.readOnly, f.plain, f.hasDefault, f.def = d.Nullable, d.ReadOnly, d.Plain, d.HasDefault, copyValue(d.Default)
	f.bubbles = d.Type.Name == "Object"
	switch {
	case d.Opaque:
	case d.Type.Name == "Object":
		f.kind = kindObject
	case d.Type.Name == "List" && d.Type.Element != nil && d.Type.Element.Name == "Object":
		f.kind = kindObjects
	}
	return f
}

// Definition returns the class as data. A class made of it has [*Record] objects, the same contract and the same wire; its methods are only signatures.
func (c *Class) Definition() Definition {
	d := Definition{
		Name: c.name, Version: c.version, Bases: slices.Clone(c.bases), List: c.isList, Iterable: c.iterable,
		Relationships: map[string][]VersionPair{}, ChildVersions: exportPairs(c.children),
	}
	for _, e := range c.history {
		changes := slices.DeleteFunc(slices.Clone(e.changes), func(ch Change) bool { return ch.kind == membersAt || ch.kind == partAt })
		d.History = append(d.History, Entry{e.version, changes})
	}
	for name, pairs := range c.relations {
		d.Relationships[name] = exportPairs(pairs)
	}
	if c.ownSpace {
		d.Namespace = c.namespace
	}
	for _, s := range c.contractSignatures() {
		d.Signatures = append(d.Signatures, s.line)
	}
	for i := range c.fields {
		f := &c.fields[i]
		d.Fields = append(d.Fields, FieldDefinition{
			Name: f.name, Type: cloneSpec(f.spec), Nullable: f.nullable, ReadOnly: f.readOnly, HasDefault: f.hasDefault, Default: copyValue(f.def),
			Plain: f.plain, Opaque: f.kind == kindValue && holdsObjects(&f.spec),
		})
	}
	return d
}

// holdsObjects tells specs of objects and of lists of them.
func holdsObjects(s *TypeSpec) bool {
	if s.Name == "List" && s.Element != nil {
		s = s.Element
	}
	return s.Name == "Object"
}

func exportPairs(pairs []versionPair) []VersionPair {
	var list []VersionPair
	for _, p := range pairs {
		list = append(list, VersionPair{p.own, p.child})
	}
	return list
}

// Record is an object of a class that was made from a [Definition]. Its fields are reached through [Registry.View].
type Record struct {
	Base
	cells []Null[any]
}

// New returns a new object of the class, with every field unset. The class must be one that a registry returned.
func (c *Class) New() (Object, error) {
	if c.reg == nil {
		return nil, fmt.Errorf("class %s is a declaration; take the one that Registry.Lookup returns", c.name)
	}
	return c.object(c.create()), nil
}

// newRecord returns a record of a registered class.
func (c *Class) newRecord() slot {
	rec := &Record{Base: Base{class: c}, cells: make([]Null[any], len(c.fields))}
	for i := range c.fields {
		if c.fields[i].always {
			rec.cells[i].v = []any{}
		}
	}
	return slotOf(rec)
}

// classOfRecord finds the class of a record here: its own, or the highest one of the same name.
func (r *Registry) classOfRecord(rec *Record) (*Class, error) {
	switch {
	case rec == nil || rec.class == nil:
		return nil, &TypeError{"a record that no class made has no class"}
	case rec.class.reg == r:
		return rec.class, nil
	}
	return nil, fmt.Errorf("record of another registry: %w", &UnsupportedObjectError{Object: rec.class.name})
}

// recordCodec makes the codec of a field of a record, which holds its value in the value model.
func recordCodec(f *field) codec {
	any := anyCodec{typ: f.typ}
	switch {
	case f.bubbles:
		return recordObject{any}
	case f.kind == kindObjects:
		return recordObjects{any}
	}
	return any
}

// anyCodec keeps values as they are in the value model and does everything by the Type.
type anyCodec struct{ typ Type }

func (anyCodec) decode(*decoder, slot) error { return errSlow }

func (c anyCodec) encode(e *encoder, s slot) error { return encodeBy(c.typ, e, *as[any](s)) }

func (anyCodec) load(s slot) any { return *as[any](s) }

func (anyCodec) store(s slot, v any) error {
	*as[any](s) = v
	return nil
}

// recordObject is for a field that holds an object.
type recordObject struct{ anyCodec }

func (c recordObject) decode(d *decoder, s slot) error {
	v, err := d.recordObject()
	if err == nil {
		*as[any](s), err = c.typ.coerce(place{objects: d.reg}, v)
	}
	return err
}

// recordObject reads an object of any class.
func (d *decoder) recordObject() (any, error) {
	if d.r.Peek() != pyjson.Object {
		return nil, errSlow
	}
	c, o, err := d.object(nil)
	if err != nil {
		return nil, err
	}
	return c.object(o), nil
}

func (recordObject) changed(r *Registry, s slot, depth int) bool {
	return objectChanged(r, *as[any](s), depth)
}

func (recordObject) visit(r *Registry, s slot, f func(*Class, slot) error) error {
	return visitObject(r, *as[any](s), f)
}

// recordObjects is for a field that holds a list of objects.
type recordObjects struct{ anyCodec }

func (c recordObjects) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Array {
		return errSlow
	}
	saved := d.r
	list, err := d.list(d.recordObject)
	if err == nil {
		*as[any](s), err = c.typ.coerce(place{objects: d.reg}, list)
	}
	return d.slow(saved, err)
}

func (recordObjects) changed(r *Registry, s slot, depth int) bool {
	items, _ := (*as[any](s)).([]any)
	return slices.ContainsFunc(items, func(v any) bool { return objectChanged(r, v, depth) })
}

func (recordObjects) visit(r *Registry, s slot, f func(*Class, slot) error) error {
	items, _ := (*as[any](s)).([]any)
	for i, v := range items {
		if err := visitObject(r, v, f); err != nil {
			return within(index(i), err)
		}
	}
	return nil
}
