package ovotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovotest"
)

// recorder is a testing.TB that keeps what is reported.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Error(args ...any)                 { r.reports = append(r.reports, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

type size string

func (size) Values() ovo.Values { return ovo.OneOf("s", "m", "l", "xl") }

type oldSize string

func (oldSize) Values() ovo.Values { return ovo.OneOf("s", "m") }

type part struct {
	ovo.Base
	Name ovo.Field[string] `ovo:"name"`
}

type whole struct {
	ovo.Base
	ID    ovo.Field[int64] `ovo:"id"`
	Part  ovo.Null[*part]  `ovo:"part"`
	Size  ovo.Null[[]size] `ovo:"size"`
	Extra ovo.Null[string] `ovo:"extra,default=None"`
}

type wholeList struct {
	ovo.List[whole]
	ovo.Base
}

type methods struct {
	Get  func(ctx context.Context, id int64) (*whole, error) `ovo:"get(cls, context, id)"`
	Save func(ctx context.Context, w *whole) error           `ovo:"save(self)"`
}

func registry(t *testing.T, classes ...*ovo.Class) *ovo.Registry {
	t.Helper()
	r, err := ovo.NewRegistry(ovo.DefaultNamespace(), classes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func partClass() *ovo.Class {
	return ovo.NewClass[part]("Part", ovo.History{ovo.V("1.0"), ovo.V("1.1")})
}

func wholeClass() *ovo.Class {
	return ovo.NewClass[whole]("Whole", ovo.History{ovo.V("1.0", ovo.Part("part", "1.0")), ovo.V("1.1", ovo.Part("part", "1.1"))}, ovo.Methods[methods]())
}

func listClass() *ovo.Class {
	return ovo.NewClass[wholeList]("WholeList", ovo.History{ovo.V("1.0", ovo.Members("1.0")), ovo.V("1.1", ovo.Members("1.1"))})
}

func TestGoodContract(t *testing.T) {
	t.Parallel()
	r := registry(t, partClass(), wholeClass(), listClass())
	rec := &recorder{}
	ovotest.Check(rec, r, r.Fingerprints(), &whole{ID: ovo.Of(int64(1)), Part: ovo.NullOf(&part{Name: ovo.Of("n")})})
	if rec.reports != nil {
		t.Errorf("reports: %v", rec.reports)
	}
}

// What changed is found from the expected fingerprint alone.
func TestNotBumped(t *testing.T) {
	t.Parallel()
	type before struct {
		ovo.Base
		ID   ovo.Field[int64]    `ovo:"id"`
		Part ovo.Null[*part]     `ovo:"part"`
		Size ovo.Null[[]oldSize] `ovo:"size"`
	}
	type nullable struct {
		ovo.Base
		ID    ovo.Null[int64]  `ovo:"id"`
		Part  ovo.Null[*part]  `ovo:"part"`
		Size  ovo.Null[[]size] `ovo:"size"`
		Extra ovo.Null[string] `ovo:"extra"`
	}
	type oneMethod struct {
		Save func(ctx context.Context, w *whole) error `ovo:"save(self)"`
	}
	h := ovo.History{ovo.V("1.1")}
	for name, c := range map[string]struct {
		was  *ovo.Class
		want []string
	}{
		"field and values": {ovo.NewClass[before]("Whole", h), []string{"field size has the new values l, xl", "field extra is new", `ovo.V("1.2", `, `ovo.AddsValue("size", "l", "xl")`, `ovo.Adds("extra")`}},
		"null and default": {ovo.NewClass[nullable]("Whole", h), []string{"nullable of field id is now false", "field extra has a default now"}},
		"method":           {ovo.NewClass[whole]("Whole", h, ovo.Methods[oneMethod]()), []string{"method get is new", `ovo.AddsMethod("get")`}},
		"something else":   {ovo.NewClass[part]("Whole", h), []string{"cannot be told", "([('extra', String"}},
	} {
		now := ovo.NewClass[whole]("Whole", ovo.History{ovo.V("1.1")})
		if name == "method" {
			now = ovo.NewClass[whole]("Whole", h, ovo.Methods[methods]())
		}
		was := registry(t, c.was, partClass())
		if name == "something else" {
			was = registry(t, c.was)
		}
		expected := registry(t, now, partClass()).Fingerprints()
		expected["Whole"] = was.Fingerprints()["Whole"]
		rec := &recorder{}
		ovotest.Fingerprints(rec, registry(t, now, partClass()), expected)
		if len(rec.reports) != 1 {
			t.Errorf("%s: %v", name, rec.reports)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(rec.reports[0], want) {
				t.Errorf("%s: nothing about %q in %s", name, want, rec.reports[0])
			}
		}
	}
}

func TestOtherFindings(t *testing.T) {
	t.Parallel()
	failing := ovo.NewClass[part]("Part", ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Rewrites(func(*ovo.Data) error { return errors.New("cannot") }))})
	spoiling := ovo.NewClass[whole]("Whole", ovo.History{
		ovo.V("1.0", ovo.Part("part", "1.1")), ovo.V("1.1", ovo.Part("part", "1.0"), ovo.Rewrites(func(d *ovo.Data) error {
			d.Set("id", "no number")
			return nil
		})),
	})
	list := ovo.NewClass[wholeList]("WholeList", ovo.History{ovo.V("1.0", ovo.Members("1.0"))})
	r := registry(t, failing, spoiling, list)
	rec := &recorder{}
	ovotest.Check(rec, r, map[string]string{"Part": "1.0-x", "Gone": "1.0-y", "Whole": r.Fingerprints()["Whole"]})
	all := strings.Join(rec.reports, "\n")
	for _, want := range []string{
		"WholeList is not expected", "Gone is expected but not registered", "Part is 1.1-", "Part cannot be written at 1.0", "Whole, written at 1.0, cannot be read",
		"1.0 at 1.1 follows 1.1 at 1.0", `Whole 1.1 declares Part 1.0 in part, but Part is at 1.1; add ovo.V("1.2", ovo.Part("part", "1.1"))`,
		`WholeList 1.0 declares Whole 1.0 in objects, but Whole is at 1.1; add ovo.V("1.1", ovo.Members("1.1"))`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing about %q in\n%s", want, all)
		}
	}
}
