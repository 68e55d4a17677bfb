package ovo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// world is the classes of one round of the differential test: definitions for ours, the same as data for the peer.
type world struct {
	rnd     *rand.Rand
	defs    []Definition
	rules   [][]compatRule // of each definition, newest first
	lines   [][]string     // signatures of its methods
	reg     *Registry
	hasSets bool
	narrow  bool // integers fit into 64 bits
}

// compatRule is one rule of a class for older versions as the peer runs it.
type compatRule struct {
	Below  string   `json:"below"`
	Op     string   `json:"op"`
	Field  string   `json:"field"`
	To     string   `json:"to"`
	Values []string `json:"values"`
}

func newWorld(rnd *rand.Rand) (*world, error) {
	if rnd.IntN(3) == 0 {
		return newStructWorld(rnd)
	}
	w := &world{rnd: rnd}
	for i := range 1 + rnd.IntN(4) {
		w.define(fmt.Sprintf("C%d", i))
	}
	if rnd.IntN(3) == 0 {
		w.defineList()
	}
	if rnd.IntN(6) == 0 {
		w.defineOlder()
	}
	classes := make([]*Class, len(w.defs))
	for i, d := range w.defs {
		classes[i] = d.Class()
	}
	var err error
	w.reg, err = NewRegistry(cyborgSpace(), classes...)
	return w, err
}

func (w *world) chance(percent int) bool { return w.rnd.IntN(100) < percent }

func pickOne[T any](w *world, list ...T) T { return list[w.rnd.IntN(len(list))] }

func (w *world) define(name string) {
	minor := w.rnd.IntN(6)
	d := Definition{Name: name, Version: fmt.Sprintf("1.%d", minor), Iterable: w.chance(25), Relationships: map[string][]VersionPair{}}
	for i := range w.rnd.IntN(7) {
		d.Fields = append(d.Fields, w.field(fmt.Sprintf("f%d", i)))
	}
	if w.chance(20) {
		d.Fields = append(d.Fields, FieldDefinition{Name: pickOne(w, "uuid", "id"), Type: TypeSpec{Name: "UUID"}, Nullable: w.chance(50)})
	}
	w.add(d, minor)
}

// add completes a definition with rules, relationships and methods.
func (w *world) add(d Definition, minor int) {
	rules := w.history(&d, minor)
	for _, f := range d.Fields {
		if pairs := w.pairs(minor); !f.Opaque && objectOf(f.Type) != "" && w.chance(70) && len(pairs) > 0 {
			d.Relationships[f.Name] = pairs
		}
	}
	lines := w.methods(&d)
	w.defs, w.rules, w.lines = append(w.defs, d), append(w.rules, rules), append(w.lines, lines)
}

// pairs are random versions of a nested object by own version.
func (w *world) pairs(minor int) []VersionPair {
	var list []VersionPair
	for own, child := 0, 0; own <= minor+1; own++ {
		if w.chance(40) {
			child += w.rnd.IntN(3)
			list = append(list, VersionPair{fmt.Sprintf("1.%d", own), fmt.Sprintf("1.%d", child)})
		}
	}
	return list
}

// defineList adds a list class whose members are of an earlier class.
func (w *world) defineList() {
	minor := w.rnd.IntN(5)
	d := Definition{Name: "L", Version: fmt.Sprintf("1.%d", minor), List: true, Relationships: map[string][]VersionPair{}}
	member := pickOne(w, w.defs...).Name
	d.Fields = append(d.Fields, FieldDefinition{Name: objectsField, Type: TypeSpec{Name: "List", Element: &TypeSpec{Name: "Object", Object: member}}})
	if w.chance(30) {
		extra := w.field("extra")
		extra.Type.Transitions = nil // Python does not check them in list objects
		d.Fields = append(d.Fields, extra)
	}
	if w.chance(50) {
		d.ChildVersions = w.pairs(minor)
	}
	w.add(d, minor)
}

// defineOlder adds an older version of the first class.
func (w *world) defineOlder() {
	d := w.defs[0]
	if d.Version == "1.0" {
		return
	}
	d.Version, d.History, d.Relationships, d.Methods = "1.0", nil, map[string][]VersionPair{}, nil
	d.Fields = slices.Clone(d.Fields[:w.rnd.IntN(len(d.Fields)+1)])
	w.add(d, 0)
}

