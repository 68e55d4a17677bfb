package ovo

import (
	"fmt"
	"slices"
	"testing"
)

// vectorWorld makes and describes the objects of vector cases.
type vectorWorld struct{ *Registry }

// newVectorWorld registers the classes that a vector file defines. transitions are those of its state machines.
func newVectorWorld(t *testing.T, classes []any, transitions any) vectorWorld {
	t.Helper()
	declared := make([]*Class, 0, len(classes))
	for _, c := range classes {
		d, err := vectorDefinition(c, transitions)
		if err != nil {
			t.Fatalf("class %s: %v", vecText(c, "class"), err)
		}
		declared = append(declared, d.Class())
	}
	reg, err := NewRegistry(Namespace{Prefix: "cyborg_object", Project: "cyborg"}, declared...)
	if err != nil {
		t.Fatal(err)
	}
	return vectorWorld{reg}
}

// vectorDefinition turns the description of a class into its definition, without methods and rules.
func vectorDefinition(c, transitions any) (Definition, error) {
	d := Definition{
		Name: vecText(c, "class"), Version: vecText(c, "version"), List: vecFlag(c, "is_list"),
		Namespace: Namespace{Prefix: vecText(c, "key_prefix"), Project: vecText(c, "project_namespace")},
		Iterable:  slices.Contains(vecItems(vecAt(c, "mixins")), any("VersionedObjectDictCompat")),
	}
	for _, base := range vecItems(vecAt(c, "mro")) {
		if name := base.(string); name != d.Name {
			d.Bases = append(d.Bases, name)
		}
	}
	for _, f := range vecItems(vecAt(c, "fields")) {
		field, err := vectorField(f, transitions)
		if err != nil {
			return d, fmt.Errorf("field %s: %w", vecText(f, "name"), err)
		}
		d.Fields = append(d.Fields, field)
	}
	return d, nil
}

// vectorField turns the description of a field into its definition.
func vectorField(f, transitions any) (FieldDefinition, error) {
	spec, err := vectorType(f)
	if err != nil {
		return FieldDefinition{}, err
	}
	if vecText(f, "field_class") == "SM" {
		spec.Transitions = map[string][]string{}
		for state, next := range vecDict(transitions).All() {
			spec.Transitions[state.(string)] = []string{}
			for _, n := range vecItems(next) {
				spec.Transitions[state.(string)] = append(spec.Transitions[state.(string)], n.(string))
			}
		}
	}
	def, err := untag(vecAt(f, "default"), nil)
	return FieldDefinition{
		Name: vecText(f, "name"), Type: spec, Nullable: vecFlag(f, "nullable"), ReadOnly: vecFlag(f, "read_only"),
		HasDefault: vecFlag(f, "has_default"), Default: def, Plain: !vecFlag(f, "enum_repr"), Opaque: vecText(f, "field_class") == "Field",
	}, err
}

// vectorType turns the type of a field or element into its spec.
func vectorType(f any) (TypeSpec, error) {
	spec := TypeSpec{
		Name: vecText(f, "type"), ElementNullable: vecFlag(f, "element_nullable"), Object: vecText(f, "objname"),
		Subclasses: vecFlag(f, "subclasses"), Naive: vecHas(f, "tzinfo_aware") && !vecFlag(f, "tzinfo_aware"),
	}
	if vecHas(f, "valid_values") {
		values, err := untag(vecAt(f, "valid_values"), nil)
		if err != nil {
			return spec, err
		}
		spec.Values.list = values
	}
	if element := vecAt(f, "element"); element != nil {
		e, err := vectorType(element)
		if err != nil {
			return spec, err
		}
		spec.Element = &e
	}
	return spec, nil
}

// untag makes the object of a $new; of a $obj it gives the content, for describe to be compared with.
func (w vectorWorld) untag(kind string, content *Dict) (any, error) {
	if kind == "$obj" {
		set, err := untag(vecAt(content, "set"), w.untag)
		if err != nil {
			return nil, err
		}
		return content, content.Set("set", set)
	}
	class := w.Highest(vecText(content, "class"))
	if class == nil {
		return nil, fmt.Errorf("no class %s", vecText(content, "class"))
	}
	o, err := class.New()
	if err != nil {
		return nil, err
	}
	v, err := w.View(o)
	if err != nil {
		return nil, err
	}
	for name, value := range vecDict(vecAt(content, "fields")).All() {
		value, err := untag(value, w.untag)
		if err != nil {
			return nil, err
		}
		if err := v.Assign(name.(string), value); err != nil {
			return nil, err
		}
	}
	if version := vecText(content, "version"); version != "" {
		SetVersion(o, version)
	}
	return o, resetAs(v, vecAt(content, "reset"))
}

// resetAs resets changes as the key reset of a $new says.
func resetAs(v View, how any) error {
	switch how := how.(type) {
	case bool:
		if how {
			return v.Reset(false)
		}
	case string:
		return v.Reset(true)
	case []any:
		names := make([]string, len(how))
		for i, n := range how {
			names[i] = n.(string)
		}
		return v.Reset(false, names...)
	}
	return nil
}

// describe gives what the content of a $obj says of an object. We keep no contexts.
func (w vectorWorld) describe(o Object) *Dict {
	v, err := w.View(o)
	if err != nil {
		return &Dict{}
	}
	set, unset := &Dict{}, []any{}
	for name, s := range v.Fields() {
		if !s.Set {
			unset = append(unset, name)
			continue
		}
		value, _ := v.Get(name)
		_ = set.Set(name, value)
	}
	d := &Dict{}
	for _, kv := range []struct {
		key   string
		value any
	}{
		{"class", v.Class().Name()},
		{"version", v.Version()},
		{"set", set},
		{"unset", unset},
		{"changed", anySlice(v.marked())},
		{"what_changed", anySlice(v.Changes())},
		{"context", nil},
	} {
		_ = d.Set(kv.key, kv.value)
	}
	return d
}
