package ovo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// round is one round of the differential test: the request to the peer and, beside it, what ours gave for the same.
type round struct {
	*world
	view View
	req  request
	errs []error // of the steps
}

// request is what the peer is asked; see testdata/interop/peer.py.
type request struct {
	Classes []any     `json:"classes"`
	Class   string    `json:"class"`
	Steps   []any     `json:"steps"`
	Backs   []back    `json:"backs"`
	Reads   []reading `json:"reads"`
	Lookups [][]any   `json:"lookups"`
}

// back is a version to write the object at.
type back struct {
	Target   string   `json:"target"`
	Manifest Manifest `json:"manifest"`
}

// reading is a text to read, and a version to write what came out at.
type reading struct {
	Text string `json:"text"`
	back
}

// answer is the peer's.
type answer struct {
	Fingerprints map[string]string   `json:"fingerprints"`
	Manifests    map[string]Manifest `json:"manifests"`
	Outcomes     []outcome           `json:"outcomes"`
	Own          outcome             `json:"own"`
	Text         outcome             `json:"text"`
	Changes      []string            `json:"changes"`
	Clone        outcome             `json:"clone"`
	Backs        []outcome           `json:"backs"`
	Reads        []readOutcome       `json:"reads"`
	Again        readOutcome         `json:"again"`
	Lookups      []outcome           `json:"lookups"`
}

