package ovo

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

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
