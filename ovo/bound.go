package ovo

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
)

// bound is what a class gets when a registry takes it.
type bound struct {
	reg    *Registry
	keys   *spaceKeys
	text   *classText
	remote *methodSet // nil without methods
}

// classText holds the text that primitives of a class share, and what was last seen in them.
type classText struct {
	envelope string // everything up to the opening brace of the data, at the class's own version
	head     string // the same up to the version
	read     atomic.Pointer[changesText]
	written  atomic.Pointer[changesText]
}

// changesText is the text of a list of changed names, with the closing bracket, and the set of fields it stands for.
type changesText struct {
	text string
	mask uint64
}

// spaceKeys are the keys of the envelope in one namespace.
type spaceKeys struct {
	name, namespace, version, data, changes string
	dataOpen                                string // `, "….data": {`
	changesOpen                             string // `, "….changes": [`
	objectOpen                              string // `{"….name": `
}

func newSpaceKeys(ns Namespace) *spaceKeys {
	k := &spaceKeys{}
	for p, suffix := range map[*string]string{&k.name: "name", &k.namespace: "namespace", &k.version: "version", &k.data: "data", &k.changes: "changes"} {
		*p = ns.Prefix + "." + suffix
	}
	k.dataOpen = ", " + quoteKey(k.data) + "{"
	k.changesOpen = ", " + quoteKey(k.changes) + "["
	k.objectOpen = "{" + quoteKey(k.name)
	return k
}

// bind ties a registered class to the others: it makes types and codecs of its fields and checks its methods.
func (c *Class) bind(r *Registry) error {
	keys := newSpaceKeys(c.namespace)
	head := keys.objectOpen + quote(c.name) + ", " + quoteKey(keys.namespace) + quote(c.namespace.Project) + ", " + quoteKey(keys.version)
	c.bound = bound{reg: r, keys: keys, text: &classText{head: head, envelope: head + quote(c.version) + keys.dataOpen}}
	if c.goType == nil {
		c.create, c.object = c.newRecord, func(s slot) Object { return as[Record](s) }
	}
	var errs []error
	for i := range c.fields {
		if err := c.fields[i].bind(r, c); err != nil {
			errs = append(errs, within(c.name+"."+c.fields[i].name, err))
		}
	}
	if c.methods != nil {
		set, err := newMethodSet(c)
		if err != nil {
			errs = append(errs, within(c.name, err))
		}
		c.remote = set
	}
	return errors.Join(errs...)
}

// bind makes the type and the codec of a field.
func (f *field) bind(r *Registry, c *Class) error {
	t := f.declared.value
	if c.goType == nil {
		t = reflect.TypeFor[any]()
	}
	if c.goType != nil {
		f.spec = cloneSpec(f.spec)
		if err := r.nameObjects(t, &f.spec, c.name); err != nil {
			return err
		}
	}
	typ, err := NewType(f.spec)
	if err != nil {
		return err
	}
	f.typ = typ
	if c.goType != nil && f.hasDefault && defaultText(f.def) != f.defaultText {
		return fmt.Errorf("default %q is not what Python prints of %s", f.defaultText, pyRepr(f.def))
	}
	if c.goType == nil {
		f.codec = recordCodec(f)
	} else if f.codec, err = r.codec(t, &f.spec, typ); err != nil {
		return err
	}
	return nil
}

// cloneSpec copies a spec as deep as names of objects can stand in it.
func cloneSpec(s TypeSpec) TypeSpec {
	if s.Element != nil {
		e := cloneSpec(*s.Element)
		s.Element = &e
	}
	return s
}

// nameObjects fills in the class names of objects in a spec from the Go types.
func (r *Registry) nameObjects(t reflect.Type, spec *TypeSpec, parent string) error {
	switch {
	case t == reflect.TypeFor[Object]():
		return nil
	case isObjectType(t):
		c := r.byType[t.Elem()]
		if c == nil {
			return &UnregisteredChildError{Child: t.Elem().Name(), Parent: parent}
		}
		spec.Object = c.name
		return nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map && spec.Name == "Dict":
		return r.nameObjects(t.Elem(), spec.Element, parent)
	case t.Kind() == reflect.Map:
		return r.nameObjects(t.Key(), spec.Element, parent)
	case t.Kind() == reflect.Pointer:
		return r.nameObjects(t.Elem(), spec, parent)
	}
	return nil
}

// quote returns s as a JSON string. Names are checked to be text when classes are made.
func quote(s string) string {
	b, err := appendText(nil, s)
	if err != nil {
		b, _ = json.Marshal(s) // never fails for a string; unusable bytes are replaced
	}
	return string(b)
}

// quoteKey returns s as the key of a member, with the separator after it.
func quoteKey(s string) string { return quote(s) + ": " }