// outcome is a text or the class and the text of an exception.
type outcome struct {
	JSON    string `json:"json"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// readOutcome is what became of a text: written again at its own version and at another one.
type readOutcome struct {
	outcome
	Own     outcome  `json:"own"`
	Back    outcome  `json:"back"`
	Text    string   `json:"text"`
	Changes []string `json:"changes"`
}

func newRound(w *world) (*round, error) {
	r := &round{world: w, req: request{Class: pickOne(w, w.reg.Names()...)}}
	for i := range w.defs {
		r.req.Classes = append(r.req.Classes, w.described(i))
	}
	o, err := w.reg.Highest(r.req.Class).New()
	if err != nil {
		return nil, err
	}
	if r.view, err = w.reg.View(o); err != nil {
		return nil, err
	}
	for range 2 + w.rnd.IntN(12+2*len(r.view.c.fields)) {
		r.step()
	}
	for range 1 + w.rnd.IntN(3) {
		r.req.Backs = append(r.req.Backs, w.back(r.view.Version()))
	}
	if own, err := w.reg.Append(nil, o); err == nil {
		r.req.Reads = append(r.req.Reads, reading{string(own), w.back(r.view.Version())})
		for range 2 {
			r.req.Reads = append(r.req.Reads, reading{string(w.damaged(own)), w.back(r.view.Version())})
		}
	}
	for range 3 {
		r.req.Lookups = append(r.req.Lookups, []any{pickOne(w, append(w.reg.Names(), "Unknown")...), w.version()})
	}
	return r, nil
}

// described is a definition as data.
func (w *world) described(i int) any {
	d := w.defs[i]
	fields := []any{}
	for _, f := range d.Fields {
		m := map[string]any{"name": f.Name, "type": describedType(f.Type), "nullable": f.Nullable, "read_only": f.ReadOnly, "plain": f.Plain, "opaque": f.Opaque}
		if f.HasDefault {
			m["default"] = tagged(f.Default)
		}
		fields = append(fields, m)
	}
	pairs := func(list []VersionPair) [][]string {
		out := [][]string{}
		for _, p := range list {
			out = append(out, []string{p.Own, p.Child})
		}
		return out
	}
	relations := map[string]any{}
	for name, list := range d.Relationships {
		relations[name] = pairs(list)
	}
	methods := []any{}
	for _, line := range w.lines[i] {
		name, rest, _ := strings.Cut(line, "(")
		methods = append(methods, map[string]any{"name": name, "line": line, "class": strings.HasPrefix(rest, "cls")})
	}
	return map[string]any{
		"name": d.Name, "version": d.Version, "list": d.List, "iterable": d.Iterable, "fields": fields, "rules": w.rules[i], "relationships": relations,
		"child_versions": pairs(d.ChildVersions), "methods": methods,
	}
}

func describedType(t TypeSpec) any {
	m := map[string]any{"name": t.Name, "element_nullable": t.ElementNullable, "object": t.Object, "subclasses": t.Subclasses, "naive": t.Naive}
	if t.Element != nil {
		m["element"] = describedType(*t.Element)
	}
	if t.Values.list != nil {
		m["values"] = tagged(t.Values.list)
	}
	if t.Transitions != nil {
		m["transitions"] = t.Transitions
	}
	return m
}

// back is a random version and manifest to write an object of a version at.
func (w *world) back(own string) back {
	b := back{Target: pickOne(w, "", own, own, w.version(), w.version())}
	switch w.rnd.IntN(4) {
	case 0:
		return b
	case 1:
		b.Manifest = Manifest{}
		return b
	}
	b.Manifest = Manifest{"Unknown": "1.0"}
	for _, name := range w.reg.Names() {
		if w.chance(80) {
			b.Manifest[name] = pickOne(w, w.reg.Highest(name).Version(), w.version())
		}
	}
	return b
}

func (w *world) version() string {
	if w.chance(85) {
		return fmt.Sprintf("1.%d", w.rnd.IntN(7))
	}
	return pickOne(w, "0.9", "2.0", "1", "1.1.7", "1.2.0", "1.10", "1.2rc1", "v1.1", "x", "", "1.", "1. 1", "1_0.1")
}

// step makes a random step, does it with ours and notes it for the peer.
func (r *round) step() {
	v, path := r.descend(r.view, nil)
	s := map[string]any{"path": path}
	var err error
	field := ""
	if n := len(v.c.fields); n > 0 {
		field = v.c.fields[r.rnd.IntN(n)].name
	}
	switch n := r.rnd.IntN(100); {
	case field == "" || n < 3:
		version := pickOne(r.world, "1.0", "1.1", "1.3", v.c.version)
		s["op"], s["value"] = "version", version
		v.o.base().received = version
	case n < 78:
		value := r.value(v.c.fields[v.c.byName[field]])
		s["op"], s["field"], s["value"] = "set", field, tagged(value)
		if value, err = r.build(value); err == nil {
			err = v.Assign(field, value)
		}
	case n < 84 && !v.c.isList && len(path) == 0: // a recursive reset fails at an unset part when others are reset or not, by chance in Python
		s["op"], s["field"] = "delete", field
		err = v.Delete(field)
	case n < 92:
		names, recursive := []string{}, r.chance(50)
		if r.chance(50) {
			names = append(names, field)
		}
		s["op"], s["fields"], s["recursive"] = "reset", names, recursive
		err = v.Reset(recursive, names...)
	default:
		names := []string{}
		if r.chance(30) {
			names = append(names, field)
		}
		s["op"], s["fields"] = "defaults", names
		err = v.SetDefaults(names...)
	}
	r.req.Steps, r.errs = append(r.req.Steps, s), append(r.errs, err)
}

// value is a value to assign to a field.
func (r *round) value(f field) any {
	v := r.anyValue(f)
	if r.narrow {
		v = narrowed(v)
	}
	return v
}

func (r *round) anyValue(f field) any {
	switch {
	case r.chance(8):
		return nil
	case r.chance(25):
		return r.odd(f.spec)
	case objectOf(f.spec) == "":
		return r.valid(f.spec)
	case f.spec.Name == "Object":
		return r.object(f.spec.Object, 1)
	}
	list := []any{}
	for range r.rnd.IntN(3) {
		list = append(list, r.object(f.spec.Element.Object, 1))
	}
	return list
}

// descend goes down into nested objects at random.
func (r *round) descend(v View, path []any) (View, []any) {
	if path == nil {
		path = []any{}
	}
	if len(v.c.fields) == 0 || !r.chance(30) {
		return v, path
	}
	f := &v.c.fields[r.rnd.IntN(len(v.c.fields))]
	if !v.isSet(f) {
		return v, path
	}
	index, child := -1, v.load(f)
	if list, ok := child.([]any); ok && len(list) > 0 {
		index = r.rnd.IntN(len(list))
		child = list[index]
	}
	o, ok := child.(Object)
	if !ok {
		return v, path
	}
	w, err := r.reg.View(o)
	if err != nil {
		return v, path
	}
	return r.descend(w, append(path, []any{f.name, index}))
}

// build makes the objects in a value.
func (w *world) build(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return eachItem(v, w.build)
	case Tuple:
		list, err := eachItem(v, w.build)
		return Tuple(list), err
	case *Dict:
		d := &Dict{}
		for k, e := range v.All() {
			e, err := w.build(e)
			if err != nil {
				return nil, err
			}
			_ = d.Set(k, e)
		}
		return d, nil
	case *made:
		o, err := w.reg.Highest(v.class).New()
		if err != nil {
			return nil, err
		}
		view, err := w.reg.View(o)
		for _, f := range v.fields {
			var value any
			if value, err = w.build(f.value); err == nil {
				err = view.Assign(f.name, value)
			}
			if err != nil {
				return nil, err
			}
		}
		if v.reset {
			err = view.Reset(false)
		}
		return o, err
	}
	return copyValue(v), nil
}

// damaged changes something in a primitive: a value, a key, a version.
func (w *world) damaged(primitive []byte) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(primitive))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return primitive // NaN and its like
	}
	w.damage(v)
	b, err := json.Marshal(v)
	if err != nil {
		return primitive
	}
	return b
}

func (w *world) damage(v any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		if list, ok := v.([]any); ok && len(list) > 0 {
			w.damage(list[w.rnd.IntN(len(list))])
		}
		return
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	k := pickOne(w, keys...)
	switch n := w.rnd.IntN(10); {
	case strings.HasSuffix(k, ".data") && n < 9, n < 4:
		w.damage(m[k])
	case strings.HasSuffix(k, ".version"):
		m[k] = w.version()
	case strings.HasSuffix(k, ".name"):
		m[k] = pickOne(w, "Unknown", "C0", "C1", "L", "Inner", "Outer")
	case strings.HasSuffix(k, ".changes"):
		m[k] = []any{"f0", "text", "zz"}[:w.rnd.IntN(4)]
	case n < 6, strings.HasSuffix(k, ".data"):
		delete(m, k)
	case strings.HasSuffix(k, ".namespace"):
		m[k] = "other"
	case n < 7:
		m["f9"] = "unknown"
	default:
		m[k] = w.wire()
	}
}

// wire is any value that JSON can say.
func (w *world) wire() any {
	integer := json.Number("123456789012345678901234567890")
	if w.narrow {
		integer = "12345678901234567"
	}
	return pickOne[any](w, nil, true, false, json.Number("0"), json.Number("1.0"), json.Number("-7"), json.Number("1e3"), integer, "", "x", "1", "2020-01-02T03:04:05Z",
		"10.0.0.1", []any{}, []any{"a", "b"}, []any{json.Number("1"), nil}, map[string]any{}, map[string]any{"k": "v"}, map[string]any{"k": nil})
}
