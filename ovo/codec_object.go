package ovo

import (
	"errors"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// objectCodec is the codec of a field of objects.
type objectCodec interface {
	codec
	// changed tells whether one of the objects at s, which are in depth others, has changes.
	changed(r *Registry, s slot, depth int) bool
	// visit calls f for every object at s, in order.
	visit(r *Registry, s slot, f func(c *Class, o slot) error) error
}

var errNilObject = errors.New("a nil object cannot be written; null belongs into a Null cell")

// pointerCodec is for *X.
type pointerCodec struct{ class *Class }

func (c *pointerCodec) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Object {
		return errSlow
	}
	o, err := d.objectOf(c.class)
	if err == nil {
		s.point(o)
	}
	return err
}

func (c *pointerCodec) encode(e *encoder, s slot) error {
	if s = s.pointee(); s.isNil() {
		return errNilObject
	}
	return e.object(c.class, s)
}

func (c *pointerCodec) load(s slot) any {
	if s = s.pointee(); s.isNil() {
		return nil
	}
	return c.class.object(s)
}

func (c *pointerCodec) store(s slot, v any) error {
	o, err := c.class.addressOf(v)
	if err == nil {
		s.point(o)
	}
	return err
}

// addressOf returns where an object of the class's Go type is.
func (c *Class) addressOf(v any) (slot, error) {
	o, ok := v.(Object)
	if ok {
		if found, err := c.reg.classOf(o); err == nil && found.goType == c.goType {
			return c.address(o), nil
		}
	}
	return slot{}, &ValueError{"An object of type " + c.name + " is required, not a " + c.reg.typeName(v)}
}

// typeName is the name of the type of a value, for texts of errors.
func (r *Registry) typeName(v any) string {
	if o, ok := v.(Object); ok {
		if c, err := r.classOf(o); err == nil {
			return c.name
		}
		return "object"
	}
	return pyTypeName(v)
}

func (c *pointerCodec) changed(_ *Registry, s slot, depth int) bool {
	s = s.pointee()
	return !s.isNil() && c.class.changedWithin(c.class.storage(s), depth) != 0
}

func (c *pointerCodec) visit(_ *Registry, s slot, f func(*Class, slot) error) error {
	if s = s.pointee(); s.isNil() {
		return errNilObject
	}
	return f(c.class, s)
}

// pointersCodec is for []*X.
type pointersCodec struct{ class *Class }

func (c *pointersCodec) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Array {
		return errSlow
	}
	saved := d.r
	list := []slot{}
	more, err := d.r.BeginArray()
	for ; more && err == nil; more, err = d.r.NextElement() {
		if d.r.Peek() != pyjson.Object {
			d.r = saved
			return errSlow
		}
		o, err := d.objectOf(c.class)
		if err != nil {
			return within(index(len(list)), err)
		}
		list = append(list, o)
	}
	if err == nil {
		*pointers(s) = list
	}
	return err
}

func (c *pointersCodec) encode(e *encoder, s slot) error {
	e.b = append(e.b, '[')
	for i, o := range *pointers(s) {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		err := errNilObject
		if !o.isNil() {
			err = e.object(c.class, o)
		}
		if err != nil {
			return within(index(i), err)
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (c *pointersCodec) load(s slot) any {
	list := *pointers(s)
	items := make([]any, len(list))
	for i, o := range list {
		if !o.isNil() {
			items[i] = c.class.object(o)
		}
	}
	return items
}

func (c *pointersCodec) store(s slot, v any) error {
	items, err := valueAs[[]any](v)
	if err != nil {
		return err
	}
	list := make([]slot, len(items))
	for i, v := range items {
		if list[i], err = c.class.addressOf(v); err != nil {
			return within(index(i), err)
		}
	}
	*pointers(s) = list
	return nil
}

func (c *pointersCodec) changed(_ *Registry, s slot, depth int) bool {
	for _, o := range *pointers(s) {
		if !o.isNil() && c.class.changedWithin(c.class.storage(o), depth) != 0 {
			return true
		}
	}
	return false
}

func (c *pointersCodec) visit(_ *Registry, s slot, f func(*Class, slot) error) error {
	for i, o := range *pointers(s) {
		err := errNilObject
		if !o.isNil() {
			err = f(c.class, o)
		}
		if err != nil {
			return within(index(i), err)
		}
	}
	return nil
}

// anyObjectCodec is for Object: any class that the field's type accepts.
type anyObjectCodec struct{}

func (anyObjectCodec) decode(*decoder, slot) error { return errSlow }

func (anyObjectCodec) encode(e *encoder, s slot) error {
	o := *as[Object](s)
	if o == nil {
		return errNilObject
	}
	return e.value(o)
}

func (anyObjectCodec) load(s slot) any { return *as[Object](s) }

func (anyObjectCodec) store(s slot, v any) error { return storeAs[Object](s, v) }

func (anyObjectCodec) changed(r *Registry, s slot, depth int) bool {
	return objectChanged(r, *as[Object](s), depth)
}

// objectChanged tells whether an object of any class has changes.
func objectChanged(r *Registry, v any, depth int) bool {
	o, ok := v.(Object)
	if !ok {
		return false
	}
	c, err := r.classOf(o)
	return err == nil && c.changedWithin(c.storage(c.address(o)), depth) != 0
}

func (anyObjectCodec) visit(r *Registry, s slot, f func(*Class, slot) error) error {
	return visitObject(r, *as[Object](s), f)
}

func visitObject(r *Registry, v any, f func(*Class, slot) error) error {
	o, ok := v.(Object)
	if !ok {
		return errNilObject
	}
	c, err := r.classOf(o)
	if err != nil {
		return err
	}
	return f(c, c.address(o))
}
