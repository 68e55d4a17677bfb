package ovo

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// codec moves the values of one Go type between a cell and JSON. It takes the short way only when that gives what the field's [Type] would
// give; for everything else decode answers errSlow and leaves the decoder where it was, and the value goes through the Type. Null is never its business.
type codec interface {
	// decode reads the next value into s.
	decode(d *decoder, s slot) error
	// encode writes the value at s.
	encode(e *encoder, s slot) error
	// load returns the value at s in the value model.
	load(s slot) any
	// store puts a coerced value of the value model at s.
	store(s slot, v any) error
}

// errSlow says that a value has to go through its Type.
var errSlow = errors.New("no short way")

// codec makes the codec of a Go type for a wire type.
func (r *Registry) codec(t reflect.Type, spec *TypeSpec, typ Type) (codec, error) {
	switch {
	case t == reflect.TypeFor[Object]():
		return anyObjectCodec{}, nil
	case isObjectType(t):
		return &pointerCodec{class: r.byType[t.Elem()]}, nil
	case t.Kind() == reflect.Slice && isObjectType(t.Elem()) && t.Elem().Kind() == reflect.Pointer:
		return &pointersCodec{class: r.byType[t.Elem().Elem()]}, nil
	case t == reflect.TypeFor[any]():
		return rawCodec{}, nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return r.containerCodec(t, spec, typ)
	case spec.Values.list != nil:
		return newEnumCodec(spec, typ), nil
	}
	return scalarCodec(t, typ)
}

func scalarCodec(t reflect.Type, typ Type) (codec, error) {
	switch t.Kind() {
	case reflect.String:
		switch typ.(type) {
		case stringType, sensitiveStringType, uuidType:
			return stringCodec{}, nil
		}
		return slowStringCodec{}, nil
	case reflect.Int64:
		_, nonNegative := typ.(nonNegativeIntegerType)
		return intCodec{nonNegative}, nil
	case reflect.Float64:
		_, any := typ.(floatType)
		return floatCodec{any}, nil
	case reflect.Bool:
		return boolCodec{}, nil
	}
	switch t {
	case reflect.TypeFor[*big.Int]():
		return bigCodec{}, nil
	case reflect.TypeFor[time.Time]():
		return timeCodec{typ}, nil
	}
	switch typ.(type) {
	case ipAddressType, ipNetworkType:
		return valueCodec{t, typ}, nil
	}
	return nil, fmt.Errorf("no codec for Go type %s", t)
}

// stringCodec is for text that any string is a value of.
type stringCodec struct{}

func (stringCodec) decode(d *decoder, s slot) error {
	text, err := d.text()
	if err == nil {
		*as[string](s) = d.share(text)
	}
	return err
}

func (stringCodec) encode(e *encoder, s slot) (err error) {
	e.b, err = pyjson.AppendString(e.b, *as[string](s))
	return err
}

func (stringCodec) load(s slot) any { return *as[string](s) }

func (stringCodec) store(s slot, v any) error { return storeAs[string](s, v) }

// storeAs stores a value whose Go type is already right.
func storeAs[T any](s slot, v any) error {
	t, ok := v.(T)
	if !ok {
		return &TypeError{fmt.Sprintf("a %s does not fit into a %T", pyTypeName(v), t)}
	}
	*as[T](s) = t
	return nil
}

// slowStringCodec is for text with a syntax of its own, which the Type checks and normalises.
type slowStringCodec struct{ stringCodec }

func (slowStringCodec) decode(*decoder, slot) error { return errSlow }

// enumCodec is for enums. Values are shared with the list of valid ones.
type enumCodec struct {
	stringCodec
	valid []string
	typ   Type
}

func newEnumCodec(spec *TypeSpec, typ Type) codec {
	c := &enumCodec{typ: typ}
	for _, v := range spec.Values.items() {
		if s, ok := v.(string); ok {
			c.valid = append(c.valid, s)
		}
	}
	return c
}

func (c *enumCodec) decode(d *decoder, s slot) error {
	saved := d.r
	text, err := d.text()
	if err != nil {
		return err
	}
	for _, v := range c.valid {
		if v == string(text) {
			*as[string](s) = v
			return nil
		}
	}
	d.r = saved
	return errSlow
}

func (c *enumCodec) encode(e *encoder, s slot) error {
	v := *as[string](s)
	if slices.Contains(c.valid, v) {
		return c.stringCodec.encode(e, s)
	}
	// A conversion made a value that is none, or this is a substring enum.
	if _, err := c.typ.coerce(place{}, v); err != nil {
		return err
	}
	return c.stringCodec.encode(e, s)
}

type intCodec struct{ nonNegative bool }

func (c intCodec) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Number {
		return errSlow
	}
	saved := d.r
	text, integer, err := d.r.ReadNumber()
	if err != nil {
		return err
	}
	v, ok := pyjson.ParseInt(text)
	if !integer || !ok || c.nonNegative && v < 0 {
		d.r = saved
		return errSlow
	}
	*as[int64](s) = v
	return nil
}

