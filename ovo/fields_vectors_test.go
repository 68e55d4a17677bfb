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
	untag(kind string, content *Dict) (any, error)
	describe(o Object) *Dict
}

// runFields runs the cases of fields.json: what each field accepts, stores, writes and reads.
func runFields(t *testing.T, objects vectorObjects) tally {
	t.Helper()
	file := loadVectors(t, "fields.json")
	rules := map[string]*fieldRule{}
	for name, def := range vecDict(vecAt(file, "field_defs")).All() {
		rule, err := vectorRule(def, file)
		if err != nil {
			t.Fatalf("field %v: %v", name, err)
		}
		if name == "Dict_default_elem" { // the one fact that field_defs does not carry
			rule.typ.(*dictType).element = fieldRule{typ: integerType{}, hasDefault: true, def: int64(5)}
		}
		rules[name.(string)] = rule
		if got := rule.contract(); got != vecText(def, "repr") {
			t.Errorf("field %v: contract %s, want %s", name, got, vecText(def, "repr"))
		}
	}
	var count tally
	for i, c := range vecItems(vecAt(file, "cases")) {
		name := fmt.Sprintf("fields.json case %d (%s of %s with %s)", i, vecText(c, "op"), vecText(c, "field"), pyRepr(vecAt(c, "in")))
		if vecFlag(c, "python_only_input") {
			count.skipped++
			continue
		}
		r := fieldRun{objects: objects, rule: rules[vecText(c, "field")], c: c.(*Dict), place: place{field: "fld"}}
		if objects != nil {
			r.place.objects = objects
		}
		if objects == nil && usesObjects(r.c) {
			continue
		}
		switch vecText(c, "op") {
		case "coerce":
			count.record(t, name, r.coerce(t))
		case "from_primitive":
			count.record(t, name, r.fromPrimitive())
		case "assign_sequence":
			if vecHas(c, "class") {
				continue // needs a class: see the case runner of changes.json
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
	return strings.Contains(vecText(c, "field"), "Object") || strings.Contains(pyRepr(vecAt(c, "in")), "'$new'")
}

func vecDict(v any) *Dict {
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
	if spec.Values.list != nil && !vecFlag(def, "enum_repr") {
		spec.Name = "Enum"
	}
	if vecText(def, "field_class") == "SM" {
		spec.Transitions = map[string][]string{}
		for state, next := range vecDict(vecAt(file, "state_machine_transitions")).All() {
			spec.Transitions[state.(string)] = []string{}
			for _, n := range vecItems(next) {
				spec.Transitions[state.(string)] = append(spec.Transitions[state.(string)], n.(string))
			}
		}
	}
	typ, err := NewType(spec)
	if err != nil {
		return nil, err
	}
	rule := &fieldRule{
		typ: typ, nullable: vecFlag(def, "nullable"), readOnly: vecFlag(def, "read_only"),
		hasDefault: vecFlag(def, "has_default"), plain: !vecFlag(def, "enum_repr"),
	}
	rule.def, err = untag(vecAt(def, "default"), nil)
	return rule, err
}

func vectorType(def any) (TypeSpec, error) {
	spec := TypeSpec{
		Name: vecText(def, "type"), ElementNullable: vecFlag(def, "element_nullable"), Object: vecText(def, "objname"),
		Subclasses: vecFlag(def, "subclasses"), Naive: vecHas(def, "tzinfo_aware") && !vecFlag(def, "tzinfo_aware"),
	}
	if vecHas(def, "valid_values") {
		values, err := untag(vecAt(def, "valid_values"), nil)
		if err != nil {
			return spec, err
		}
		spec.Values.list = values
	}
	if element := vecAt(def, "element"); element != nil {
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
	want, err := r.untag(vecAt(r.c, key))
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
	if vecFlag(r.c, "set_order_arbitrary") && sameUnordered(got, want) {
		return ""
	}
	return fmt.Sprintf("%s of %s: want %s, got %s", key, pyRepr(vecAt(r.c, "in")), pyRepr(want), pyRepr(got))
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
	in, err := r.untag(vecAt(r.c, "in"))
	if err != nil {
		return err.Error()
	}
	got, err := r.rule.coerce(r.place, in)
	if want := vecAt(r.c, "error"); want != nil {
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
var nativeZone = regexp.MustCompile(`T[0-9:]{8}UTC[+-][0-9:]{5}`)

// written checks the primitive, text form and JSON of a stored value.
func (r *fieldRun) written(t *testing.T, v any) string {
	primitive, err := r.rule.toPrimitive(r.place, v)
	if err != nil {
		return "primitive: " + err.Error()
	}
	if s, _ := vecAt(r.c, "primitive").(string); nativeZone.MatchString(s) {
		return r.readable(primitive)
	}
	if problem := r.check("primitive", primitive); problem != "" {
		return problem
	}
	stringified, err := r.rule.stringify(r.place, v)
	if want := vecAt(r.c, "stringify_error"); want != nil {
		if problem := wrongError(err, want); problem != "" {
			return problem
		}
	} else if want, fixed := vecAt(r.c, "stringify").(string); fixed && (err != nil || want != stringified) {
		return fmt.Sprintf("stringify: want %s, got %s %v", want, stringified, err)
	}
	parsed, err := r.untag(parseJSON(t, []byte(vecText(r.c, "json"))))
	if err != nil {
		return err.Error()
	}
	back, err := r.rule.fromPrimitive(r.place, parsed)
	if want := vecAt(r.c, "from_json_error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return "from json: " + err.Error()
	}
	return r.check("from_json", back)
}

// readable checks the deviation for zones made natively in Python: we write their offset, which can be read back.
func (r *fieldRun) readable(primitive any) string {
	back, err := r.rule.fromPrimitive(r.place, primitive)
	if err != nil {
		return "from own primitive: " + err.Error()
	}
	if want, err := r.untag(vecAt(r.c, "out")); err != nil || !pyEqual(back, want) {
		return fmt.Sprintf("own primitive %s reads back as %s", pyRepr(primitive), pyRepr(back))
	}
	return ""
}

func (r *fieldRun) fromPrimitive() string {
	in, err := r.untag(vecAt(r.c, "in"))
	if err != nil {
		return err.Error()
	}
	got, err := r.rule.fromPrimitive(r.place, in)
	if want := vecAt(r.c, "error"); want != nil {
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
	for _, step := range vecItems(vecAt(r.c, "steps")) {
		v, err := r.rule.coerce(p, vecAt(step, "set"))
		if want := vecAt(step, "error"); want != nil {
			if problem := wrongError(err, want); problem != "" {
				return problem
			}
			if err.Error() != vecText(want, "message") {
				return fmt.Sprintf("want %q, got %q", vecText(want, "message"), err)
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

func TestFieldVectors(t *testing.T) {
	t.Parallel()
	count := runFields(t, nil)
	t.Logf("%+v", count)
}
