package ovo

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// carrier moves Go values that are no fields between Go and JSON: arguments and results of remotable methods, and what a serializer is given.
type carrier interface {
	encode(e *encoder, v reflect.Value) error
	// decode reads the next value into v, which is settable and zero.
	decode(d *decoder, v reflect.Value) error
	// assign puts a value of the value model into v: the default of a parameter.
	assign(v reflect.Value, value any) error
}

// carrier makes the carrier of a Go type.
func (r *Registry) carrier(t reflect.Type) (carrier, error) {
	switch t {
	case reflect.TypeFor[any](), reflect.TypeFor[Object](), reflect.TypeFor[*Dict](), reflect.TypeFor[*Set](), reflect.TypeFor[Tuple](), reflect.TypeFor[*Record]():
		return modelCarrier{t}, nil
	case reflect.TypeFor[json.RawMessage]():
		return verbatim{}, nil
	}
	inner, nullable := t, t.Kind() == reflect.Pointer && !isObjectType(t) && t != reflect.TypeFor[*big.Int]()
	if nullable {
		inner = t.Elem()
	}
	spec, err := goSpec(inner, &tag{})
	if err != nil {
		return nil, err
	}
	if err := r.nameObjects(inner, &spec, "a remotable method"); err != nil {
		return nil, err
	}
	typ, err := NewType(spec)
	if err != nil {
		return nil, err
	}
	c, err := r.codec(inner, &spec, typ)
	if err != nil {
		return nil, err
	}
	return &typedCarrier{reg: r, typ: typ, codec: c, inner: inner, nullable: nullable}, nil
}

// modelCarrier is for types of the value model: whatever comes is taken, objects anywhere in it are built.
type modelCarrier struct{ goType reflect.Type }

func (modelCarrier) encode(e *encoder, v reflect.Value) error {
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return e.value(nil)
	}
	return e.value(v.Interface())
}

func (c modelCarrier) decode(d *decoder, v reflect.Value) error {
	value, err := d.entity()
	if err != nil {
		return err
	}
	return c.assign(v, value)
}

func (c modelCarrier) assign(v reflect.Value, value any) error {
	if list, ok := value.([]any); ok && c.goType == reflect.TypeFor[Tuple]() {
		value = Tuple(list)
	}
	if value == nil {
		return nil
	}
	x := reflect.ValueOf(value)
	if !x.Type().AssignableTo(c.goType) {
		return &TypeError{fmt.Sprintf("a %s is no %s", pyTypeName(value), c.goType)}
	}
	v.Set(x)
	return nil
}

// verbatim is for JSON that passes as it is.
type verbatim struct{}

func (verbatim) encode(e *encoder, v reflect.Value) error {
	return e.value(json.RawMessage(v.Bytes()))
}

func (verbatim) decode(d *decoder, v reflect.Value) error {
	raw, err := d.r.ReadRaw()
	if err == nil {
		v.SetBytes(append([]byte(nil), raw...))
	}
	return err
}

func (verbatim) assign(v reflect.Value, value any) error {
	e := encoder{}
	if err := e.value(value); err != nil {
		return err
	}
	v.SetBytes(e.b)
	return nil
}

// typedCarrier is for Go types that a cell could hold, and for pointers to such, nil for null.
type typedCarrier struct {
	reg      *Registry
	typ      Type
	codec    codec
	inner    reflect.Type
	nullable bool
}

func (c *typedCarrier) encode(e *encoder, v reflect.Value) error {
	if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface && v.IsNil() {
		return e.value(nil)
	}
	if c.nullable {
		v = v.Elem()
	}
	if !v.CanAddr() {
		to := reflect.New(c.inner).Elem()
		to.Set(v)
		v = to
	}
	return c.codec.encode(e, slotOfValue(v))
}

// target returns where the value goes: v itself, or what v is made to point to.
func (c *typedCarrier) target(v reflect.Value) slot {
	if c.nullable {
		v.Set(reflect.New(c.inner))
		v = v.Elem()
	}
	return slotOfValue(v)
}

func (c *typedCarrier) decode(d *decoder, v reflect.Value) error {
	if d.r.Peek() == pyjson.Null {
		return d.r.ReadNull()
	}
	to := c.target(v)
	err := c.codec.decode(d, to)
	if err != errSlow { //nolint:errorlint // never wrapped
		return err
	}
	value, err := d.entity()
	if err == nil {
		value, err = c.typ.fromPrimitive(place{objects: c.reg}, value)
	}
	if err == nil {
		value, err = c.typ.coerce(place{objects: c.reg}, value)
	}
	if err != nil {
		return err
	}
	return c.codec.store(to, value)
}

func (c *typedCarrier) assign(v reflect.Value, value any) error {
	if value == nil {
		return nil
	}
	value, err := c.typ.coerce(place{objects: c.reg}, value)
	if err != nil {
		return err
	}
	return c.codec.store(c.target(v), value)
}
