package ovo_test

import (
	"context"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

// The classes of these tests.

type color string

const (
	red   color = "red"
	green color = "green"
	blue  color = "blue"
)

func (color) Values() ovo.Values { return ovo.OneOf(red, green, blue) }

type stamped struct {
	ovo.Base
	CreatedAt ovo.Null[time.Time] `ovo:"created_at"`
}

// inner: 1.1 state; 1.2 the color blue.
type inner struct {
	stamped
	Name  ovo.Field[string] `ovo:"name"`
	State ovo.Null[string]  `ovo:"state"`
	Color ovo.Null[color]   `ovo:"color"`
}

// outer: 1.1 when; 1.2 id was called number; 1.3 extra.
type outer struct {
	stamped
	ID     ovo.Field[int64]    `ovo:"id"`
	Inner  ovo.Null[*inner]    `ovo:"inner"`
	Inners ovo.Field[[]*inner] `ovo:"inners,default=[]"`
	When   ovo.Null[time.Time] `ovo:"when"`
	Extra  ovo.Null[string]    `ovo:"extra"`
}

type outerList struct {
	ovo.List[outer]
	stamped
}

// everything has a cell of each kind.
type everything struct {
	ovo.Base
	Big    ovo.Field[*big.Int]                     `ovo:"big"`
	Count  ovo.Field[int64]                        `ovo:"count,NonNegativeInteger"`
	Ratio  ovo.Field[float64]                      `ovo:"ratio"`
	Flag   ovo.Field[bool]                         `ovo:"flag,default=False"`
	MAC    ovo.Field[string]                       `ovo:"mac,MACAddress"`
	Addr   ovo.Field[netip.Addr]                   `ovo:"addr"`
	Net    ovo.Field[netip.Prefix]                 `ovo:"net,IPV4Network"`
	Names  ovo.Field[[]string]                     `ovo:"names"`
	Maybe  ovo.Field[map[string]*string]           `ovo:"maybe"`
	Nested ovo.Field[[]map[string]int64]           `ovo:"nested"`
	Tags   ovo.Field[map[string]struct{}]          `ovo:"tags"`
	Colors ovo.Field[[]color]                      `ovo:"colors"`
	Raw    ovo.Field[map[string]any]               `ovo:"raw"`
	Any    ovo.Null[ovo.Object]                    `ovo:"any,of=Inner"`
	Fixed  ovo.ReadOnly[string]                    `ovo:"fixed"`
	Local  ovo.Field[time.Time]                    `ovo:"local,naive"`
	Groups ovo.Null[map[string]map[string]*string] `ovo:"groups"`
}

type outerMethods struct {
	Rename func(ctx context.Context, o *outer, extra string) (bool, error)                                   `ovo:"rename(self, extra)"`
	Get    func(ctx context.Context, id int64) (*outer, error)                                               `ovo:"get(cls, context, id)"`
	Find   func(ctx context.Context, host string, limit *int64, rest []string, exact bool) ([]*outer, error) `ovo:"find(cls, context, host, limit=None, *rest, exact=True)"`
	Echo   func(ctx context.Context, v any, more map[string]any) (any, error)                                `ovo:"echo(cls, context, v, **more)"`
	Touch  func(ctx context.Context, o *outer) error                                                         `ovo:"touch(self)"`
	List   func(ctx context.Context) (*outerList, error)                                                     `ovo:"list(cls, context)"`
}

func testSpace() ovo.Namespace { return ovo.Namespace{Prefix: "cyborg_object", Project: "cyborg"} }

func innerClass() *ovo.Class {
	return ovo.NewClass[inner]("Inner", ovo.History{
		ovo.V("1.0"), ovo.V("1.1", ovo.Adds("state")), ovo.V("1.2", ovo.AddsValue("color", blue)),
	})
}

func outerClass() *ovo.Class {
	return ovo.NewClass[outer]("Outer", ovo.History{
		ovo.V("1.0", ovo.Part("inner", "1.0"), ovo.Part("inners", "1.0")),
		ovo.V("1.1", ovo.Adds("when"), ovo.Part("inner", "1.1")),
		ovo.V("1.2", ovo.Renames("number", "id"), ovo.Part("inner", "1.2"), ovo.Part("inners", "1.2")),
		ovo.V("1.3", ovo.Adds("extra"), ovo.AddsMethod("list")),
	}, ovo.Methods[outerMethods]())
}

func outerListClass() *ovo.Class {
	return ovo.NewClass[outerList]("OuterList", ovo.History{ovo.V("1.0")})
}

func everythingClass() *ovo.Class {
	return ovo.NewClass[everything]("Everything", ovo.History{ovo.V("1.0")})
}

func newRegistry(t testing.TB, classes ...*ovo.Class) *ovo.Registry {
	t.Helper()
	if classes == nil {
		classes = []*ovo.Class{innerClass(), outerClass(), outerListClass(), everythingClass()}
	}
	r, err := ovo.NewRegistry(testSpace(), classes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, r *ovo.Registry, o ovo.Object) string {
	t.Helper()
	data, err := r.Append(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
