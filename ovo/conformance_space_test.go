package ovo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// vectorSpace is a registry of recorded classes, with what only Python objects carry beside their fields.
type vectorSpace struct {
	*Registry
	defs     map[string]*Dict // by class name, highest version
	contexts map[Object]string
}

// newVectorSpace registers recorded class definitions.
func newVectorSpace(t *testing.T, ns Namespace, defs []any) *vectorSpace {
	t.Helper()
	var classes []*Class
	for _, def := range defs {
		d, err := vectorDefinition(def)
		if err != nil {
			t.Fatalf("definition of %s: %v", text(def, "class"), err)
		}
		classes = append(classes, d.Class())
	}
	r, err := NewRegistry(ns, classes...)
	if err != nil {
		t.Fatal(err)
	}
	s := &vectorSpace{Registry: r, defs: map[string]*Dict{}, contexts: map[Object]string{}}
	for _, def := range defs {
		if name := text(def, "class"); r.Highest(name).version == text(def, "version") {
			s.defs[name] = def.(*Dict)
		}
	}
	return s
}

func cyborgSpace() Namespace { return Namespace{Prefix: "cyborg_object", Project: "cyborg"} }

// value turns a recorded value into the value model.
func (s *vectorSpace) value(v any) (any, error) { return untag(v, s.untag) }

// untag makes the object of a $new and gives the content of a $obj the form that describe gives.
func (s *vectorSpace) untag(kind string, content *Dict) (any, error) {
	if kind == "$obj" {
		set, err := s.value(at(content, "set"))
		if err != nil {
			return nil, err
		}
		return dictOf("class", at(content, "class"), "version", at(content, "version"), "set", set, "unset", at(content, "unset"),
			"changed", at(content, "changed"), "what_changed", at(content, "what_changed"))
	}
	v, err := s.make(text(content, "class"), at2dict(at(content, "fields")))
	if err != nil {
		return nil, err
	}
	switch reset := at(content, "reset").(type) {
	case bool:
		if reset {
			err = v.Reset(false)
		}
	case string:
		err = v.Reset(true)
	case []any:
		names := []string{}
		for _, n := range reset {
			names = append(names, n.(string))
		}
		err = v.Reset(false, names...)
	}
	if version := text(content, "version"); version != "" {
		v.o.base().received = version
	}
	if ctx := text(content, "ctx", "$ctx") + text(content, "ctx"); ctx != "" {
		s.contexts[v.o] = ctx
	}
	return v.o, err
}

// make makes an object and assigns fields in their order.
func (s *vectorSpace) make(class string, fields *Dict) (View, error) {
	c := s.Highest(class)
	if c == nil {
		return View{}, fmt.Errorf("no class %s", class)
	}
	o, err := c.New()
	if err != nil {
		return View{}, err
	}
	v, err := s.View(o)
	if err != nil {
		return View{}, err
	}
	for name, value := range fields.All() {
		value, err := s.value(value)
		if err != nil {
			return v, err
		}
		if _, known := c.byName[name.(string)]; !known {
			continue // a plain attribute in Python
		}
		if err := v.Assign(name.(string), value); err != nil {
			return v, err
		}
	}
	return v, nil
}

// describe gives the content of an object's $obj.
func (s *vectorSpace) describe(o Object) *Dict {
	v, err := s.View(o)
	if err != nil {
		panic(err)
	}
	set, unset := &Dict{}, []any{}
	for name, state := range v.Fields() {
		if state.Set {
			value, err := v.Get(name)
			if err = errors.Join(err, set.Set(name, value)); err != nil {
				panic(err)
			}
		} else {
			unset = append(unset, name)
		}
	}
	d, err := dictOf("class", v.c.name, "version", v.Version(), "set", set, "unset", unset, "changed", anySlice(v.marked()), "what_changed", anySlice(v.Changes()))
	if err != nil {
		panic(err)
	}
	return d
}

// difference compares a value with a recorded one.
func (s *vectorSpace) difference(what string, got, want any) string {
	want, err := s.value(want)
	if err != nil {
		return what + ": " + err.Error()
	}
	if same(got, want, s.describe) {
		return ""
	}
	return fmt.Sprintf("%s: got %s, want %s", what, s.show(got), s.show(want))
}

func (s *vectorSpace) show(v any) string {
	if o, ok := v.(Object); ok {
		v = s.describe(o)
	}
	return pyRepr(v)
}

// differentJSON compares a text with a recorded value by what both are as JSON, lists of changes as sets.
func (s *vectorSpace) differentJSON(what string, got []byte, want any) string {
	want, err := s.value(want)
	if err != nil {
		return what + ": " + err.Error()
	}
	e := encoder{reg: s.Registry}
	if err := e.value(plainDicts(s, want)); err != nil {
		return what + ": " + err.Error()
	}
	g, gotErr := newDecoder(s.Registry, got).value()
	w, wantErr := newDecoder(s.Registry, e.b).value()
	if err := errors.Join(gotErr, wantErr); err != nil {
		return what + ": " + err.Error()
	}
	if !same(sortChanges(g), sortChanges(w), nil) {
		return fmt.Sprintf("%s: got %s, want %s", what, got, e.b)
	}
	return ""
}

// plainDicts replaces the content of a $obj by the primitive of such an object.
func plainDicts(s *vectorSpace, v any) any {
	switch v := v.(type) {
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return plainDicts(s, e), nil })
		return list
	case *Dict:
		if _, is := v.Get("what_changed"); is {
			c := s.Highest(text(v, "class"))
			d, _ := dictOf(c.keys.name, c.name, c.keys.namespace, c.namespace.Project, c.keys.version, at(v, "version"), c.keys.data, plainDicts(s, at(v, "set")))
			if changes := items(at(v, "what_changed")); len(changes) > 0 {
				_ = d.Set(c.keys.changes, changes)
			}
			return d
		}
		d := &Dict{}
		for k, e := range v.All() {
			_ = d.Set(k, plainDicts(s, e))
		}
		return d
	}
	return v
}

// sortChanges sorts the lists of changed names in a value.
func sortChanges(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = sortChanges(v[i])
		}
	case *Dict:
		for i, k := range v.keys {
			list, ok := v.values[i].([]any)
			if name, _ := k.(string); ok && (strings.HasSuffix(name, ".changes") || name == whatChanged) {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(pyStr(a), pyStr(b)) })
			}
			v.values[i] = sortChanges(v.values[i])
		}
	}
	return v
}

// dictOf makes a dict of keys and values in turn.
func dictOf(pairs ...any) (*Dict, error) {
	d := &Dict{}
	for i := 0; i < len(pairs); i += 2 {
		if err := d.Set(pairs[i], pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}
