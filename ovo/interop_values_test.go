package ovo

import (
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// made is an object that a step makes: fields are assigned in their order.
type made struct {
	class  string
	fields []madeField
	reset  bool
}

type madeField struct {
	name  string
	value any
}

var (
	texts = []string{
		"", "x", "Some text", "é", "e\u0301", "😀", "\u007f", "a\"b\\c/", "it's", "line\nbreak\ttab", "<&>", "\u2028", "0", "1", "true", "None", "{a}",
		"admin_pass = 'secret' x", "ａ", "\x00\x1f", "  pad ", "١٢",
	}
	uuids    = []string{"6c5d4b3a-2f1e-4d0c-9b8a-7f6e5d4c3b2a", "6C5D4B3A2F1E4D0C9B8A7F6E5D4C3B2A", "{6c5d4b3a-2f1e-4d0c-9b8a-7f6e5d4c3b2a}", "junk"}
	integers = []any{
		int64(0), int64(1), int64(-1), int64(42), int64(math.MaxInt64), int64(math.MinInt64), bigInt("9223372036854775808"), bigInt("-1234567890123456789012345678901234567890"),
	}
	integerTexts = []string{" 12 ", "1_000", "٣", "+7", "-0", "007", "12 3", "1.5", "0x10", "1__0", "_1", "", "９"}
	floats       = []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e16, 1e15, 123456789.123, 1e-5, 1e-4, 5e-324, math.MaxFloat64, 1e22, 2.5, math.NaN(), math.Inf(1), math.Inf(-1)}
	floatTexts   = []string{"1e5", "nan", "-Infinity", ".5", "5.", " 1 ", "1_0.5", "inf", "1e400", "0x1p3", "e", "1e", "٣.٥"}
	flags        = []string{"yes", " TRUE ", "on", "y", "t", "1", "off", "no", "enabled", "false", "0", "", "Y"}
	times        = []string{
		"2020-01-02T03:04:05Z", "2020-01-02T03:04:05+00:00", "2020-01-02 03:04:05", "2020-01-02T03:04:05.123456789-08:00", "20200102T030405Z", "2020-01-02", "2020-1-2",
		"2020", "202001", "2020-01-02T03", "2020-01-02T03:04+0530", "2020-01-02T24:00:00", "2020-02-30", "2020-01-02t03:04:05z", "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59Z", "2020-01-02T03:04:05,5+05", "2020-01-02T03:04:05 +05:30", "2020-W01-1", "x", "", "2020-01-02T03:04:05Z\n", "2020-01-02T03:04:60Z", "2020-01-02T03:04:05-00:00",
	}
	macs       = []string{"00:11:22:33:44:55", "AA-BB-CC-dd-ee-ff", "00:11:22:33:44", "00:11:22:33:44:5g", "00:11:22:33:44:55\n", "0:1:2:3:4:5"}
	pcis       = []string{"0000:81:00.0", "FFFF:ff:1F.7", "0000:81:20.0", "0000:81:00.8", "10000:01:00.0", "0000:81:00x1", "0000:81:00.1\n", "81:00.0"}
	predicates = []string{">=1.0", ">=1.0, <2", "!= 3.1", "1.0", "=>1", "", ">=1.0,", "<=1!2.0", "==1.0rc1", "> 1.0 , < 2.0"}
	addresses  = []string{
		"10.0.0.1", "255.255.255.255", "0.0.0.0", "::1", "::", "2001:DB8::1", "fe80::1%eth0", "::ffff:10.0.0.1", "010.0.0.1", "10.1", " 10.0.0.1", "10.0.0.1/8", "1:2:3:4:5:6:7:8", "x", "",
		"1::2:3:4:5:6:7", "1:0:0:2::3", "::10.0.0.1", "64:ff9b::1.2.3.4",
	}
	networks = []string{
		"10.0.0.0/8", "10.0.0.1/8", "10.0.0.0/255.0.0.0", "10.0.0.0/0.255.255.255", "10/8", "10.0.0.1", "::1/64", "2001:db8::/32", "::1", "10.0.0.0/33", "10.0.0.0/", "x/8", "0.0.0.0/0", "::/0",
		"10.0.0.0/255.0.255.0", "2001:db8::/ffff::", "10.0.0.0/-1", "10.0.0.0/08",
	}
)

func bigInt(s string) *big.Int {
	i, _ := new(big.Int).SetString(s, 10)
	return i
}

