package ovo

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// The classes below go through the differential test beside those made of data: they are structs with a cell of every Go type, so that the short ways between
// cells and JSON meet the real library too.

type peerKind string

func (peerKind) Values() Values { return OneOf[peerKind]("a", "bb", "c'c", "é\n") }

type peerListed string

func (peerListed) Values() Values { return ListedOneOf[peerListed]("x", "y") }

type peerPart string

func (peerPart) Values() Values { return SubstringOf("PCI") }

type peerBase struct {
	Base
	CreatedAt Null[time.Time] `ovo:"created_at"`
}

type peerInner struct {
	peerBase
	ID    Field[string]   `ovo:"uuid,UUID"`
	Name  Null[string]    `ovo:"name,default=n"`
	Kind  Field[peerKind] `ovo:"kind,default=a"`
	Count Field[int64]    `ovo:"count,NonNegativeInteger"`
}

type peerList struct {
	List[peerInner]
	peerBase
}

type peerOuter struct {
	peerBase
	Text      Field[string]               `ovo:"text"`
	Secret    Null[string]                `ovo:"secret,SensitiveString"`
	Predicate Null[string]                `ovo:"predicate,VersionPredicate"`
	MAC       Field[string]               `ovo:"mac,MACAddress"`
	PCI       Field[string]               `ovo:"pci,PCIAddress"`
	Integer   Null[int64]                 `ovo:"integer"`
	Big       Field[*big.Int]             `ovo:"big,default=5"`
	Float     Field[float64]              `ovo:"float,default=1.5"`
	Positive  Null[float64]               `ovo:"positive,NonNegativeFloat"`
	Flag      Field[bool]                 `ovo:"flag,default=False"`
	Flexible  Null[bool]                  `ovo:"flexible,FlexibleBoolean"`
	Naive     Null[time.Time]             `ovo:"naive,naive"`
	Address   Null[netip.Addr]            `ovo:"address"`
	V4        Field[netip.Addr]           `ovo:"v4,IPV4Address"`
	Network   Null[netip.Prefix]          `ovo:"network,default=None"`
	V6Net     Field[netip.Prefix]         `ovo:"v6net,IPV6Network"`
	Kind      Null[peerKind]              `ovo:"kind,NamedKind"`
	Plain     Field[peerKind]             `ovo:"plain,Enum,plain"`
	Listed    Null[peerListed]            `ovo:"listed,default=y"`
	Part      Field[peerPart]             `ovo:"part"`
	Once      ReadOnly[string]            `ovo:"once"`
	Texts     Null[[]string]              `ovo:"texts,default=['a', \"it's\"]"`
	Numbers   Field[[]int64]              `ovo:"numbers"`
	Kinds     Null[[]peerKind]            `ovo:"kinds"`
	Maybe     Field[[]*string]            `ovo:"maybe"`
	Dict      Null[map[string]string]     `ovo:"dict,default={}"`
	Nullable  Field[map[string]*string]   `ovo:"nullable"`
	Deep      Field[map[string][]float64] `ovo:"deep"`
	Groups    Null[[]map[string]*string]  `ovo:"groups"`
	Inner     Null[*peerInner]            `ovo:"inner"`
	Inners    Field[[]*peerInner]         `ovo:"inners,default=[]"`
	Members   Null[*peerList]             `ovo:"members"`
}

type peerSets struct {
	peerBase
	Words Field[map[string]struct{}]            `ovo:"words"`
	Ints  Null[map[int64]struct{}]              `ovo:"ints"`
	Sets  Field[map[string]map[string]struct{}] `ovo:"sets"`
	Inner Null[*peerInner]                      `ovo:"inner"`
}

type peerMethods struct {
	Find  func(ctx context.Context, name string, limit *int64) (*peerOuter, error)      `ovo:"find(cls, context, name: str, limit=None)"`
	Touch func(ctx context.Context, o *peerOuter, rest []any, force bool) (bool, error) `ovo:"touch(self, *rest, force=False) -> bool"`
	Apply func(ctx context.Context, o *peerOuter, values map[string]string) error       `ovo:"apply(self, values: dict)"`
}

// newStructWorld makes the world of these classes, with or without the one that has sets.
func newStructWorld(rnd *rand.Rand) (*world, error) {
	w := &world{rnd: rnd, narrow: true, hasSets: rnd.IntN(4) == 0}
	classes := []*Class{
		NewClass[peerInner]("Inner", History{V("1.0"), V("1.1", Adds("name")), V("1.2", AddsValue("kind", "bb"))}),
		NewClass[peerList]("List", History{V("1.0", Members("1.0")), V("1.1", Members("1.1")), V("1.2", Members("1.2"))}),
		NewClass[peerOuter]("Outer", History{
			V("1.0", Part("inner", "1.0"), Part("members", "1.0")), V("1.1", Adds("big", "texts"), Part("inner", "1.1"), Part("inners", "1.1")),
			V("1.2", AddsValue("kind", "c'c"), Renames("old_dict", "dict"), Part("members", "1.2")), V("1.3", Adds("groups"), AddsMethod("apply"), Part("inner", "1.2")),
		}, Methods[peerMethods]()),
	}
	if w.hasSets {
		classes = append(classes, NewClass[peerSets]("Sets", History{V("1.0", Part("inner", "1.2")), V("1.1", Adds("ints"))}))
	}
	var err error
	if w.reg, err = NewRegistry(cyborgSpace(), classes...); err != nil {
		return nil, err
	}
	for _, name := range w.reg.Names() {
		d := w.reg.Highest(name).Definition()
		w.defs, w.rules, w.lines = append(w.defs, d), append(w.rules, rulesOf(d.History)), append(w.lines, d.Signatures)
	}
	return w, nil
}

// rulesOf are the rules of a history as the peer runs them, newest first.
func rulesOf(h History) []compatRule {
	rules := []compatRule{}
	for _, e := range h {
		for _, c := range e.changes {
			switch c.kind {
			case addsFields:
				for _, name := range c.names {
					rules = append(rules, compatRule{Below: e.version, Op: "adds", Field: name})
				}
			case addsValues:
				rules = append(rules, compatRule{Below: e.version, Op: "values", Field: c.name, Values: c.values})
			case renamesField:
				rules = append(rules, compatRule{Below: e.version, Op: "renames", Field: c.name, To: c.to})
			}
		}
	}
	slices.Reverse(rules)
	return rules
}

// narrowed replaces what an int64 cell cannot hold, which is the one value of a field that Go refuses and Python takes.
func narrowed(v any) any {
	switch v := v.(type) {
	case *big.Int:
		return int64(math.MaxInt64)
	case float64:
		if math.Abs(v) >= 1<<62 && !math.IsInf(v, 0) {
			return 2.5
		}
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return narrowed(e), nil })
		return list
	case Tuple:
		list, _ := eachItem(v, func(e any) (any, error) { return narrowed(e), nil })
		return Tuple(list)
	case *Set:
		s, _ := NewSet()
		s.frozen = v.frozen
		for e := range v.All() {
			_ = s.add(narrowed(e))
		}
		return s
	case *Dict:
		d := &Dict{}
		for k, e := range v.All() {
			_ = d.Set(k, narrowed(e))
		}
		return d
	case *made:
		for i := range v.fields {
			v.fields[i].value = narrowed(v.fields[i].value)
		}
	}
	return v
}