// history adds rules for older versions to a definition.
func (w *world) history(d *Definition, minor int) []compatRule {
	rules := []compatRule{}
	used := map[string]bool{}
	for v := 1; v <= minor; v++ {
		version := fmt.Sprintf("1.%d", v)
		var changes []Change
		for _, f := range d.Fields {
			if used[f.Name] || f.Name == objectsField || !w.chance(15) {
				continue
			}
			used[f.Name] = true
			rule := compatRule{Below: version, Op: "adds", Field: f.Name}
			change := Adds(f.Name)
			values := stringValues(f.Type)
			switch {
			case w.chance(20):
				rule = compatRule{Below: version, Op: "renames", Field: "old_" + f.Name, To: f.Name}
				change = Renames("old_"+f.Name, f.Name)
			case len(values) > 0 && w.chance(60):
				rule.Op, rule.Values = "values", values[:1+w.rnd.IntN(len(values))]
				change = AddsValue(f.Name, rule.Values...)
			}
			changes, rules = append(changes, change), append(rules, rule)
		}
		if len(changes) > 0 {
			d.History = append(d.History, V(version, changes...))
		}
	}
	slices.Reverse(rules)
	return rules
}

func stringValues(t TypeSpec) []string {
	var list []string
	for _, v := range t.Values.items() {
		if s, ok := v.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// objectOf is the class of the objects in a field of objects, "" for another field.
func objectOf(t TypeSpec) string {
	if t.Name == "List" && t.Element != nil {
		t = *t.Element
	}
	return t.Object
}

var peerScalars = []string{
	"String", "SensitiveString", "VersionPredicate", "UUID", "MACAddress", "PCIAddress", "Integer", "NonNegativeInteger", "Float", "NonNegativeFloat",
	"Boolean", "FlexibleBoolean", "DateTime", "IPAddress", "IPV4Address", "IPV6Address", "IPV4AndV6Address", "IPNetwork", "IPV4Network", "IPV6Network",
}

func (w *world) field(name string) FieldDefinition {
	f := FieldDefinition{Name: name, Nullable: w.chance(40), ReadOnly: w.chance(10)}
	switch n := w.rnd.IntN(100); {
	case n < 25 && len(w.defs) > 0:
		t := TypeSpec{Name: "Object", Object: pickOne(w, w.defs...).Name}
		if member := t; w.chance(50) {
			t = TypeSpec{Name: "List", Element: &member}
		}
		f.Type, f.Opaque = t, w.chance(8)
		if t.Name == "List" && w.chance(30) {
			f.HasDefault, f.Default = true, []any{}
		}
		return f
	case n < 50:
		f.Type, f.ReadOnly = w.container(2), false // whether a list made of a set equals the next one is chance in Python
		f.Plain = f.Type.Name == "List" && len(stringValues(*f.Type.Element)) == 0 || w.chance(30)
	case n < 65:
		f.Type, f.Plain = w.enum(), w.chance(25)
	default:
		f.Type = w.scalar()
	}
	if f.Type.Transitions != nil {
		f.Nullable, f.Plain = false, false // Python makes the text "None" of a null
	} else if w.chance(30) && !nestsSets(f.Type) {
		f.HasDefault, f.Default = true, w.valid(f.Type)
	}
	return f
}

// nestsSets tells containers with sets in them: the text of such a default has no order.
func nestsSets(t TypeSpec) bool {
	return t.Element != nil && (t.Element.Name == "Set" || nestsSets(*t.Element))
}

func (w *world) scalar() TypeSpec {
	t := TypeSpec{Name: pickOne(w, peerScalars...)}
	t.Naive = t.Name == "DateTime" && w.chance(25)
	return t
}

func (w *world) enum() TypeSpec {
	t := TypeSpec{Name: pickOne(w, "Enum", "Enum", "NamedEnum")}
	words := []any{"a", "bb", "c'c", "é\n", "D"}[:1+w.rnd.IntN(5)]
	switch w.rnd.IntN(5) {
	case 0:
		t.Values.list = slices.Clone(words)
	case 1:
		t.Values = SubstringOf("PCI")
	default:
		t.Values.list = Tuple(words)
	}
	if list, ok := t.Values.list.(Tuple); ok && t.Name == "Enum" && w.chance(20) && list[0] == any("a") {
		t.Transitions = map[string][]string{}
		for _, from := range list {
			if w.chance(80) {
				t.Transitions[from.(string)] = []string{pickOne(w, list...).(string), pickOne(w, list...).(string)}
			}
		}
	}
	return t
}

func (w *world) container(depth int) TypeSpec {
	t := TypeSpec{Name: pickOne(w, "List", "List", "Dict", "Dict", "Set")}
	w.hasSets = w.hasSets || t.Name == "Set"
	var e TypeSpec
	switch {
	case t.Name != "Set" && depth > 0 && w.chance(25):
		e = w.container(depth - 1)
	case w.chance(15):
		if e = w.enum(); t.Name == "List" {
			e.Name = "Enum"
		}
		e.Transitions = nil
	default:
		e = w.scalar()
	}
	if t.Name == "Set" && (e.Name == "DateTime" || strings.HasSuffix(e.Name, "Network")) {
		e = TypeSpec{Name: "String"} // which of two equal ones stays is chance in Python
	}
	t.Element = &e
	t.ElementNullable = t.Name != "Set" && len(e.Values.items()) == 0 && w.chance(25)
	return t
}

var literals = []string{
	"None", "True", "1", "-1", "1.5", "1e+16", "'x'", `"it's"`, "''", "()", "(1,)", "(1, 'x')", "[]", "[1, None]", "{}", "{'a': 1}", `'\n'`, "'é'", "12345678901234567890123",
}

var annotations = []string{"int", "str", "float", "bool", "list", "dict", "object", "'quoted'", "list[int]", "dict[str, int]", "int | None", "None", "datetime.datetime"}

// methods gives a definition random remotable methods and returns their def lines.
func (w *world) methods(d *Definition) []string {
	lines := []string{}
	var fields []reflect.StructField
	for i := range w.rnd.IntN(3) {
		line := w.signature(fmt.Sprintf("m%d", i))
		sig, err := parseSignature(line)
		if err != nil {
			panic(err) // a generated line is one
		}
		lines = append(lines, line)
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("M%d", i), Type: methodType(sig),
			Tag: reflect.StructTag(fmt.Sprintf("ovo:%q class:%q", line, d.Name+d.Version)),
		})
	}
	if len(fields) > 0 {
		d.Methods = reflect.StructOf(fields)
	}
	return lines
}

