package ovo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxFields is the largest number of fields of a class: the engine keeps sets of fields in a word.
const maxFields = 64

// Class is a versioned class: a name, the struct or [Definition] that holds its fields, and its [History]. It is immutable and safe for concurrent
// use. A class as [NewClass] makes it is a declaration; [NewRegistry] checks it and ties it to the others.
type Class struct {
	name       string
	version    string
	ownSpace   bool // namespace was given by In
	namespace  Namespace
	history    History
	bases      []string // names of base classes that other classes may ask for
	isList     bool
	iterable   bool // iterates over its set fields
	relations  map[string][]versionPair
	children   []versionPair // child_versions
	rules      []rule
	fields     []field
	byName     map[string]int
	methods    reflect.Type // struct of functions; nil without
	signatures []*signature // of methods without functions
	errs       []error      // what is wrong with the declaration

	// How objects are stored. A struct class has goType; a defined class keeps its fields in a Record.
	goType     reflect.Type
	baseOffset uintptr
	create     func() slot
	object     func(slot) Object

	bound // what a registry adds
}

// versionPair says that from version own of a class on, a nested object has version child.
type versionPair struct {
	own   string
	tuple versionTuple
	child string
}

// field is a field of a class: Python's rules for it and where its cell lies.
type field struct {
	fieldRule
	name        string
	index       int
	kind        fieldKind
	always      bool // the objects of a list object: set even when nothing set it
	bubbles     bool // holds an object whose changes count as changes of the field
	defaultText string

	declared declaration // of a struct class
	spec     TypeSpec
	offset   uintptr // of the cell in the storage
	state    uintptr // of the state in the storage

	codec codec
	key   string // `"name": `
}

// fieldKind says whether conversion and change tracking look into a field.
type fieldKind uint8

const (
	kindValue   fieldKind = iota
	kindObject            // Python's ObjectField
	kindObjects           // Python's ListOfObjectsField
)

// Option adds something to a class that [NewClass] makes.
type Option func(*Class)

// Methods gives a class its remotable methods: M is a struct of functions whose tags are their Python signatures.
func Methods[M any]() Option {
	return func(c *Class) { c.methods = reflect.TypeFor[M]() }
}

// Extends makes a class a subclass of base: its history starts with that of base, and fields of type Object that take subclasses of base take it.
func Extends(base *Class) Option {
	return func(c *Class) {
		c.history = append(slices.Clone(base.history), c.history...)
		c.bases = append([]string{base.name}, base.bases...)
	}
}

// In puts a class into another namespace than the registry's.
func In(ns Namespace) Option {
	return func(c *Class) { c.namespace, c.ownSpace = ns, true }
}

// NewClass declares a class whose objects are *X, a struct of cells that embeds [Base]. Mistakes in X, its tags or h are reported by
// [NewRegistry], all at once.
func NewClass[X any](name string, h History, opts ...Option) *Class {
	c := &Class{name: name, history: h, goType: reflect.TypeFor[X]()}
	for _, opt := range opts {
		opt(c)
	}
	if _, ok := any((*X)(nil)).(Object); !ok || c.goType.Kind() != reflect.Struct {
		c.fail("%s is no struct that embeds ovo.Base", c.goType)
		return c
	}
	c.create = func() slot { return slotOf(new(X)) }
	c.object = func(s slot) Object { return any(as[X](s)).(Object) }
	declared, base, err := declarations(c.goType)
	if err != nil {
		c.errs = append(c.errs, err)
	}
	c.baseOffset = base
	for _, d := range declared {
		c.declare(d)
	}
	c.finish()
	return c
}

func (c *Class) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// declare adds the field of a cell.
func (c *Class) declare(d declaration) {
	spec, err := goSpec(d.value, &d.tag)
	if err != nil {
		c.fail("field %s: %w", d.name, err)
		return
	}
	f := field{name: d.name, declared: d, spec: spec, offset: d.offset, state: d.offset + d.state, always: d.list}
	f.nullable, f.readOnly, f.plain = d.nullable, d.readOnly, d.plain
	f.kind = objectKind(d.value)
	f.bubbles = f.kind == kindObject
	if d.hasDefault {
		f.hasDefault, f.defaultText = true, d.def
		f.def = d.defaultValue(&spec, d.nullable)
	}
	c.isList = c.isList || d.list
	c.fields = append(c.fields, f)
}

