package ovo

import (
	"fmt"
	"reflect"
	"unsafe"
)

// This is the only file that uses unsafe. A field of an object is found by adding an offset to the object's address, which is what a
// compiled struct access does; reflect would cost half of the decoder's speed. Every offset comes from [reflect.StructField.Offset] and is checked
// when the class is made: see [checkCell]. Types are checked there too, so that [as] is only asked for what lies at the address.

// slot is the address of something inside an object.
type slot struct{ p unsafe.Pointer }

// slotOf returns the address that p holds.
func slotOf[T any](p *T) slot { return slot{unsafe.Pointer(p)} }

// slotOfValue returns the address of an addressable value.
func slotOfValue(v reflect.Value) slot { return slot{v.Addr().UnsafePointer()} }

// as gives the thing at s its type. The caller knows from the class that a T, or a type with T's layout, is there.
func as[T any](s slot) *T { return (*T)(s.p) }

// plus returns the address offset bytes further on, inside the same object.
func (s slot) plus(offset uintptr) slot { return slot{unsafe.Add(s.p, offset)} }

// minus returns the address offset bytes before, inside the same object.
func (s slot) minus(offset uintptr) slot { return slot{unsafe.Add(s.p, -int(offset))} }

// pointee follows the pointer that is stored at s.
func (s slot) pointee() slot { return slot{*(*unsafe.Pointer)(s.p)} }

// point stores the address to as a pointer at s.
func (s slot) point(to slot) { *(*unsafe.Pointer)(s.p) = to.p }

// isNil tells whether s is no address.
func (s slot) isNil() bool { return s.p == nil }

// pointers gives a slice of pointers of any type.
func pointers(s slot) *[]slot { return (*[]slot)(s.p) }

// value gives the thing at s as a reflect.Value of type t.
func (s slot) value(t reflect.Type) reflect.Value { return reflect.NewAt(t, s.p).Elem() }

// checkCell tells whether t, the type of a cell, is a value followed by a state, and returns the state's offset.
func checkCell(t, value reflect.Type) (uintptr, error) {
	if t.Kind() != reflect.Struct || t.NumField() != 2 {
		return 0, fmt.Errorf("cell type %s is not a value and a state", t)
	}
	v, s := t.Field(0), t.Field(1)
	if v.Type != value || v.Offset != 0 || s.Type != reflect.TypeFor[state]() || s.Offset != value.Size() || s.Offset >= t.Size() {
		return 0, fmt.Errorf("cell type %s has an unexpected layout", t)
	}
	return s.Offset, nil
}

// checkRange tells whether a cell at offset lies inside a struct of type t.
func checkRange(t reflect.Type, offset uintptr, c reflect.Type) error {
	if offset+c.Size() > t.Size() || offset%uintptr(c.Align()) != 0 {
		return fmt.Errorf("a cell at offset %d does not fit into %s", offset, t)
	}
	return nil
}

// Where the cells of a record lie.
const (
	recordCellSize    = unsafe.Sizeof(Null[any]{})
	recordStateOffset = unsafe.Offsetof(Null[any]{}.s)
)

// clear sets the value of a field to the zero value of its Go type.
func (f *field) clear(st slot) {
	t := f.declared.value
	if t == nil {
		t = reflect.TypeFor[any]()
	}
	st.plus(f.offset).value(t).SetZero()
}
