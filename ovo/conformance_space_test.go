package ovo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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

// vectorDefinition turns a recorded class definition into ours.
func vectorDefinition(def any) (Definition, error) {
	d := Definition{
		Name: text(def, "class"), Version: text(def, "version"), List: flag(def, "is_list"), Iterable: slices.Contains(items(at(def, "mixins")), any("VersionedObjectDictCompat")),
		Namespace:     Namespace{Prefix: text(def, "key_prefix"), Project: text(def, "project_namespace")},
		Relationships: map[string][]VersionPair{},
	}
	for _, name := range items(at(def, "mro"))[1:] {
		d.Bases = append(d.Bases, name.(string))
	}
	for _, f := range items(at(def, "fields")) {
		fd, err := vectorField(f)
		if err != nil {
			return d, err
		}
		d.Fields = append(d.Fields, fd)
	}
	for name, pairs := range at2dict(at(def, "relationships")).All() {
		for _, p := range items(pairs) {
			d.Relationships[name.(string)] = append(d.Relationships[name.(string)], VersionPair{items(p)[0].(string), items(p)[1].(string)})
		}
	}
	for own, child := range at2dict(at(def, "child_versions")).All() {
		d.ChildVersions = append(d.ChildVersions, VersionPair{own.(string), child.(string)})
	}
	var err error
	if d.History, err = vectorHistory(def); err != nil {
		return d, err
	}
	d.Methods, err = vectorMethods(def)
	return d, err
}

func vectorField(f any) (FieldDefinition, error) {
	spec, err := vectorType(f)
	if err != nil {
		return FieldDefinition{}, err
	}
	if _, err := NewType(spec); err != nil && spec.Values.list == nil {
		spec.Base = "String" // a type of the recording's own
		return FieldDefinition{Name: text(f, "name"), Type: spec, Nullable: flag(f, "nullable")}, nil
	}
	rule, err := vectorRule(f, nil)
	if err == nil && spec.Values.list != nil && !flag(f, "enum_repr") {
		spec.Name = text(f, "type")
	}
	class := text(f, "field_class")
	return FieldDefinition{
		Name: text(f, "name"), Type: spec, Nullable: rule.nullable, ReadOnly: rule.readOnly, HasDefault: rule.hasDefault, Default: rule.def,
		Plain: rule.plain, Opaque: class == "Field",
	}, err
}

// vectorHistory turns the rules of a test class, and those of the Cyborg classes that are only written down in the reference, into a history.
func vectorHistory(def any) (History, error) {
	entries := map[string][]Change{}
	var versions []string
	add := func(version string, c Change) {
		if entries[version] == nil {
			versions = append(versions, version)
		}
		entries[version] = append(entries[version], c)
	}
	for _, rule := range items(at(def, "compat")) {
		c, err := vectorChange(def, rule)
		if err != nil {
			return nil, err
		}
		if c != nil {
			add(text(rule, "below"), *c)
		}
	}
	for _, e := range cyborgRules()[text(def, "class")] {
		for _, c := range e.changes {
			if (c.kind != addsFields || hasField(def, c.names[0])) && versionBelow(e.version, text(def, "version")) {
				add(e.version, c)
			}
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return tupleOf(a).compare(tupleOf(b)) })
	var h History
	for _, v := range versions {
		h = append(h, V(v, entries[v]...))
	}
	return h, nil
}

func versionBelow(a, b string) bool { return tupleOf(a).compare(tupleOf(b)) <= 0 }

func tupleOf(version string) versionTuple {
	t, err := parseTuple(version)
	if err != nil {
		panic(err)
	}
	return t
}

func hasField(def any, name string) bool {
	return slices.ContainsFunc(items(at(def, "fields")), func(f any) bool { return text(f, "name") == name })
}