// objectKind tells fields of objects from others by their Go type.
func objectKind(t reflect.Type) fieldKind {
	switch {
	case isObjectType(t):
		return kindObject
	case t.Kind() == reflect.Slice && isObjectType(t.Elem()):
		return kindObjects
	}
	return kindValue
}

// isObjectType tells *X, an object, and the interface Object from other Go types.
func isObjectType(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[Object]()) || t == reflect.TypeFor[Object]()
}

// finish derives what follows from fields and history and checks it.
func (c *Class) finish() {
	if c.version == "" && len(c.history) > 0 {
		c.version = c.history[len(c.history)-1].version
	}
	if len(c.fields) > maxFields {
		c.fail("%d fields; %d is the most", len(c.fields), maxFields)
	}
	c.byName = make(map[string]int, len(c.fields))
	for i := range c.fields {
		f := &c.fields[i]
		f.index = i
		c.byName[f.name] = i
		f.key = quoteKey(f.name)
	}
	c.readHistory()
}

// readHistory derives rules and member versions from the history.
func (c *Class) readHistory() {
	if c.version == "" {
		c.fail("no version: the history is empty")
		return
	}
	if _, err := parseTuple(c.version); err != nil {
		c.fail("version %q: %w", c.version, err)
	}
	if c.relations == nil {
		c.relations = map[string][]versionPair{}
	}
	var last versionTuple
	for _, e := range c.history {
		tuple, err := parseTuple(e.version)
		if err != nil {
			c.fail("history version %q: %w", e.version, err)
			continue
		}
		if last != nil && tuple.compare(last) <= 0 {
			c.fail("history version %s does not follow %s", e.version, last)
		}
		last = tuple
		for _, ch := range e.changes {
			c.readChange(e.version, tuple, ch)
		}
	}
	slices.SortStableFunc(c.rules, func(a, b rule) int { return b.version.compare(a.version) })
	c.checkNames()
}

func (c *Class) readChange(version string, tuple versionTuple, ch Change) {
	switch ch.kind {
	case membersAt:
		if !c.isList {
			c.fail("history %s: Members is for list objects", version)
		}
		c.children = append(c.children, versionPair{version, tuple, ch.to})
	case partAt:
		i, ok := c.byName[ch.name]
		if !ok || c.fields[i].kind == kindValue {
			c.fail("history %s: Part names %s, which is no field of objects", version, ch.name)
		}
		c.relations[ch.name] = append(c.relations[ch.name], versionPair{version, tuple, ch.to})
	case addsMethod:
		if !c.hasMethod(ch.name) {
			c.fail("history %s: AddsMethod names %s, which is no method", version, ch.name)
		}
	default:
		c.rules = append(c.rules, rule{Change: ch, version: tuple})
	}
}

// checkNames checks that the history names only fields that exist, under the names they have at that version.
func (c *Class) checkNames() {
	known := map[string]bool{}
	for _, f := range c.fields {
		known[f.name] = true
	}
	for _, r := range c.rules {
		names := r.names
		if r.kind == addsValues {
			names = []string{r.name}
		}
		for _, n := range names {
			if !known[n] {
				c.fail("history %s: no field %s", r.version, n)
			}
		}
		if r.kind == renamesField {
			if !known[r.to] {
				c.fail("history %s: no field %s", r.version, r.to)
			}
			delete(known, r.to)
			known[r.name] = true
		}
	}
}

// hasMethod tells whether the class declares the remotable method of that Python name.
func (c *Class) hasMethod(name string) bool {
	return slices.ContainsFunc(c.contractSignatures(), func(s *signature) bool { return s.name == name })
}

// contractSignatures returns the signatures of all remotable methods, by name.
func (c *Class) contractSignatures() []*signature {
	list := slices.Clone(c.signatures)
	if c.methods != nil && c.methods.Kind() == reflect.Struct {
		for f := range c.methods.Fields() {
			if s, err := parseSignature(f.Tag.Get("ovo")); err == nil { // newMethodSet reports the others
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *signature) int { return strings.Compare(a.name, b.name) })
	return list
}

// Name is the class name, as it stands in primitives.
func (c *Class) Name() string { return c.name }

// Version is the version of the class: that of the last entry of its history.
func (c *Class) Version() string { return c.version }

// error returns everything that is wrong with the declaration.
func (c *Class) error() error {
	if len(c.errs) == 0 {
		return nil
	}
	return fmt.Errorf("class %s: %w", c.name, errors.Join(c.errs...))
}
