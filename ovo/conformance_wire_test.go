package ovo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// primitiveCase runs a case of primitives.json.
func (s *vectorSpace) primitiveCase(c any) string {
	if text(c, "op") == "from_primitive" {
		return s.readCase(c)
	}
	v, err := s.value(at(c, "object"))
	if err != nil {
		return err.Error()
	}
	o := v.(Object)
	data, err := s.Append(nil, o)
	if err != nil {
		return err.Error()
	}
	recorded := []byte(text(c, "json"))
	if native := nativeZone.Match(recorded); native {
		return s.readBack(data, o)
	}
	if problem := s.differentText(data, recorded, flag(c, "set_order_arbitrary")); problem != "" {
		return problem
	}
	if got := s.text(o); got != text(c, "repr") && !flag(c, "set_order_arbitrary") {
		return fmt.Sprintf("text: got %s, want %s", got, text(c, "repr"))
	}
	if problem := s.objectCase(o, c); problem != "" {
		return problem
	}
	if has(c, "from_json_error") {
		_, err := s.Decode(data)
		return wrongError(err, at(c, "from_json_error"))
	}
	// Python reads with the prefix of the object's own class here.
	class, err := s.classOf(o)
	if err != nil {
		return err.Error()
	}
	d := newDecoder(s.Registry, data)
	d.keys, d.space = class.keys, class.namespace
	class, back, err := d.object(nil)
	if err != nil {
		return err.Error()
	}
	return s.difference("from_json", class.object(back), at(c, "from_json"))
}

// differentText compares two primitives, also their order and spelling unless a set is in them.
func (s *vectorSpace) differentText(got, want []byte, unordered bool) string {
	g, gotErr := newDecoder(s.Registry, got).value()
	w, wantErr := newDecoder(s.Registry, want).value()
	if err := errors.Join(gotErr, wantErr); err != nil {
		return err.Error()
	}
	if !same(sortChanges(g), sortChanges(w), nil) && !(unordered && len(got) == len(want)) {
		return fmt.Sprintf("json: got %s, want %s", got, want)
	}
	return ""
}

// readBack checks the deviation for zones made natively in Python.
func (s *vectorSpace) readBack(data []byte, o Object) string {
	back, err := s.Decode(data)
	if err != nil {
		return err.Error()
	}
	a, b := s.describe(o), s.describe(back)
	if x, y := at(a, "set"), at(b, "set"); !pyEqual(x, y) {
		return fmt.Sprintf("read back %s, want %s", pyRepr(y), pyRepr(x))
	}
	return ""
}

// objectCase checks state and clone of an object.
func (s *vectorSpace) objectCase(o Object, c any) string {
	if problem := s.difference("state", o, at(c, "state")); problem != "" {
		return problem
	}
	v, err := s.View(o)
	if err != nil {
		return err.Error()
	}
	clone, err := v.Clone()
	if err != nil {
		return err.Error()
	}
	return s.difference("clone", clone, at(c, "clone"))
}

func (s *vectorSpace) readCase(c any) string {
	in := encoder{reg: s.Registry}
	if err := in.value(at(c, "primitive")); err != nil {
		return err.Error()
	}
	o, err := s.Decode(in.b)
	if want := at(c, "error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return err.Error()
	}
	if problem := s.objectCase(o, c); problem != "" {
		return problem
	}
	again, err := s.Append(nil, o)
	if err != nil {
		return err.Error()
	}
	if flag(c, "set_order_arbitrary") || strings.Contains(string(in.b), `"tags"`) {
		return s.readBack(again, o)
	}
	return s.differentJSON("again", again, at(c, "again"))
}

// backportCase runs a case of backport.json.
func (s *vectorSpace) backportCase(c any) string {
	v, err := s.value(at(c, "object"))
	if err != nil {
		return err.Error()
	}
	o := v.(Object)
	before := s.show(o)
	got, err := s.AppendAt(nil, o, text(c, "target_version"), manifestOf(at(c, "manifest")))
	if after := s.show(o); after != before {
		return "the object was changed to " + after
	}
	if want := at(c, "error"); want != nil {
		if text(want, "message") == "'dict_items' object is not subscriptable" {
			return s.deviationGap(c, o, got, err)
		}
		return wrongError(err, want)
	}
	if err != nil {
		return err.Error()
	}
	return s.differentJSON("primitive", got, at(c, "primitive"))
}

func manifestOf(v any) Manifest {
	d, ok := v.(*Dict)
	if !ok {
		return nil
	}
	m := Manifest{}
	for k, version := range d.All() {
		m[k.(string)] = version.(string)
	}
	return m
}

