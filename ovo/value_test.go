package ovo

import (
	"errors"
	"io/fs"
	"math"
	"math/big"
	"net/netip"
	"os"
	"testing"
	"time"
)

// source is the package's own source.
func source() fs.FS { return os.DirFS(".") }

func mustSet(t *testing.T, elements ...any) *Set {
	t.Helper()
	s, err := NewSet(elements...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustDict(t *testing.T, pairs ...any) *Dict {
	t.Helper()
	d := &Dict{}
	for i := 0; i < len(pairs); i += 2 {
		if err := d.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestEquality checks Python's ==, and that equal values meet in a set.
func TestEquality(t *testing.T) {
	t.Parallel()
	noon := time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC)
	huge := new(big.Int).Lsh(big.NewInt(1), 100)
	for name, tt := range map[string]struct {
		a, b any
		want bool
	}{
		"int and float":          {int64(1), 1.0, true},
		"int and true":           {int64(1), true, true},
		"float and false":        {math.Copysign(0, -1), false, true},
		"large int and float":    {int64(1 << 53), float64(1 << 53), true},
		"int no float can be":    {int64(1<<53 + 1), float64(1 << 53), false},
		"big int and float":      {huge, math.Ldexp(1, 100), true},
		"big ints":               {huge, new(big.Int).Set(huge), true},
		"nan":                    {math.NaN(), math.NaN(), false},
		"infinities":             {math.Inf(1), math.Inf(1), true},
		"int and text":           {int64(1), "1", false},
		"null and false":         {nil, false, false},
		"instant in two zones":   {noon, noon.In(time.FixedZone("+01:00", 3600)), true},
		"naive and aware":        {noon, Naive(noon), false},
		"naive":                  {Naive(noon), Naive(noon.In(time.FixedZone("x", 60)).Add(-time.Minute)), true},
		"networks by their mask": {netip.MustParsePrefix("10.0.0.1/8"), netip.MustParsePrefix("10.0.0.0/8"), true},
		"address and network":    {netip.MustParseAddr("10.0.0.1"), netip.MustParsePrefix("10.0.0.1/32"), false},
		"what is no value":       {map[string]int{}, map[string]int{}, false},
		"list and tuple":         {[]any{}, Tuple{}, false},
		"lists":                  {[]any{int64(1), "a"}, []any{1.0, "a"}, true},
		"list and null":          {nil, []any{}, false},
		"tuples":                 {Tuple{int64(1), Tuple{"a"}}, Tuple{true, Tuple{"a"}}, true},
		"tuples of other texts":  {Tuple{"a", "b"}, Tuple{"ab", ""}, false},
	} {
		if got := pyEqual(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %v == %v is %v", name, tt.a, tt.b, got)
		}
		s, err := NewSet(tt.a)
		if _, unhashable := errors.AsType[*TypeError](err); unhashable {
			continue
		}
		if s.Has(tt.b) != tt.want {
			t.Errorf("%s: %v in {%v} is %v", name, tt.b, tt.a, !tt.want)
		}
	}
}

func TestContainerEquality(t *testing.T) {
	t.Parallel()
	d := mustDict(t, "a", int64(1), "b", []any{})
	if !pyEqual(d, mustDict(t, "b", []any{}, "a", true)) {
		t.Error("dicts have an order")
	}
	if pyEqual(d, mustDict(t, "a", int64(1))) || pyEqual(d, mustDict(t, "a", int64(1), "b", nil)) {
		t.Error("unlike dicts are equal")
	}
	if !pyEqual(mustSet(t, int64(1), "a"), mustSet(t, "a", 1.0)) || pyEqual(mustSet(t, "a"), mustSet(t, "b")) {
		t.Error("sets compare wrongly")
	}
}

func TestDictKeys(t *testing.T) {
	t.Parallel()
	d := mustDict(t, "a", int64(1), "b", int64(2), "c", int64(3), int64(1), "one")
	d.Delete("b")
	d.Delete("zz")
	if err := d.Set(true, "true"); err != nil {
		t.Fatal(err)
	}
	if got := pyRepr(d); got != "{'a': 1, 'c': 3, 1: 'true'}" {
		t.Errorf("got %s", got)
	}
	if v, ok := d.Get("c"); !ok || v != int64(3) {
		t.Errorf("c is %v %v", v, ok)
	}
	var unhashable *TypeError
	if err := d.Set([]any{}, nil); !errors.As(err, &unhashable) {
		t.Errorf("list as key: %v", err)
	}
	if err := d.Set(map[string]int{}, nil); !errors.As(err, &unhashable) {
		t.Errorf("Go map as key: %v", err)
	}
	if _, err := NewSet(Tuple{d}); !errors.As(err, &unhashable) {
		t.Errorf("dict in a tuple in a set: %v", err)
	}
}

func TestCopyIsDeep(t *testing.T) {
	t.Parallel()
	v := []any{mustDict(t, "a", []any{int64(1)}), Tuple{[]any{"x"}}, mustSet(t, "e")}
	c := copyValue(v).([]any)
	if !pyEqual(v, c) {
		t.Fatal("copy differs")
	}
	inner, _ := c[0].(*Dict).Get("a")
	inner.([]any)[0] = int64(2)
	c[1].(Tuple)[0].([]any)[0] = "y"
	if err := c[2].(*Set).add("f"); err != nil {
		t.Fatal(err)
	}
	if got := pyRepr(v); got != "[{'a': [1]}, (['x'],), {'e'}]" {
		t.Errorf("the original became %s", got)
	}
}

// TestErrorsAreTheirBases checks what errors.As sees in errors whose Python class has a base.
func TestErrorsAreTheirBases(t *testing.T) {
	t.Parallel()
	if _, ok := errors.AsType[*TypeError](&KeyTypeError{Key: "1", Type: "int"}); !ok {
		t.Error("KeyTypeError is no TypeError")
	}
	err := error(&FieldError{Path: "Device.version", Err: &InvalidVersionError{Version: "x"}})
	if _, ok := errors.AsType[*ValueError](err); !ok {
		t.Error("InvalidVersionError is no ValueError")
	}
	if got := pythonClass(err); got != "InvalidVersion" {
		t.Errorf("class %s", got)
	}
	if got := err.Error(); got != "Device.version: Invalid version: 'x'" {
		t.Errorf("text %s", got)
	}
	if got := pythonClass(errors.New("x")); got != "Exception" {
		t.Errorf("class of a Go error: %s", got)
	}
}
