package ovo

import "reflect"

// state is what a cell remembers beside its value. Presence and the changed mark are independent: deleting a field keeps the mark.
type state uint8

const (
	stateSet     state = 1 << iota // has a value, which may be null
	stateNull                      // that value is null
	stateChanged                   // was assigned or deleted since the last reset
)

// Field is the cell of a field that cannot be null. It is either unset or holds a value; the zero Field is unset. A cell is a plain value: copying
// the struct around it copies value, presence and mark. Any number of readers, or one writer.
type Field[T any] struct {
	v T
	s state
}

// Of returns a cell that holds v and is marked changed, as after an assignment.
func Of[T any](v T) Field[T] { return Field[T]{v, stateSet | stateChanged} }

// Stored returns a cell that holds v and is not marked changed, as after loading it from storage.
func Stored[T any](v T) Field[T] { return Field[T]{v, stateSet} }

// Get returns the value; ok is false when the field is unset.
func (f *Field[T]) Get() (v T, ok bool) { return f.v, f.s&stateSet != 0 }

// Value returns the value, the zero value of T when the field is unset.
func (f *Field[T]) Value() T { return f.v }

// Or returns the value, or def when the field is unset.
func (f *Field[T]) Or(def T) T {
	if f.s&stateSet == 0 {
		return def
	}
	return f.v
}

// Set assigns v and marks the field changed, also when v equals the old value. Edits inside a slice or map value are not noticed.
func (f *Field[T]) Set(v T) { f.v, f.s = v, stateSet|stateChanged }

// Unset takes the value away. As in Python, the changed mark stays as it was.
func (f *Field[T]) Unset() {
	var zero T
	f.v, f.s = zero, f.s&stateChanged
}

// IsSet tells whether the field has a value.
func (f *Field[T]) IsSet() bool { return f.s&stateSet != 0 }

// Changed tells whether the field is marked changed.
func (f *Field[T]) Changed() bool { return f.s&stateChanged != 0 }

func (*Field[T]) cell() cellInfo { return cellInfo{value: reflect.TypeFor[T]()} }

// Null is the cell of a nullable field: unset, null, or a value. Unset and null are different things, also on the wire. The zero Null is unset.
type Null[T any] struct {
	v T
	s state
}

// NullOf returns a cell that holds v and is marked changed.
func NullOf[T any](v T) Null[T] { return Null[T]{v, stateSet | stateChanged} }

// NullFrom returns a cell that holds *p, null when p is nil, and is marked changed.
func NullFrom[T any](p *T) Null[T] {
	n := NullStored(p)
	n.s |= stateChanged
	return n
}

// NullStored is [NullFrom] without the changed mark, as after loading from storage.
func NullStored[T any](p *T) Null[T] {
	if p == nil {
		return Null[T]{s: stateSet | stateNull}
	}
	return Null[T]{*p, stateSet}
}

// Get returns the value; ok is false when the field is unset or null.
func (n *Null[T]) Get() (v T, ok bool) { return n.v, n.s&(stateSet|stateNull) == stateSet }

// Value returns the value, the zero value of T when the field is unset or null.
func (n *Null[T]) Value() T { return n.v }

// Or returns the value, or def when the field is unset or null.
func (n *Null[T]) Or(def T) T {
	if v, ok := n.Get(); ok {
		return v
	}
	return def
}

// Ptr returns a pointer to a copy of the value, nil when the field is unset or null.
func (n *Null[T]) Ptr() *T {
	v, ok := n.Get()
	if !ok {
		return nil
	}
	return &v
}

// Set assigns v and marks the field changed, also when v equals the old value.
func (n *Null[T]) Set(v T) { n.v, n.s = v, stateSet|stateChanged }

// SetNull assigns null and marks the field changed.
func (n *Null[T]) SetNull() {
	var zero T
	n.v, n.s = zero, stateSet|stateNull|stateChanged
}

// Unset takes the value away. As in Python, the changed mark stays as it was.
func (n *Null[T]) Unset() {
	var zero T
	n.v, n.s = zero, n.s&stateChanged
}

// IsSet tells whether the field has a value; null is one.
func (n *Null[T]) IsSet() bool { return n.s&stateSet != 0 }

// IsNull tells whether the field is set to null.
func (n *Null[T]) IsNull() bool { return n.s&stateNull != 0 }

// Changed tells whether the field is marked changed.
func (n *Null[T]) Changed() bool { return n.s&stateChanged != 0 }

func (*Null[T]) cell() cellInfo { return cellInfo{value: reflect.TypeFor[T](), nullable: true} }

// cell is implemented by pointers to cells only; a class finds the cells of its struct by it.
type cell interface{ cell() cellInfo }

// cellInfo is what a cell's Go type says about the field.
type cellInfo struct {
	value    reflect.Type
	nullable bool
	readOnly bool
}