func (intCodec) encode(e *encoder, s slot) error {
	e.b = strconv.AppendInt(e.b, *as[int64](s), 10)
	return nil
}

func (intCodec) load(s slot) any { return *as[int64](s) }

func (intCodec) store(s slot, v any) error {
	if _, big := v.(*big.Int); big {
		return &OverflowError{"integer does not fit into 64 bits"}
	}
	return storeAs[int64](s, v)
}

// bigCodec is for integers of any size.
type bigCodec struct{}

func (bigCodec) decode(*decoder, slot) error { return errSlow }

func (c bigCodec) encode(e *encoder, s slot) error { return e.value(c.load(s)) }

func (bigCodec) load(s slot) any {
	if i := *as[*big.Int](s); i != nil {
		return normInt(i)
	}
	return int64(0)
}

func (bigCodec) store(s slot, v any) error {
	if i, ok := v.(int64); ok {
		v = big.NewInt(i)
	}
	return storeAs[*big.Int](s, v)
}

type floatCodec struct{ any bool }

func (c floatCodec) decode(d *decoder, s slot) error {
	if !c.any || d.r.Peek() != pyjson.Number {
		return errSlow
	}
	saved := d.r
	text, integer, err := d.r.ReadNumber()
	if err != nil {
		return err
	}
	if integer { // Python may overflow on an integer, and does not on a float
		d.r = saved
		return errSlow
	}
	*as[float64](s) = pyjson.ParseFloat(text)
	return nil
}

func (floatCodec) encode(e *encoder, s slot) error {
	e.b = pyjson.AppendFloat(e.b, *as[float64](s))
	return nil
}

func (floatCodec) load(s slot) any { return *as[float64](s) }

func (floatCodec) store(s slot, v any) error { return storeAs[float64](s, v) }

type boolCodec struct{}

func (boolCodec) decode(d *decoder, s slot) (err error) {
	if d.r.Peek() != pyjson.Bool {
		return errSlow
	}
	*as[bool](s), err = d.r.ReadBool()
	return err
}

func (boolCodec) encode(e *encoder, s slot) error {
	e.b = pyjson.AppendBool(e.b, *as[bool](s))
	return nil
}

func (boolCodec) load(s slot) any { return *as[bool](s) }

func (boolCodec) store(s slot, v any) error { return storeAs[bool](s, v) }

// timeCodec is for datetimes.
type timeCodec struct{ typ Type }

// decode takes the short way for what is nearly always written: whole seconds and Z.
func (c timeCodec) decode(d *decoder, s slot) error {
	saved := d.r
	text, err := d.text()
	if err != nil {
		return err
	}
	var t time.Time
	if c.typ == (dateTimeType{}) && len(text) == len("2006-01-02T15:04:05Z") && t.UnmarshalText(text) == nil && t.Year() > 0 {
		*as[time.Time](s) = t
		return nil
	}
	d.r = saved
	return errSlow
}

func (c timeCodec) encode(e *encoder, s slot) (err error) {
	e.b, err = appendTime(append(e.b, '"'), *as[time.Time](s))
	e.b = append(e.b, '"')
	return err
}

func (timeCodec) load(s slot) any { return *as[time.Time](s) }

func (timeCodec) store(s slot, v any) error { return storeAs[time.Time](s, v) }

// valueCodec is for Go types that are values of the value model and have no short way.
type valueCodec struct {
	goType reflect.Type
	typ    Type
}

func (valueCodec) decode(*decoder, slot) error { return errSlow }

func (c valueCodec) encode(e *encoder, s slot) error { return encodeBy(c.typ, e, c.load(s)) }

func (c valueCodec) load(s slot) any { return s.value(c.goType).Interface() }

func (c valueCodec) store(s slot, v any) error {
	if reflect.TypeOf(v) != c.goType {
		return &TypeError{fmt.Sprintf("a %s does not fit into a %s", pyTypeName(v), c.goType)}
	}
	s.value(c.goType).Set(reflect.ValueOf(v))
	return nil
}

// rawCodec is for raw values, which are kept as they are: elements of type any.
type rawCodec struct{}

// decode builds objects among the arguments and results of methods. Inside an object raw values are only data.
func (rawCodec) decode(d *decoder, s slot) (err error) {
	if d.serial != nil {
		*as[any](s), err = d.entity()
	} else {
		*as[any](s), err = d.value()
	}
	return err
}

func (rawCodec) encode(e *encoder, s slot) error { return e.value(*as[any](s)) }

func (rawCodec) load(s slot) any { return *as[any](s) }

func (rawCodec) store(s slot, v any) error {
	*as[any](s) = v
	return nil
}

// encodeBy writes a value in the form that its Type gives it.
func encodeBy(typ Type, e *encoder, v any) error {
	p, err := typ.toPrimitive(place{objects: e.reg}, v)
	if err != nil {
		return err
	}
	return e.value(p)
}
