package ovo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
)

func TestCellStates(t *testing.T) {
	t.Parallel()
	var f ovo.Field[string]
	if v, ok := f.Get(); ok || v != "" || f.IsSet() || f.Changed() || f.Or("d") != "d" {
		t.Error("the zero Field is unset")
	}
	f.Set("x")
	if v, ok := f.Get(); !ok || v != "x" || !f.Changed() || f.Or("d") != "x" {
		t.Error("Set stores and marks")
	}
	f.Unset()
	if f.IsSet() || !f.Changed() || f.Value() != "" {
		t.Error("Unset takes the value and keeps the mark")
	}
	s := ovo.Stored(5)
	if s.Changed() || !s.IsSet() {
		t.Error("Stored is not marked")
	}

	var n ovo.Null[int64]
	if n.IsSet() || n.IsNull() || n.Ptr() != nil || n.Or(7) != 7 {
		t.Error("the zero Null is unset")
	}
	n.SetNull()
	if _, ok := n.Get(); ok || !n.IsSet() || !n.IsNull() || !n.Changed() || n.Ptr() != nil {
		t.Error("null is set, and no value")
	}
	n.Set(3)
	if v, ok := n.Get(); !ok || v != 3 || n.IsNull() || *n.Ptr() != 3 {
		t.Error("Set ends null")
	}
	n.Unset()
	if n.IsSet() || !n.Changed() {
		t.Error("Unset of a Null")
	}
	three := int64(3)
	if n := ovo.NullStored[int64](nil); !n.IsNull() || n.Changed() {
		t.Error("NullStored of nil")
	}
	if n := ovo.NullFrom(&three); n.Value() != 3 || !n.Changed() {
		t.Error("NullFrom of a value")
	}
	if n := ovo.NullOf("x"); n.Or("") != "x" || !n.Changed() {
		t.Error("NullOf")
	}
}

func TestReadOnlyCell(t *testing.T) {
	t.Parallel()
	var r ovo.ReadOnly[string]
	if err := r.Set("a"); err != nil || !r.Changed() {
		t.Fatal(err)
	}
	var readOnly *ovo.ReadOnlyError
	if err := r.Set("b"); !errors.As(err, &readOnly) || r.Value() != "a" {
		t.Errorf("second value: %v", err)
	}
	if err := r.Set("a"); err != nil {
		t.Errorf("equal value: %v", err)
	}
	r.Unset()
	if err := r.Set("b"); err != nil || r.Value() != "b" {
		t.Errorf("after Unset: %v", err)
	}
	if c := ovo.ReadOnlyOf("x"); !c.IsSet() || !c.Changed() {
		t.Error("ReadOnlyOf")
	}
}

func TestListCells(t *testing.T) {
	t.Parallel()
	list := ovo.ListOf[outerList]([]*outer{{ID: ovo.Stored[int64](1)}})
	if list.Len() != 1 || list.Changed() || list.All()[0].ID.Value() != 1 {
		t.Error("ListOf makes a clean list")
	}
	list.Set(nil)
	if list.Len() != 0 || !list.Changed() {
		t.Error("Set marks the list")
	}
	r := newRegistry(t)
	if got := text(t, r, &outerList{}); !strings.Contains(got, `"cyborg_object.data": {"objects": []}}`) {
		t.Errorf("the zero list is empty, not unset: %s", got)
	}
}

// Mistakes of every kind are found when the registry is made, all at once.

type mistakes struct {
	ovo.Base
	Untagged ovo.Field[string]
	NoCell   string                     `ovo:"no_cell"`
	Wire     ovo.Field[int64]           `ovo:"wire,UUID"`
	Unknown  ovo.Field[complex128]      `ovo:"unknown"`
	Twice    ovo.Field[string]          `ovo:"twice"`
	Again    ovo.Field[string]          `ovo:"twice"`
	Tag      ovo.Field[string]          `ovo:",UUID"`
	Objects  ovo.Field[[]ovo.Object]    `ovo:"objects_of_any_class"`
	Nameless ovo.Field[ovo.Object]      `ovo:"nameless"`
	Part     ovo.Field[string]          `ovo:"part,what=is"`
	Default  ovo.Field[map[string]bool] `ovo:"fine"`
}

type stranger struct {
	ovo.Base
	Inner ovo.Field[*inner] `ovo:"inner"`
	Count ovo.Field[int64]  `ovo:"count,default=01"`
}

type wrongMethods struct {
	NoContext func(id int64) error                         `ovo:"no_context(cls, context, id)"`
	NoSelf    func(ctx context.Context, x int64) error     `ovo:"no_self(self, x)"`
	Few       func(ctx context.Context) error              `ovo:"few(cls, context, id)"`
	Many      func(ctx context.Context, a, b string) error `ovo:"many(cls, context, a)"`
	Results   func(ctx context.Context) (int64, string)    `ovo:"results(cls, context)"`
	Type      func(ctx context.Context, c chan int) error  `ovo:"type(cls, context, c)"`
	Syntax    func(ctx context.Context) error              `ovo:"syntax(cls context"`
	Untagged  func(ctx context.Context) error
	Rest      func(ctx context.Context, rest string) error `ovo:"rest(cls, context, *rest)"`
	Value     int
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	_, err := ovo.NewRegistry(testSpace(),
		ovo.NewClass[mistakes]("Mistakes", ovo.History{ovo.V("1.0"), ovo.V("1.0", ovo.Adds("nothing")), ovo.V("x"), ovo.V("2.0", ovo.Members("1.0"))}),
		ovo.NewClass[int]("Int", ovo.History{ovo.V("1.0")}),
		ovo.NewClass[stranger]("Stranger", ovo.History{ovo.V("1.0", ovo.Part("count", "1.0"), ovo.AddsMethod("fly"), ovo.AddsValue("shape", red), ovo.Renames("a", "b"))}),
		ovo.NewClass[stamped]("Ageless", nil))
	for _, want := range []string{
		"Untagged", "NoCell", "UUID", "complex128", "used twice", "a field name comes first", "ovo.Object", "of=CLASS", "what=is",
		"does not follow", "no field nothing", "class Int", "Members is for list objects", "Part names count", "AddsMethod names fly",
		"no field shape", "no field b", "class Ageless: no version", `invalid literal`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in: %v", want, err)
		}
	}
	_, err = ovo.NewRegistry(testSpace(),
		ovo.NewClass[stranger]("Stranger", ovo.History{ovo.V("1.0")}),
		ovo.NewClass[stamped]("Wrong", ovo.History{ovo.V("1.0")}, ovo.Methods[wrongMethods]()))
	var missing *ovo.UnregisteredChildError
	if !errors.As(err, &missing) || missing.Parent != "Stranger" {
		t.Errorf("unregistered child: %v", err)
	}
	for _, want := range []string{
		`default "01"`, "NoContext: the first parameter", "NoSelf: the second parameter", "Few: no Go parameter for id", "Many: 1 Go parameters more",
		"Results: the results", "Type: parameter c", "Syntax: signature", "Untagged: no tag", "Rest: parameter *rest", "Value: want an exported function",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in: %v", want, err)
		}
	}
}
