package ovo_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
)

// lazy loads its name when it is asked for.
type lazy struct {
	ovo.Base
	Name ovo.Field[string] `ovo:"name"`
	Kind ovo.Field[string] `ovo:"kind,default=plain"`
}

var errNoRow = errors.New("no row")

func (l *lazy) LoadField(_ context.Context, name string) error {
	if name != "name" {
		return errNoRow
	}
	l.Name.Set("loaded")
	return nil
}

func view(t *testing.T, r *ovo.Registry, o ovo.Object) ovo.View {
	t.Helper()
	v, err := r.View(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestViewLoads(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, ovo.NewClass[lazy]("Lazy", ovo.History{ovo.V("1.0")}))
	l := &lazy{}
	v := view(t, r, l)
	var unset *ovo.NotImplementedError
	if _, err := v.Get("name"); !errors.As(err, &unset) {
		t.Errorf("Get does not load: %v", err)
	}
	if got, err := v.Load(context.Background(), "name"); err != nil || got != "loaded" || !l.Name.Changed() {
		t.Errorf("Load: %v %v", got, err)
	}
	if _, err := v.Load(context.Background(), "kind"); !errors.Is(err, errNoRow) {
		t.Errorf("error of the loader: %v", err)
	}
	if _, err := v.Load(context.Background(), "nope"); err == nil {
		t.Error("no such field")
	}
}

func TestViewAssigns(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	e := &everything{}
	v := view(t, r, e)
	for name, value := range map[string]any{
		"count": "12", "flag": "", "names": ovo.Tuple{int64(1), true}, "fixed": "f", "any": &inner{}, "raw": &ovo.Dict{}, "ratio": int64(2), "groups": nil,
	} {
		if err := v.Assign(name, value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e.Count.Value() != 12 || e.Flag.Value() || !cmp.Equal(e.Names.Value(), []string{"1", "True"}) || e.Ratio.Value() != 2 || !e.Groups.IsNull() {
		t.Errorf("assigned: %v", e)
	}
	var (
		readOnly  *ovo.ReadOnlyError
		attribute *ovo.AttributeError
		value     *ovo.ValueError
		overflow  *ovo.OverflowError
	)
	for name, c := range map[string]struct {
		err error
		as  any
	}{
		"read-only":      {v.Assign("fixed", "g"), &readOnly},
		"no field":       {v.Assign("nope", 1), &attribute},
		"null":           {v.Assign("count", nil), &value},
		"negative":       {v.Assign("count", int64(-1)), &value},
		"other class":    {v.Assign("any", &outer{}), &value},
		"beyond":         {view(t, r, &outer{}).Assign("id", "99999999999999999999"), &overflow},
		"delete nothing": {v.Delete("mac"), &attribute},
	} {
		if c.err == nil || !errors.As(c.err, c.as) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if err := v.Assign("fixed", "f"); err != nil {
		t.Errorf("equal value of a read-only field: %v", err)
	}
	if err := v.Delete("fixed"); err != nil || e.Fixed.IsSet() || !e.Fixed.Changed() {
		t.Errorf("delete: %v", err)
	}
	if set, err := v.IsSet("fixed"); set || err != nil {
		t.Errorf("after delete: %v %v", set, err)
	}
	if _, err := v.IsSet("nope"); !errors.As(err, &attribute) {
		t.Errorf("IsSet of no field: %v", err)
	}
}

func TestViewChanges(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	o := full13()
	v := view(t, r, o)
	if err := v.Reset(true); err != nil || len(v.Changes()) != 0 || o.Inner.Value().Name.Changed() {
		t.Errorf("recursive reset: %v %v", err, v.Changes())
	}
	o.Inner.Value().Name.Set("x")
	o.Inners.Value()[0].Name.Set("x")
	if got := v.Changes(); !cmp.Equal(got, []string{"inner"}) {
		t.Errorf("an object counts, objects in a list do not: %v", got)
	}
	list := ovo.ListOf[outerList]([]*outer{o})
	if got := view(t, r, list).Changes(); !cmp.Equal(got, []string{"objects"}) {
		t.Errorf("in a list object they do: %v", got)
	}
	if err := v.SetDefaults(); err != nil {
		t.Error(err)
	}
	fresh := &outer{}
	if err := view(t, r, fresh).SetDefaults(); err != nil || fresh.Inners.Value() == nil || !fresh.Inners.Changed() {
		t.Errorf("defaults: %v %v", err, fresh.Inners)
	}
	fields := maps.Collect(view(t, r, &inner{Name: ovo.Of("n"), State: ovo.NullStored[string](nil)}).Fields())
	if diff := cmp.Diff(map[string]ovo.State{"name": {Set: true, Changed: true}, "state": {Set: true, Null: true}, "color": {}, "created_at": {}}, fields); diff != "" {
		t.Error(diff)
	}
}

func TestCloneIsDeep(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	e := full()
	copied, err := view(t, r, e).Clone()
	if err != nil {
		t.Fatal(err)
	}
	before := text(t, r, copied)
	if before != text(t, r, e) {
		t.Errorf("clone %s", before)
	}
	e.Names.Value()[0], e.Nested.Value()[0]["n"], *e.Maybe.Value()["a"] = "z", 9, "z"
	e.Any.Value().(*inner).Name.Set("z")
	if after := text(t, r, copied); after != before {
		t.Errorf("the clone changed with the original: %s", after)
	}
	shared := &inner{}
	o := &outer{Inner: ovo.NullOf(shared), Inners: ovo.Of([]*inner{shared})}
	twice, err := view(t, r, o).Clone()
	if err != nil || twice.(*outer).Inner.Value() != twice.(*outer).Inners.Value()[0] || twice.(*outer).Inner.Value() == shared {
		t.Errorf("an object met twice is one object: %v", err)
	}
}

func TestViewText(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	got := view(t, r, &outer{ID: ovo.Of(int64(5)), Inner: ovo.NullOf(&inner{}), Extra: ovo.NullOf("it's")}).String()
	if want := "Outer(created_at=<?>,extra='it's',id=5,inner=Inner,inners=<?>,when=<?>)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A class as data gives the same bytes as its struct.
func TestDefinitionOfAStruct(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	in, out, all := r.Highest("Inner").Definition(), r.Highest("Outer").Definition(), r.Highest("Everything").Definition()
	all.Fields = slicesWithout(all.Fields, "raw")
	dynamic := newRegistry(t, in.Class(), out.Class(), all.Class())
	for name, o := range map[string]ovo.Object{"outer": full13(), "inner": &inner{Color: ovo.NullOf(green)}} {
		want := text(t, r, o)
		rec, err := dynamic.Decode([]byte(want))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := text(t, dynamic, rec); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		for _, target := range []string{"1.0", "1.1", "1.2"} {
			want, wantErr := r.AppendAt(nil, o, target, nil)
			got, err := dynamic.AppendAt(nil, rec, target, nil)
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s at %s: %s %v, want %s %v", name, target, got, err, want, wantErr)
			}
		}
	}
	for _, name := range []string{"Inner", "Outer"} {
		if got, want := dynamic.Highest(name).Fingerprint(), r.Highest(name).Fingerprint(); got != want {
			t.Errorf("fingerprint %s, want %s", got, want)
		}
	}
	if _, err := in.Class().New(); err == nil {
		t.Error("a declaration made an object")
	}
	var foreign *ovo.UnsupportedObjectError
	o, err := dynamic.Highest("Inner").New()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newRegistry(t, in.Class()).Append(nil, o); !errors.As(err, &foreign) {
		t.Errorf("record of another registry: %v", err)
	}
}

func slicesWithout(fields []ovo.FieldDefinition, name string) []ovo.FieldDefinition {
	var kept []ovo.FieldDefinition
	for _, f := range fields {
		if f.Name != name {
			kept = append(kept, f)
		}
	}
	return kept
}

func TestDefinitionMistakes(t *testing.T) {
	t.Parallel()
	many := make([]ovo.FieldDefinition, 65)
	for i := range many {
		many[i] = ovo.FieldDefinition{Name: strings.Repeat("f", i+1), Type: ovo.TypeSpec{Name: "String"}}
	}
	_, err := ovo.NewRegistry(testSpace(),
		ovo.Definition{Name: "Many", Version: "1.0", Fields: many}.Class(),
		ovo.Definition{Name: "Twice", Version: "1.0", Fields: append(many[:1:1], many[0])}.Class(),
		ovo.Definition{Name: "List", Version: "1.0", List: true}.Class(),
		ovo.Definition{Name: "Pairs", Version: "1.0", ChildVersions: []ovo.VersionPair{{Own: "x", Child: "1.0"}}}.Class(),
		ovo.Definition{Name: "Signature", Version: "1.0", Signatures: []string{"m("}}.Class())
	for _, want := range []string{`signature "m("`, "65 fields", "used twice", "needs the field objects", `version "x"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in %v", want, err)
		}
	}
	if _, err := ovo.NewRegistry(testSpace(), ovo.Definition{Name: "Methods", Version: "1.0", Methods: reflect.TypeFor[int]()}.Class()); err == nil {
		t.Error("methods that are no struct")
	}
}