func vectorChange(def, rule any) (*Change, error) {
	field := text(rule, "field")
	var c Change
	switch text(rule, "op") {
	case "pop":
		if !hasField(def, field) {
			return nil, nil // a rule for a field of a later version of the class
		}
		c = Adds(field)
	case "rename":
		c = Renames(text(rule, "to"), field)
	case "reject":
		values := []string{}
		for _, v := range items(at(rule, "values")) {
			values = append(values, v.(string))
		}
		c = AddsValue(field, values...)
	case "set":
		value, err := untag(at(rule, "value"), nil)
		if err != nil {
			return nil, err
		}
		c = Rewrites(func(d *Data) error {
			d.Set(field, value)
			return nil
		})
	default:
		return nil, fmt.Errorf("unknown rule %s", text(rule, "op"))
	}
	return &c, nil
}

// cyborgRules are the conversion rules of Cyborg's classes, which the recorded definitions do not carry.
func cyborgRules() map[string]History {
	ext := History{V("1.2", Adds("deployable_id"))}
	return map[string]History{
		"Device": {
			V("1.1", AddsValue("type", "AICHIP")), V("1.2", Adds("status")), V("1.3", AddsValue("type", "MDEV", "PCI")),
			V("1.4", AddsValue("type", "NVME")), V("1.5", Adds("device_state")),
		},
		"DriverDevice": {
			V("1.1", AddsValue("type", "AICHIP")), V("1.2", AddsValue("type", "MDEV", "PCI")), V("1.3", AddsValue("type", "NVME")),
			V("1.4", Adds("device_state")),
		},
		"DeviceProfile": {V("1.1", Adds("description"))},
		"ExtARQ":        ext, "FPGAExtARQ": ext,
	}
}

// vectorMethods makes a struct of functions for the recorded methods: every parameter is any, so that arguments travel untouched.
func vectorMethods(def any) (reflect.Type, error) {
	var fields []reflect.StructField
	anyType, ctx := reflect.TypeFor[any](), reflect.TypeFor[context.Context]()
	for i, m := range items(at(def, "methods")) {
		line := signatureLine(m)
		sig, err := parseSignature(line)
		if err != nil {
			return nil, err
		}
		in := []reflect.Type{ctx}
		if !sig.isClassMethod() {
			in = append(in, reflect.TypeFor[*Record]())
		}
		for range sig.arguments() {
			in = append(in, anyType)
		}
		if sig.varargs != "" {
			in = append(in, reflect.TypeFor[[]any]())
		}
		for range sig.kwonly {
			in = append(in, anyType)
		}
		if sig.varkw != "" {
			in = append(in, reflect.TypeFor[*Dict]())
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("M%d", i), Type: reflect.FuncOf(in, []reflect.Type{anyType, reflect.TypeFor[error]()}, false),
			// The class name keeps equal sets of two classes apart.
			Tag: reflect.StructTag(fmt.Sprintf("ovo:%q class:%q", line, text(def, "class"))),
		})
	}
	if fields == nil {
		return nil, nil
	}
	return reflect.StructOf(fields), nil
}

// signatureLine writes the def line of a recorded method.
func signatureLine(m any) string {
	var parts []string
	ann := at2dict(at(m, "annotations_repr"))
	annotated := func(name string) string {
		if a, ok := ann.Get(name); ok {
			return name + ": " + a.(string)
		}
		return name
	}
	args, defs := items(at(m, "args")), items(at(m, "defaults_repr"))
	for i, a := range args {
		p := annotated(a.(string))
		if j := i - (len(args) - len(defs)); j >= 0 {
			p += "=" + defs[j].(string)
		}
		parts = append(parts, p)
	}
	kwonly := items(at(m, "kwonlyargs"))
	if v := text(m, "varargs"); v != "" {
		parts = append(parts, "*"+annotated(v))
	} else if len(kwonly) > 0 {
		parts = append(parts, "*")
	}
	for _, k := range kwonly {
		p := annotated(k.(string))
		if d, ok := at2dict(at(m, "kwonlydefaults_repr")).Get(k); ok {
			p += "=" + d.(string)
		}
		parts = append(parts, p)
	}
	if v := text(m, "varkw"); v != "" {
		parts = append(parts, "**"+annotated(v))
	}
	line := text(m, "name") + "(" + strings.Join(parts, ", ") + ")"
	if r, ok := ann.Get("return"); ok {
		line += " -> " + r.(string)
	}
	return line
}

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
		SetVersion(v.o, version)
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