// manifestCase runs a case of manifest.json.
func (s *vectorSpace) manifestCase(t *testing.T, c any) string {
	var got any
	var err error
	want := at(c, "out")
	switch text(c, "op") {
	case "obj_tree_get_versions":
		want = at(c, "manifest")
		m := Manifest{}
		if tree := at(c, "tree"); tree != nil {
			m = manifestOf(tree)
		}
		if class := s.Highest(text(c, "class")); class == nil {
			_, err = s.Manifest(text(c, "class"))
		} else if _, done := m[class.name]; !done {
			err = s.visit(class, m)
		}
		if err == nil {
			if recorded := manifestOf(want); fmt.Sprint(m) != fmt.Sprint(recorded) {
				return fmt.Sprintf("got %v, want %v", m, recorded)
			}
			return ""
		}
	case "obj_class_from_name":
		want = at(c, "resolved")
		var class *Class
		if class, err = s.Lookup(text(c, "class"), text(c, "version")); err == nil {
			got = class.version
		}
	case "convert_version_to_tuple":
		var tuple versionTuple
		if tuple, err = parseTuple(text(c, "in")); err == nil {
			list := []any{}
			for _, n := range tuple {
				list = append(list, int64(n))
			}
			got = list
		}
	case "is_compatible":
		got, err = compatible(text(c, "requested"), text(c, "current"), flag(c, "same_major"))
	case "registration_order":
		return registrationCase(t, c)
	}
	if e := at(c, "error"); e != nil {
		if text(e, "class") == "IndexError" {
			return deviationUnknownName(err)
		}
		return wrongError(err, e)
	}
	if err != nil {
		return err.Error()
	}
	return s.difference("result", got, want)
}

// registrationCase registers versions of one class and looks at their order.
func registrationCase(t *testing.T, c any) string {
	t.Helper()
	var classes []*Class
	for i, v := range items(at(c, "registered_in_order")) {
		d := Definition{Name: "Ordered", Version: v.(string), Bases: []string{fmt.Sprint(i)}}
		classes = append(classes, d.Class())
	}
	r, err := NewRegistry(cyborgSpace(), classes...)
	if err != nil {
		return err.Error()
	}
	var got []any
	for _, class := range r.classes["Ordered"] {
		got = append(got, []any{class.version, parseNumber(class.bases[0])})
	}
	if !same(got, at(c, "result"), nil) {
		return fmt.Sprintf("got %s, want %s", pyRepr(got), pyRepr(at(c, "result")))
	}
	return ""
}

// fingerprintCase runs a case of fingerprints.json.
func fingerprintCase(t *testing.T, c any) string {
	t.Helper()
	d, err := vectorDefinition(at(c, "definition"))
	if err != nil {
		return err.Error()
	}
	r, err := NewRegistry(cyborgSpace(), d.Class())
	if err != nil {
		return err.Error()
	}
	var extra []any
	if has(c, "extra_data_repr") {
		v, err := parseLiteral(text(c, "extra_data_repr"))
		if err != nil {
			return err.Error()
		}
		extra = v.(Tuple)
	}
	class := r.Highest(d.Name)
	if got := class.Contract(extra...); got != text(c, "hashed_string") {
		return fmt.Sprintf("contract: got %s, want %s", got, text(c, "hashed_string"))
	}
	if got := class.Fingerprint(extra...); got != text(c, "fingerprint") {
		return fmt.Sprintf("fingerprint: got %s, want %s", got, text(c, "fingerprint"))
	}
	return ""
}

// classCase checks that a recorded definition survives our own form of it.
func (s *vectorSpace) classCase(c any) string {
	class, err := s.Lookup(text(c, "class"), text(c, "version"))
	if err != nil {
		return err.Error()
	}
	d := class.Definition()
	recorded := items(at(c, "fields"))
	if len(d.Fields) != len(recorded) {
		return fmt.Sprintf("%d fields, want %d", len(d.Fields), len(recorded))
	}
	for i, f := range recorded {
		if d.Fields[i].Name != text(f, "name") {
			return fmt.Sprintf("field %d is %s, want %s", i, d.Fields[i].Name, text(f, "name"))
		}
		if got := class.fields[i].contract(); got != text(f, "repr") {
			return fmt.Sprintf("field %s: %s, want %s", d.Fields[i].Name, got, text(f, "repr"))
		}
	}
	if d.Name != text(c, "class") || d.Version != text(c, "version") || d.List != flag(c, "is_list") {
		return fmt.Sprintf("definition %s %s", d.Name, d.Version)
	}
	r, err := NewRegistry(class.namespace, d.Class())
	if err != nil {
		return err.Error()
	}
	if got, want := r.Highest(d.Name).Contract(), class.Contract(); got != want {
		return fmt.Sprintf("contract of the definition: got %s, want %s", got, want)
	}
	return ""
}
