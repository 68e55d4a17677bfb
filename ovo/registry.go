package ovo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Registry ties classes together and reads and writes their objects. It is immutable and safe for concurrent use. Several versions of a class may be
// registered, each with its own struct.
type Registry struct {
	namespace Namespace
	keys      *spaceKeys
	names     []string            // in order of registration
	classes   map[string][]*Class // highest version first
	byType    map[reflect.Type]*Class
}

// NewRegistry checks classes and ties copies of them together, so that one declaration can be in many registries. A class whose name and version are registered already takes the
// place of the other. All mistakes in all declarations are reported at once.
func NewRegistry(ns Namespace, classes ...*Class) (*Registry, error) {
	r := &Registry{namespace: ns, keys: newSpaceKeys(ns), classes: map[string][]*Class{}, byType: map[reflect.Type]*Class{}}
	var errs []error
	for _, declared := range classes {
		if err := declared.error(); err != nil {
			errs = append(errs, err)
			continue
		}
		r.add(declared)
	}
	for _, name := range r.names {
		for _, c := range r.classes[name] {
			if err := c.bind(r); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// add registers a copy of a class.
func (r *Registry) add(declared *Class) {
	c := *declared
	c.fields = slices.Clone(declared.fields)
	if !c.ownSpace {
		c.namespace = r.namespace
	}
	list, known := r.classes[c.name]
	if !known {
		r.names = append(r.names, c.name)
	}
	i := slices.IndexFunc(list, func(o *Class) bool { return o.version == c.version })
	if i >= 0 {
		delete(r.byType, list[i].goType)
		list[i] = &c
	} else {
		list = append(list, &c)
		slices.SortStableFunc(list, func(a, b *Class) int { return b.tuple().compare(a.tuple()) })
	}
	r.classes[c.name] = list
	if c.goType != nil {
		r.byType[c.goType] = &c
	}
}

// tuple is the version for sorting; the declaration was checked.
func (c *Class) tuple() versionTuple {
	t, _ := parseTuple(c.version)
	return t
}

// Namespace returns the namespace of the registry.
func (r *Registry) Namespace() Namespace { return r.namespace }

// Names returns the names of the registered classes, in order of registration.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Lookup finds the class that reads objects of the given version: the one with exactly this version, else the highest one of the same major version that is not
// older. An unknown name is an [*UnsupportedObjectError], a version that no class can read an [*IncompatibleVersionError], text that is no
// version an [*InvalidVersionError].
func (r *Registry) Lookup(name, version string) (*Class, error) {
	list := r.classes[name]
	if len(list) == 0 {
		return nil, &UnsupportedObjectError{Object: name}
	}
	for _, c := range list {
		if c.version == version {
			return c, nil
		}
	}
	for _, c := range list {
		ok, err := compatible(version, c.version, true)
		if err != nil {
			return nil, err
		}
		if ok {
			return c, nil
		}
	}
	return nil, &IncompatibleVersionError{Object: name, Got: version, Supported: list[0].version}
}

// Highest returns the class of the highest registered version of a name, nil for an unknown name.
func (r *Registry) Highest(name string) *Class {
	if list := r.classes[name]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// classOf finds the class of an object: that which decoded it here, else that of its Go type.
func (r *Registry) classOf(o Object) (*Class, error) {
	if rec, ok := o.(*Record); ok {
		return r.classOfRecord(rec)
	}
	t := reflect.TypeOf(o)
	if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(o).IsNil() {
		return nil, &TypeError{"a nil object has no class"}
	}
	return r.classOfType(t.Elem())
}

// classOfType finds the class whose objects are structs of type t.
func (r *Registry) classOfType(t reflect.Type) (*Class, error) {
	c := r.byType[t]
	if c == nil {
		return nil, fmt.Errorf("no class for Go type %s: %w", t, &UnsupportedObjectError{Object: t.Name()})
	}
	return c, nil
}

// Manifest returns the versions of a class and of every class that its fields of objects lead to: what a peer with this registry can read. An unknown
// name is an [*UnsupportedObjectError], a field whose class is not registered an [*UnregisteredChildError].
func (r *Registry) Manifest(name string) (Manifest, error) {
	c := r.Highest(name)
	if c == nil {
		return nil, &UnsupportedObjectError{Object: name}
	}
	m := Manifest{}
	return m, r.visit(c, m)
}

func (r *Registry) visit(c *Class, m Manifest) error {
	m[c.name] = c.version
	for i := range c.fields {
		f := &c.fields[i]
		if f.kind == kindValue {
			continue
		}
		name := f.childName()
		if _, done := m[name]; done {
			continue
		}
		child := r.Highest(name)
		if child == nil {
			return &UnregisteredChildError{Child: name, Parent: c.name}
		}
		if err := r.visit(child, m); err != nil {
			return err
		}
	}
	return nil
}

// childName is the class name of the objects in a field of objects.
func (f *field) childName() string {
	if f.kind == kindObjects {
		return f.spec.Element.Object
	}
	return f.spec.Object
}
