package ovo

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// vectorObjects makes and describes the objects of vector cases.
type vectorObjects interface {
	objectSpace
	Highest(name string) *Class
	View(o Object) (View, error)
	untag(kind string, content *Dict) (any, error)
	describe(o Object) *Dict
}

// runFields runs the cases of fields.json: what each field accepts, stores, writes and reads.
func runFields(t *testing.T, objects vectorObjects) tally {
	t.Helper()
	file := loadVectors(t, "fields.json")
	rules := map[string]*fieldRule{}
	for name, def := range at2dict(at(file, "field_defs")).All() {
		rule, err := vectorRule(def, file)
		if err != nil {
			t.Fatalf("field %v: %v", name, err)
		}
		if name == "Dict_default_elem" { // the one fact that field_defs does not carry
			rule.typ.(*dictType).element = fieldRule{typ: integerType{}, hasDefault: true, def: int64(5)}
		}
		rules[name.(string)] = rule
		if got := rule.contract(); got != text(def, "repr") {
			t.Errorf("field %v: contract %s, want %s", name, got, text(def, "repr"))
		}
	}
	var count tally
	for i, c := range items(at(file, "cases")) {
		name := fmt.Sprintf("fields.json case %d (%s of %s with %s)", i, text(c, "op"), text(c, "field"), pyRepr(at(c, "in")))
		if flag(c, "python_only_input") {
			count.skipped++
			continue
		}
		r := fieldRun{objects: objects, rule: rules[text(c, "field")], c: c.(*Dict), place: place{field: "fld"}}
		if objects != nil {
			r.place.objects = objects
		}
		if objects == nil && usesObjects(r.c) {
			continue
		}
		switch text(c, "op") {
		case "coerce":
			count.record(t, name, r.coerce(t))
		case "from_primitive":
			count.record(t, name, r.fromPrimitive())
		case "assign_sequence":
			if has(c, "class") {
				count.record(t, name, r.assignObject())
				continue
			}
			count.record(t, name, r.assign())
		default:
			count.record(t, name, "unknown op")
		}
	}
	return count
}

// usesObjects says whether a case needs a registry.
func usesObjects(c *Dict) bool {
	return has(c, "class") || strings.Contains(text(c, "field"), "Object") || strings.Contains(pyRepr(at(c, "in")), "'$new'")
}

func at2dict(v any) *Dict {
	if d, ok := v.(*Dict); ok {
		return d
	}
	return &Dict{}
}

// vectorRule makes a field of its description in a vector file.
func vectorRule(def, file any) (*fieldRule, error) {
	spec, err := vectorType(def)
	if err != nil {
		return nil, err
	}
	if spec.Values.list != nil && !flag(def, "enum_repr") {
		spec.Name = "Enum"
	}
	if text(def, "field_class") == "SM" {
		spec.Transitions = map[string][]string{}
		for state, next := range at2dict(at(file, "state_machine_transitions")).All() {
			spec.Transitions[state.(string)] = []string{}
			for _, n := range items(next) {
				spec.Transitions[state.(string)] = append(spec.Transitions[state.(string)], n.(string))
			}
		}
	}
	typ, err := NewType(spec)
	if err != nil {
		return nil, err
	}
	rule := &fieldRule{
		typ: typ, nullable: flag(def, "nullable"), readOnly: flag(def, "read_only"),
		hasDefault: flag(def, "has_default"), plain: !flag(def, "enum_repr"),
	}
	rule.def, err = untag(at(def, "default"), nil)
	return rule, err
}

func vectorType(def any) (TypeSpec, error) {
	spec := TypeSpec{
		Name: text(def, "type"), ElementNullable: flag(def, "element_nullable"), Object: text(def, "objname"),
		Subclasses: flag(def, "subclasses"), Naive: has(def, "tzinfo_aware") && !flag(def, "tzinfo_aware"),
	}
	if has(def, "valid_values") {
		values, err := untag(at(def, "valid_values"), nil)
		if err != nil {
			return spec, err
		}
		spec.Values.list = values
	}
	if element := at(def, "element"); element != nil {
		e, err := vectorType(element)
		if err != nil {
			return spec, err
		}
		spec.Element = &e
	}
	return spec, nil
}

// fieldRun is one case of fields.json.
type fieldRun struct {
	objects vectorObjects
	rule    *fieldRule
	c       *Dict
	place   place
}

func (r *fieldRun) untag(v any) (any, error) {
	return untag(v, func(kind string, content *Dict) (any, error) {
		if r.objects == nil {
			return nil, fmt.Errorf("%s needs objects", kind)
		}
		return r.objects.untag(kind, content)
	})
}

// check compares a value with the recorded one under key.
func (r *fieldRun) check(key string, got any) string {
	want, err := r.untag(at(r.c, key))
	if err != nil {
		return err.Error()
	}
	var describe func(Object) *Dict
	if r.objects != nil {
		describe = r.objects.describe
	}
	if same(got, want, describe) {
		return ""
	}
	if flag(r.c, "set_order_arbitrary") && sameUnordered(got, want) {
		return ""
	}
	return fmt.Sprintf("%s of %s: want %s, got %s", key, pyRepr(at(r.c, "in")), pyRepr(want), pyRepr(got))
}

