package ovo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Serializer writes and reads arbitrary values with objects anywhere in them. An object that is too new is sent to ObjectBackportVersions of Indirection, once; without Indirection it is
// an [*IncompatibleVersionError]. A third part of a version is cut first, because a revision never changes the wire. The zero Indirection is right for
// servers. A Serializer is safe for concurrent use.
type Serializer struct {
	Registry    *Registry
	Indirection Indirection
}

// Append appends v as JSON. It takes the value model, objects, slices and maps of them and everything that a cell can hold; a json.RawMessage passes
// untouched, and other Go values go through encoding/json.
func (s Serializer) Append(dst []byte, v any) ([]byte, error) {
	e := encoder{reg: s.Registry, b: dst}
	if err := e.value(v); err != nil {
		return dst, err
	}
	return e.b, nil
}

// Decode reads a document: dicts that are primitives in the registry's namespace become objects, at any depth; everything else becomes the value model.
func (s Serializer) Decode(ctx context.Context, data []byte) (any, error) {
	d := s.decoder(ctx, data)
	v, err := d.entity()
	if err == nil {
		err = d.r.End()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Serialize is [Serializer.Append] in the shape that an RPC layer asks for.
func (s Serializer) Serialize(_ context.Context, v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	return s.Append(nil, v)
}

// Deserialize reads raw into what v points to: a pointer to any gets what [Serializer.Decode] returns, a json.RawMessage a copy, and a typed value is filled. Types
// that no cell can hold are left to encoding/json.
func (s Serializer) Deserialize(ctx context.Context, raw json.RawMessage, v any) error {
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("deserialize into a %T: want a pointer", v)
	}
	c, err := s.Registry.carrier(to.Elem().Type())
	if err != nil {
		return json.Unmarshal(raw, v)
	}
	d := s.decoder(ctx, raw)
	to.Elem().SetZero()
	if err := c.decode(d, to.Elem()); err != nil {
		return err
	}
	return d.r.End()
}

// goValue writes a value that is none of the value model's: by the type that a cell of it would have, and otherwise by encoding/json.
func (e *encoder) goValue(v any) error {
	c, err := e.reg.carrier(reflect.TypeOf(v))
	if err == nil {
		return c.encode(e, reflect.ValueOf(v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return &TypeError{fmt.Sprintf("a %T has no form in JSON", v)}
	}
	e.b = append(e.b, b...)
	return nil
}

// entities is what a decoder needs to treat objects as Python's serializer does.
type entities struct {
	ctx context.Context
	Serializer
}

func (s Serializer) decoder(ctx context.Context, data []byte) *decoder {
	d := newDecoder(s.Registry, data)
	d.serial = &entities{ctx, s}
	return d
}

// entity reads the next value; a dict that holds the key of a class name is an object.
func (d *decoder) entity() (any, error) {
	switch d.r.Peek() {
	case pyjson.Array:
		return d.list(d.entity)
	case pyjson.Object:
		is, err := d.isObject()
		if err != nil {
			return nil, err
		}
		if !is {
			return d.dict(d.entity)
		}
		c, o, err := d.object(nil)
		if other, ok := errors.AsType[*noObject](err); ok {
			return other.value, nil
		}
		if err != nil {
			return nil, rooted(c, err)
		}
		return c.object(o), nil
	}
	return d.value()
}

// isObject tells whether the dict that comes next is an object. Python peers write the class name first; other dicts are looked through, each level once, so that the
// work is bounded by the size of the document times the depth limit.
func (d *decoder) isObject() (bool, error) {
	saved := d.r
	defer func() { d.r = saved }()
	if d.r.Accept(d.keys.objectOpen) {
		return true, nil
	}
	more, err := d.r.BeginObject()
	for ; more && err == nil; more, err = d.r.NextMember() {
		key, err := d.r.ReadKeyText(d.buf[:0])
		if err != nil {
			return false, err
		}
		if string(key) == d.keys.name {
			return true, nil
		}
		if err := d.r.Skip(); err != nil {
			return false, err
		}
	}
	return false, err
}

// object reads an object; see [decoder.nested]. In a serializer's document, the outermost objects that are too new are made readable.
func (d *decoder) object(want *Class) (*Class, slot, error) {
	serial := d.serial
	if serial == nil {
		return d.nested(want)
	}
	saved := d.r
	d.serial = nil
	c, o, err := d.nested(want)
	d.serial = serial
	var tooNew *IncompatibleVersionError
	if err == nil || !errors.As(err, &tooNew) {
		return c, o, err
	}
	d.r = saved
	raw, skipErr := d.r.ReadRaw()
	if skipErr != nil {
		return c, o, skipErr
	}
	if c2, o2, ok, err2 := serial.rescue(raw, d); ok {
		return c2, o2, err2
	}
	return c, o, err
}

// rescue tries to read an object that is too new; ok is false if there is no way to.
func (s *entities) rescue(raw []byte, d *decoder) (c *Class, o slot, ok bool, err error) {
	name, version, from, to := header(raw, d.keys)
	if strings.Count(version, ".") == 2 {
		cut := version[:strings.LastIndexByte(version, '.')]
		raw = slices.Concat(raw[:from], []byte(quote(cut)), raw[to:])
		c, o, err = s.inner(raw, d).object(nil)
		return c, o, true, err
	}
	if s.Indirection == nil || s.Registry.Highest(name) == nil {
		return nil, slot{}, false, nil
	}
	manifest, err := s.Registry.Manifest(name)
	if err != nil {
		return nil, slot{}, true, err
	}
	answer, err := s.Indirection.ObjectBackportVersions(s.ctx, bytes.Clone(raw), manifest)
	if err != nil {
		return nil, slot{}, true, err
	}
	// Whatever is too new in the answer stays so: asking again would go on for ever.
	again := &entities{s.ctx, Serializer{Registry: s.Registry}}
	inner := again.inner(answer, d)
	if inner.r.Peek() != pyjson.Object {
		value, err := inner.entity()
		if err == nil {
			err = &noObject{name, value}
		}
		return nil, slot{}, true, err
	}
	c, o, err = inner.object(nil)
	if err == nil {
		err = inner.r.End()
	}
	return c, o, true, err
}

// noObject is a backport's answer that is no object. Where any value will do it is taken as it is, as in Python.
type noObject struct {
	class string
	value any
}

func (e *noObject) Error() string {
	return "the backport of " + e.class + " was answered with a " + pyTypeName(e.value)
}

// PythonClass returns "TypeError".
func (*noObject) PythonClass() string { return "TypeError" }

// inner is a decoder for the text of one object of d's document.
func (s *entities) inner(raw []byte, d *decoder) *decoder {
	in := s.decoder(s.ctx, raw)
	in.keys, in.space = d.keys, d.space
	return in
}

// header finds name and version in the primitive of an object, and where the text of the version is.
func header(raw []byte, keys *spaceKeys) (name, version string, from, to int) {
	r := pyjson.NewReader(raw)
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		key, err := r.ReadKey()
		if err != nil {
			break
		}
		switch key {
		case keys.name:
			name, err = r.ReadString()
		case keys.version:
			r.Peek()
			from = r.Offset()
			version, err = r.ReadString()
			to = r.Offset()
		default:
			err = r.Skip()
		}
		if err != nil {
			break
		}
	}
	return name, version, from, to
}