// methodType is the Go function of a signature whose parameters are all any.
func methodType(sig *signature) reflect.Type {
	in := []reflect.Type{reflect.TypeFor[context.Context]()}
	if !sig.isClassMethod() {
		in = append(in, reflect.TypeFor[*Record]())
	}
	for range sig.arguments() {
		in = append(in, reflect.TypeFor[any]())
	}
	if sig.varargs != "" {
		in = append(in, reflect.TypeFor[[]any]())
	}
	for range sig.kwonly {
		in = append(in, reflect.TypeFor[any]())
	}
	if sig.varkw != "" {
		in = append(in, reflect.TypeFor[*Dict]())
	}
	return reflect.FuncOf(in, []reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[error]()}, false)
}

func (w *world) signature(name string) string {
	params := []string{"self"}
	if w.chance(50) {
		params = []string{"cls", "context"}
	}
	annotated := w.chance(30)
	param := func(name string, def bool) string {
		if annotated && w.chance(50) {
			name += ": " + pickOne(w, annotations...)
		}
		if def {
			name += " = " + pickOne(w, literals...)
		}
		return name
	}
	defaults := false
	for i := range w.rnd.IntN(4) {
		defaults = defaults || w.chance(35)
		params = append(params, param(fmt.Sprintf("a%d", i), defaults))
	}
	if w.chance(10) {
		params = append(params, "/")
	}
	keyword := w.chance(25)
	switch {
	case w.chance(25):
		params = append(params, "*"+param("args", false))
	case keyword:
		params = append(params, "*")
	}
	if keyword {
		params = append(params, param("k0", w.chance(50)), param("k1", w.chance(50)))
	}
	if w.chance(25) {
		params = append(params, "**"+param("kw", false))
	}
	line := name + "(" + strings.Join(params, ", ") + ")"
	if annotated && w.chance(50) {
		line += " -> " + pickOne(w, annotations...)
	}
	return line
}