// valid is a value that a type takes.
func (w *world) valid(t TypeSpec) any {
	if list := t.Values.items(); len(list) > 0 {
		return pickOne(w, list...)
	}
	switch t.Name {
	case "List", "Dict", "Set":
		return w.validContainer(t)
	case "Object":
		return w.object(t.Object, 1)
	case "String", "SensitiveString":
		return pickOne(w, texts...)
	case "UUID":
		return pickOne(w, uuids...)
	case "Integer":
		return pickOne(w, integers...)
	case "NonNegativeInteger":
		return pickOne(w, integers[:2]...)
	case "Float":
		return pickOne(w, floats...)
	case "NonNegativeFloat":
		return math.Abs(pickOne(w, floats...))
	case "Boolean", "FlexibleBoolean":
		return w.chance(50)
	case "DateTime":
		return pickOne[any](w, times[w.rnd.IntN(4)], w.time())
	case "MACAddress":
		return pickOne(w, macs[:2]...)
	case "PCIAddress":
		return pickOne(w, pcis[:2]...)
	case "VersionPredicate":
		return pickOne(w, predicates[:3]...)
	case "IPAddress", "IPV4AndV6Address":
		return pickOne(w, addresses[:6]...)
	case "IPV4Address":
		return pickOne(w, addresses[:3]...)
	case "IPV6Address":
		return pickOne(w, addresses[3:6]...)
	case "IPNetwork":
		return pickOne(w, networks[:3]...)
	case "IPV4Network":
		return pickOne(w, networks[:2]...)
	case "IPV6Network":
		return pickOne(w, networks[6:8]...)
	}
	panic("no value for " + t.Name)
}

func (w *world) validContainer(t TypeSpec) any {
	n := w.rnd.IntN(4)
	element := func() any {
		if t.ElementNullable && w.chance(25) {
			return nil
		}
		return w.valid(*t.Element)
	}
	switch t.Name {
	case "Dict":
		d := &Dict{}
		for range n {
			_ = d.Set(pickOne(w, texts...), element())
		}
		return d
	case "Set":
		w.hasSets = true // also where it is assigned to a list
		s, _ := NewSet()
		for range n {
			if e := element(); pyEqual(e, e) { // how many NaN a set holds is chance in Python
				_ = s.add(e)
			}
		}
		return s
	}
	list := []any{}
	for range n {
		list = append(list, element())
	}
	return list
}

// time is a datetime: naive, in UTC, or in a zone that was parsed.
func (w *world) time() any {
	t := time.Date(1+w.rnd.IntN(9998), time.Month(1+w.rnd.IntN(12)), 1+w.rnd.IntN(28), w.rnd.IntN(24), w.rnd.IntN(60), w.rnd.IntN(60), 1000*w.rnd.IntN(1000000), time.UTC)
	switch w.rnd.IntN(3) {
	case 0:
		return Naive(t)
	case 1:
		return t
	}
	minutes := w.rnd.IntN(12*60) + 1
	if w.chance(50) {
		minutes = -minutes
	}
	name := fmt.Sprintf("%+03d:%02d", minutes/60, max(minutes%60, -minutes%60))
	if minutes < 0 && minutes > -60 {
		name = fmt.Sprintf("-00:%02d", -minutes)
	}
	y, mo, d := t.Date()
	h, mi, s := t.Clock()
	return time.Date(y, mo, d, h, mi, s, t.Nanosecond(), time.FixedZone(name, minutes*60))
}

// odd is any value, mostly of a kind that the type knows something about.
func (w *world) odd(t TypeSpec) any {
	v := w.oddFor(t)
	for t.Element != nil {
		t = *t.Element
	}
	if strings.HasSuffix(t.Name, "Network") {
		return withoutTuples(v) // netaddr takes pairs of numbers, which ours refuses
	}
	return v
}

func withoutTuples(v any) any {
	switch v := v.(type) {
	case Tuple:
		return withoutTuples([]any(v))
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return withoutTuples(e), nil })
		return list
	case *Dict:
		d := &Dict{}
		for k, e := range v.All() {
			_ = d.Set(k, withoutTuples(e))
		}
		return d
	}
	return v
}

