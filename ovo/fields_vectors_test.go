package ovo

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// runFields runs the cases of fields.json: what each field accepts, stores, writes and reads.
func runFields(t *testing.T) tally {
	t.Helper()
	var count tally
	file := loadVectors(t, "fields.json")
	if file == nil {
		return count
	}
	world := newVectorWorld(t, vecItems(vecAt(file, "classes")), vecAt(file, "state_machine_transitions"))
	rules := vectorRules(t, file)
	for i, c := range vecItems(vecAt(file, "cases")) {
		name := fmt.Sprintf("fields.json case %d (%s of %s with %s)", i, vecText(c, "op"), vecText(c, "field"), pyRepr(vecAt(c, "in")))
		if vecFlag(c, "python_only_input") {
			count.skipped++
			continue
		}
		r := fieldRun{world: world, rule: rules[vecText(c, "field")], c: c.(*Dict), place: place{field: "fld", objects: world}}
		switch op := vecText(c, "op"); {
		case op == "coerce":
			count.record(t, name, r.coerce(t))
		case op == "from_primitive":
			count.record(t, name, r.fromPrimitive())
		case op == "assign_sequence" && vecHas(c, "class"):
			count.record(t, name, r.assign(vecText(c, "class")))
		case op == "assign_sequence":
			count.record(t, name, r.assign("SynSM"))
		default:
			count.record(t, name, "unknown op")
		}
	}
	return count
}

// vectorRules makes the fields that the cases refer to and checks their text in fingerprints.
func vectorRules(t *testing.T, file *Dict) map[string]*fieldRule {
	t.Helper()
	rules := map[string]*fieldRule{}
	for name, def := range vecDict(vecAt(file, "field_defs")).All() {
		f, err := vectorField(def, vecAt(file, "state_machine_transitions"))
		if err == nil {
			var typ Type
			typ, err = NewType(f.Type)
			rules[name.(string)] = &fieldRule{typ: typ, nullable: f.Nullable, readOnly: f.ReadOnly, hasDefault: f.HasDefault, def: f.Default, plain: f.Plain}
		}
		if err != nil {
			t.Fatalf("field %v: %v", name, err)
		}
		if got := rules[name.(string)].contract(); got != vecText(def, "repr") {
			t.Errorf("field %v: contract %s, want %s", name, got, vecText(def, "repr"))
		}
	}
	if rule := rules["Dict_default_elem"]; rule != nil { // the one fact that field_defs does not carry
		rule.typ.(*dictType).element = fieldRule{typ: integerType{}, hasDefault: true, def: int64(5)}
	}
	return rules
}

func vecDict(v any) *Dict {
	if d, ok := v.(*Dict); ok {
		return d
	}
	return &Dict{}
}

// fieldRun is one case of fields.json.
type fieldRun struct {
	world vectorWorld
	rule  *fieldRule
	c     *Dict
	place place
}

func (r *fieldRun) untag(v any) (any, error) { return untag(v, r.world.untag) }

// check compares a value with the recorded one under key.
func (r *fieldRun) check(key string, got any) string {
	want, err := r.untag(vecAt(r.c, key))
	if err != nil {
		return err.Error()
	}
	if same(got, want, r.world.describe) {
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

// nativeZone finds a zone that Python has named after its own fashion; see testdata/deviations.json.
var nativeZone = regexp.MustCompile(`(T[0-9:]{8})UTC([+-][0-9:]{5})`)

// written checks the primitive, text form and JSON of a stored value.
func (r *fieldRun) written(t *testing.T, v any) string {
	primitive, err := r.rule.toPrimitive(r.place, v)
	if err != nil {
		return "primitive: " + err.Error()
	}
	if s, _ := vecAt(r.c, "primitive").(string); nativeZone.MatchString(s) {
		return r.readable(primitive, nativeZone.ReplaceAllString(s, "$1$2"))
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
func (r *fieldRun) readable(primitive any, want string) string {
	if primitive != want {
		return fmt.Sprintf("primitive: want %s, got %s", want, pyRepr(primitive))
	}
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

// assign assigns one value after the other to the fields of one object.
func (r *fieldRun) assign(class string) string {
	o, err := r.world.Highest(class).New()
	if err != nil {
		return err.Error()
	}
	v, err := r.world.View(o)
	if err != nil {
		return err.Error()
	}
	for _, step := range vecItems(vecAt(r.c, "steps")) {
		name := vecText(step, "field")
		if name == "" {
			name = "state"
		}
		err := v.Assign(name, vecAt(step, "set"))
		if want := vecAt(step, "error"); want != nil {
			if problem := wrongError(err, want); problem != "" {
				return problem
			}
			if !strings.HasSuffix(err.Error(), vecText(want, "message")) {
				return fmt.Sprintf("want %q, got %q", vecText(want, "message"), err)
			}
			continue
		}
		if err != nil {
			return err.Error()
		}
		if changed := vecAt(step, "changed"); changed != nil && !same(anySlice(v.marked()), changed, nil) {
			return fmt.Sprintf("changed: want %s, got %v", pyRepr(changed), v.marked())
		}
	}
	if vecHas(r.c, "final") {
		return r.check("final", o)
	}
	return ""
}

func TestFieldVectors(t *testing.T) {
	t.Parallel()
	count := runFields(t)
	t.Logf("%+v", count)
}
