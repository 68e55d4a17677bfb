package ovo

import "reflect"

// ReadOnly is the cell of a field that can be assigned once, and again only with an equal value or after it was unset.
type ReadOnly[T any] struct {
	v T
	s state
}

// ReadOnlyOf returns a cell that holds v and is marked changed.
func ReadOnlyOf[T any](v T) ReadOnly[T] { return ReadOnly[T]{v, stateSet | stateChanged} }

// Get returns the value; ok is false when the field is unset.
func (r *ReadOnly[T]) Get() (v T, ok bool) { return r.v, r.s&stateSet != 0 }

// Value returns the value, the zero value of T when the field is unset.
func (r *ReadOnly[T]) Value() T { return r.v }

// Set assigns v to an unset field and marks it changed. An equal value is accepted without marking; a different one is a [*ReadOnlyError].
func (r *ReadOnly[T]) Set(v T) error {
	if r.s&stateSet == 0 {
		r.v, r.s = v, stateSet|stateChanged
		return nil
	}
	if !reflect.DeepEqual(r.v, v) {
		return &ReadOnlyError{}
	}
	return nil
}

// Unset takes the value away, after which the field can be assigned again. The changed mark stays as it was.
func (r *ReadOnly[T]) Unset() {
	var zero T
	r.v, r.s = zero, r.s&stateChanged
}

// IsSet tells whether the field has a value.
func (r *ReadOnly[T]) IsSet() bool { return r.s&stateSet != 0 }

// Changed tells whether the field is marked changed.
func (r *ReadOnly[T]) Changed() bool { return r.s&stateChanged != 0 }

func (*ReadOnly[T]) cell() cellInfo { return cellInfo{value: reflect.TypeFor[T](), readOnly: true} }