func (w *world) oddFor(t TypeSpec) any {
	switch t.Name {
	case "Integer", "NonNegativeInteger":
		return pickOne[any](w, pickOne(w, integers...), pickOne(w, integerTexts...), pickOne(w, floats...), w.any(1))
	case "Float", "NonNegativeFloat":
		return pickOne[any](w, pickOne(w, integers...), pickOne(w, floatTexts...), pickOne(w, floats...), pickOne(w, integerTexts...), w.any(1))
	case "FlexibleBoolean", "Boolean":
		return pickOne[any](w, pickOne(w, flags...), w.any(1))
	case "DateTime":
		return pickOne[any](w, pickOne(w, times...), pickOne(w, times...), w.time(), w.any(1))
	case "MACAddress":
		return pickOne[any](w, pickOne(w, macs...), w.any(1))
	case "PCIAddress":
		return pickOne[any](w, pickOne(w, pcis...), w.any(1))
	case "VersionPredicate":
		return pickOne[any](w, pickOne(w, predicates...), w.any(1))
	case "IPAddress", "IPV4Address", "IPV6Address", "IPV4AndV6Address":
		return pickOne[any](w, pickOne(w, addresses...), pickOne(w, addresses...), pickOne(w, integers...), w.any(1))
	case "IPNetwork", "IPV4Network", "IPV6Network":
		return pickOne[any](w, pickOne(w, networks...), pickOne(w, networks...), w.any(1))
	case "List", "Dict", "Set":
		return pickOne(w, w.validContainer(t), w.validContainer(TypeSpec{Name: pickOne(w, "List", "Dict", "Set"), Element: t.Element}), w.any(2))
	}
	return w.any(1)
}

// any is a value of any kind.
func (w *world) any(depth int) any {
	n := w.rnd.IntN(14)
	if depth == 0 {
		n = w.rnd.IntN(8)
	}
	some := func() []any {
		list := make([]any, w.rnd.IntN(3))
		for i := range list {
			list[i] = w.any(depth - 1)
		}
		return list
	}
	switch n {
	case 0:
		return nil
	case 1:
		return w.chance(50)
	case 2:
		return pickOne(w, integers...)
	case 3:
		return pickOne(w, floats...)
	case 4:
		return w.time()
	case 5:
		return netip.MustParseAddr(pickOne(w, "10.0.0.1", "::1"))
	case 6, 7:
		return pickOne(w, texts...)
	case 8:
		return some()
	case 9:
		return Tuple(some())
	case 10:
		s, _ := NewSet("a")
		s.frozen = w.chance(50)
		return s
	case 11, 12:
		d := &Dict{}
		for _, v := range some() {
			_ = d.Set(pickOne[any](w, pickOne(w, texts...), int64(w.rnd.IntN(3))), v)
		}
		return d
	}
	if w.hasSets {
		return "x" // the text of an object with sets has no order
	}
	return w.object(pickOne(w, w.defs...).Name, 0)
}

// object makes a new object with valid values, with objects in it down to a depth.
func (w *world) object(class string, depth int) *made {
	i := slices.IndexFunc(w.defs, func(d Definition) bool { return d.Name == class })
	m := &made{class: class, reset: w.chance(40)}
	for _, f := range w.defs[i].Fields {
		switch holdsObjects := objectOf(f.Type) != ""; {
		case w.chance(30), holdsObjects && depth == 0:
		case f.Nullable && w.chance(25):
			m.fields = append(m.fields, madeField{f.Name, nil})
		case f.Type.Name == "Object":
			m.fields = append(m.fields, madeField{f.Name, w.object(f.Type.Object, depth-1)})
		case holdsObjects:
			list := []any{}
			for range w.rnd.IntN(3) {
				list = append(list, w.object(f.Type.Element.Object, depth-1))
			}
			m.fields = append(m.fields, madeField{f.Name, list})
		default:
			m.fields = append(m.fields, madeField{f.Name, w.valid(f.Type)})
		}
	}
	return m
}

// tagged is the encoding of a value for the peer.
func tagged(v any) any {
	each := func(list []any) []any {
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = tagged(e)
		}
		return out
	}
	tag := func(tag string, content any) any { return map[string]any{"$" + tag: content} }
	switch v := v.(type) {
	case int64:
		return tag("int", strconv.FormatInt(v, 10))
	case *big.Int:
		return tag("int", v.String())
	case float64:
		return tag("float", pyRepr(v))
	case time.Time:
		if isNaive(v) {
			return tag("naive", v.Format("2006-01-02T15:04:05.000000"))
		}
		return tag("time", v.Format("2006-01-02T15:04:05.000000Z07:00"))
	case netip.Addr:
		return tag("ip", v.String())
	case []any:
		return each(v)
	case Tuple:
		return tag("tuple", each(v))
	case *Set:
		if v.frozen {
			return tag("frozenset", each(v.items))
		}
		return tag("set", each(v.items))
	case *Dict:
		pairs := []any{}
		for k, e := range v.All() {
			pairs = append(pairs, []any{tagged(k), tagged(e)})
		}
		return tag("dict", pairs)
	case *made:
		fields := []any{}
		for _, f := range v.fields {
			fields = append(fields, []any{f.name, tagged(f.value)})
		}
		return tag("new", map[string]any{"class": v.class, "fields": fields, "reset": v.reset})
	}
	return v
}
