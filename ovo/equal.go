package ovo

import (
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// normInt returns i as int64 if it fits.
func normInt(i *big.Int) any {
	if i.IsInt64() {
		return i.Int64()
	}
	return i
}

// Keys under which unequal kinds of values cannot meet in one map.
type (
	bigKey    string
	naiveKey  struct{ sec, nsec int64 }
	awareKey  struct{ sec, nsec int64 }
	tupleKey  string
	frozenKey string
	nanKey    struct{ *float64 }
)

// hashKey returns a comparable Go value that is equal for values which are equal in Python: 1, 1.0 and True share
// one. What Python cannot hash is a *TypeError.
func hashKey(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		return floatKey(v), nil
	case *big.Int:
		if n, ok := normInt(v).(int64); ok {
			return n, nil
		}
		return bigKey(v.String()), nil
	case time.Time:
		if isNaive(v) {
			return naiveKey{v.Unix(), int64(v.Nanosecond())}, nil
		}
		return awareKey{v.Unix(), int64(v.Nanosecond())}, nil
	case netip.Prefix:
		return v.Masked(), nil // netaddr compares networks, not the address they were written with
	case Tuple:
		return joinKeys(v)
	case []any, *Dict:
		return nil, unhashable(v)
	case *Set:
		if !v.frozen {
			return nil, unhashable(v)
		}
		return frozenKey(pyRepr(v)), nil
	case nil, int64, string, netip.Addr, Object:
		return v, nil
	}
	return nil, unhashable(v)
}

func unhashable(v any) error {
	return &TypeError{"unhashable type: '" + pyTypeName(v) + "'"}
}

func floatKey(f float64) any {
	switch {
	case f != f:
		return nanKey{&f} // equal to nothing
	case math.IsInf(f, 0) || f != math.Trunc(f):
		return f
	case f >= math.MinInt64 && f < math.MaxInt64:
		return int64(f)
	}
	i, _ := big.NewFloat(f).Int(nil)
	return bigKey(i.String())
}

func joinKeys(t Tuple) (any, error) {
	var b strings.Builder
	for _, e := range t {
		k, err := hashKey(e)
		if err != nil {
			return nil, err
		}
		s := fmt.Sprintf("%T %v", k, k)
		if o, ok := k.(Object); ok {
			s = fmt.Sprintf("%p", o)
		}
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	return tupleKey(b.String()), nil
}

// pyEqual is Python's ==: numbers by value, times as instants, a naive time unlike any aware one, NaN unlike itself,
// dicts and sets without order, lists unlike tuples, objects by identity.
func pyEqual(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && equalItems(a, b)
	case Tuple:
		b, ok := b.(Tuple)
		return ok && equalItems(a, b)
	case *Dict:
		b, ok := b.(*Dict)
		return ok && equalDicts(a, b)
	case *Set:
		b, ok := b.(*Set)
		return ok && equalSets(a, b)
	}
	switch b.(type) {
	case []any, Tuple, *Dict, *Set:
		return false
	}
	ka, errA := hashKey(a)
	kb, errB := hashKey(b)
	return errA == nil && errB == nil && ka == kb
}

func equalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !pyEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalDicts(a, b *Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All() {
		w, ok := b.Get(k)
		if !ok || !pyEqual(v, w) {
			return false
		}
	}
	return true
}

func equalSets(a, b *Set) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k := range a.index {
		if _, ok := b.index[k]; !ok {
			return false
		}
	}
	return true
}

// copyValue is Python's deep copy of a value. Objects are shared: copying them is [View.Clone]'s work.
func copyValue(v any) any {
	switch v := v.(type) {
	case []any:
		return copyItems(v)
	case Tuple:
		return Tuple(copyItems(v))
	case *Dict:
		d := &Dict{}
		for k, e := range v.All() {
			_ = d.Set(k, copyValue(e)) // k is a key already
		}
		return d
	case *Set:
		s, _ := NewSet(v.items...) // hashed once already
		s.frozen = v.frozen
		return s
	}
	return v
}

func copyItems(items []any) []any {
	c := make([]any, len(items))
	for i, e := range items {
		c[i] = copyValue(e)
	}
	return c
}
