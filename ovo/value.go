package ovo

import (
	"iter"
	"time"
)

// The value model is what `any` means in this package, one Go type for each Python type that a field or an argument
// can hold:
//
//	nil           None           []any    list
//	bool          bool           Tuple    tuple
//	int64         int            *Set     set, frozenset
//	*big.Int      int, when int64 is too small; never otherwise
//	float64       float          *Dict    dict, in insertion order
//	string        str            Object   versioned object
//	time.Time     datetime       netip.Addr, netip.Prefix   netaddr's IPAddress, IPNetwork
//
// A time.Time whose zone has no name and no offset is a naive datetime; see [Naive].

// Tuple is a Python tuple.
type Tuple []any

// Naive returns the wall clock reading of t without a zone: what Python calls a naive datetime.
func Naive(t time.Time) time.Time {
	y, mo, d := t.Date()
	h, mi, s := t.Clock()
	return time.Date(y, mo, d, h, mi, s, t.Nanosecond(), time.FixedZone("", 0))
}

func isNaive(t time.Time) bool {
	name, offset := t.Zone()
	return name == "" && offset == 0
}

// Dict is a Python dict: it keeps the order of insertion and finds keys by Python equality. The zero value is empty
// and ready for use. One writer or many readers.
type Dict struct {
	keys   []any
	values []any
	index  map[any]int
}

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// Get returns the value of key.
func (d *Dict) Get(key any) (any, bool) {
	k, err := hashKey(key)
	if err != nil {
		return nil, false
	}
	i, ok := d.index[k]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// Set stores a value; a key that is present keeps its place. A key that Python cannot hash is a *TypeError.
func (d *Dict) Set(key, value any) error {
	k, err := hashKey(key)
	if err != nil {
		return err
	}
	if i, ok := d.index[k]; ok {
		d.values[i] = value
		return nil
	}
	if d.index == nil {
		d.index = make(map[any]int)
	}
	d.index[k] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
	return nil
}

// Delete removes a key, if it is there.
func (d *Dict) Delete(key any) {
	k, err := hashKey(key)
	if err != nil {
		return
	}
	i, ok := d.index[k]
	if !ok {
		return
	}
	delete(d.index, k)
	d.keys = append(d.keys[:i], d.keys[i+1:]...)
	d.values = append(d.values[:i], d.values[i+1:]...)
	for k, j := range d.index {
		if j > i {
			d.index[k] = j - 1
		}
	}
}

// All yields keys and values in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for i, k := range d.keys {
			if !yield(k, d.values[i]) {
				return
			}
		}
	}
}

// Set is a Python set or frozenset, its elements distinct by Python equality. It keeps the order of insertion, which
// means nothing.
type Set struct {
	items  []any
	index  map[any]struct{}
	frozen bool
}

// NewSet returns a set of the given elements. An element that Python cannot hash is a *TypeError.
func NewSet(elements ...any) (*Set, error) {
	s := &Set{index: make(map[any]struct{}, len(elements))}
	for _, e := range elements {
		if err := s.add(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Set) add(e any) error {
	k, err := hashKey(e)
	if err != nil {
		return err
	}
	if _, ok := s.index[k]; !ok {
		s.index[k] = struct{}{}
		s.items = append(s.items, e)
	}
	return nil
}

// Len returns the number of elements.
func (s *Set) Len() int { return len(s.items) }

// Has says whether the set contains an element equal to e.
func (s *Set) Has(e any) bool {
	k, err := hashKey(e)
	if err != nil {
		return false
	}
	_, ok := s.index[k]
	return ok
}

// All yields the elements.
func (s *Set) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, e := range s.items {
			if !yield(e) {
				return
			}
		}
	}
}