// sameUnordered compares primitives in which a set has become a list.
func sameUnordered(a, b any) bool {
	x, okX := a.(Tuple)
	y, okY := b.(Tuple)
	if okX && okY {
		s, errX := NewSet(x...)
		u, errY := NewSet(y...)
		return errX == nil && errY == nil && same(s, u, nil)
	}
	d, okX := a.(*Dict)
	e, okY := b.(*Dict)
	if !okX || !okY || !sameItems(d.keys, e.keys, nil) {
		return false
	}
	for i := range d.values {
		if !sameUnordered(d.values[i], e.values[i]) {
			return false
		}
	}
	return true
}

func (r *fieldRun) coerce(t *testing.T) string {
	in, err := r.untag(at(r.c, "in"))
	if err != nil {
		return err.Error()
	}
	got, err := r.rule.coerce(r.place, in)
	if want := at(r.c, "error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return fmt.Sprintf("coerce %s: %v", pyRepr(in), err)
	}
	if problem := r.check("out", got); problem != "" {
		return problem
	}
	return r.written(t, got)
}

// nativeZone finds a zone that Python has named after its own fashion.
var nativeZone = regexp.MustCompile(`(T[0-9:]{8})UTC([+-][0-9:]{5})`)

// written checks the primitive, text form and JSON of a stored value.
func (r *fieldRun) written(t *testing.T, v any) string {
	primitive, err := r.rule.toPrimitive(r.place, v)
	if err != nil {
		return "primitive: " + err.Error()
	}
	if s, _ := at(r.c, "primitive").(string); nativeZone.MatchString(s) {
		return r.readable(primitive, nativeZone.ReplaceAllString(s, "$1$2"))
	}
	if problem := r.check("primitive", primitive); problem != "" {
		return problem
	}
	stringified, err := r.rule.stringify(r.place, v)
	if want := at(r.c, "stringify_error"); want != nil {
		if problem := wrongError(err, want); problem != "" {
			return problem
		}
	} else if want, fixed := at(r.c, "stringify").(string); fixed && (err != nil || want != stringified) {
		return fmt.Sprintf("stringify: want %s, got %s %v", want, stringified, err)
	}
	parsed, err := r.untag(parseJSON(t, []byte(text(r.c, "json"))))
	if err != nil {
		return err.Error()
	}
	back, err := r.rule.fromPrimitive(r.place, parsed)
	if want := at(r.c, "from_json_error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return "from json: " + err.Error()
	}
	return r.check("from_json", back)
}

// readable checks the deviation for zones made natively in Python: we write their offset, which can be read back.
func (r *fieldRun) readable(primitive any, want string) string {
	if primitive != want {
		return fmt.Sprintf("primitive: want %s, got %s", want, pyRepr(primitive))
	}
	back, err := r.rule.fromPrimitive(r.place, primitive)
	if err != nil {
		return "from own primitive: " + err.Error()
	}
	if want, err := r.untag(at(r.c, "out")); err != nil || !pyEqual(back, want) {
		return fmt.Sprintf("own primitive %s reads back as %s", pyRepr(primitive), pyRepr(back))
	}
	return ""
}

func (r *fieldRun) fromPrimitive() string {
	in, err := r.untag(at(r.c, "in"))
	if err != nil {
		return err.Error()
	}
	got, err := r.rule.fromPrimitive(r.place, in)
	if want := at(r.c, "error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return fmt.Sprintf("from_primitive %s: %v", pyRepr(in), err)
	}
	return r.check("out", got)
}

// assign puts values into one field of one object, one after the other.
func (r *fieldRun) assign() string {
	p := place{object: "SynSM", field: "state"}
	for _, step := range items(at(r.c, "steps")) {
		v, err := r.rule.coerce(p, at(step, "set"))
		if want := at(step, "error"); want != nil {
			if problem := wrongError(err, want); problem != "" {
				return problem
			}
			if err.Error() != text(want, "message") {
				return fmt.Sprintf("want %q, got %q", text(want, "message"), err)
			}
			continue
		}
		if err != nil {
			return err.Error()
		}
		p.current, p.isSet = v, true
	}
	return ""
}

// assignObject assigns one value after the other to the fields of one object of a class.
func (r *fieldRun) assignObject() string {
	o, err := r.objects.Highest(text(r.c, "class")).New()
	if err != nil {
		return err.Error()
	}
	v, err := r.objects.View(o)
	if err != nil {
		return err.Error()
	}
	for _, step := range items(at(r.c, "steps")) {
		err := v.Assign(text(step, "field"), at(step, "set"))
		if want := at(step, "error"); want != nil {
			if problem := wrongError(err, want); problem != "" {
				return problem
			}
			continue
		}
		if err != nil {
			return err.Error()
		}
		if changed := at(step, "changed"); !same(anySlice(v.marked()), changed, nil) {
			return fmt.Sprintf("changed: want %s, got %v", pyRepr(changed), v.marked())
		}
	}
	return r.check("final", o)
}
