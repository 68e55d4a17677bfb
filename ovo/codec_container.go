package ovo

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// containerCodec makes the codec of a slice or a map.
func (r *Registry) containerCodec(t reflect.Type, spec *TypeSpec, typ Type) (codec, error) {
	elem := t.Elem()
	if spec.Name == "Set" {
		elem = t.Key()
	}
	if spec.ElementNullable {
		elem = elem.Elem()
	}
	elemType, err := NewType(*spec.Element)
	if err != nil {
		return nil, err
	}
	c, err := r.codec(elem, spec.Element, elemType)
	if err != nil {
		return nil, err
	}
	e := element{codec: c, goType: elem, nullable: spec.ElementNullable}
	switch spec.Name {
	case "List":
		return &sliceCodec{t, e}, nil
	case "Set":
		return &setCodec{t, e}, nil
	}
	return &mapCodec{t, e}, nil
}

// element is what a container knows about its elements. A nullable one is stored as a pointer.
type element struct {
	codec    codec
	goType   reflect.Type
	nullable bool
}

// decode reads an element into s.
func (c *element) decode(d *decoder, s slot) error {
	if d.r.Peek() == pyjson.Null {
		_, raw := c.codec.(rawCodec)
		if !c.nullable && !raw {
			return errSlow
		}
		return d.r.ReadNull()
	}
	return c.codec.decode(d, c.target(s))
}

// target returns where the value of the element at s goes.
func (c *element) target(s slot) slot {
	if !c.nullable {
		return s
	}
	p := reflect.New(c.goType)
	to := slotOfValue(p.Elem())
	s.point(to)
	return to
}

func (c *element) encode(e *encoder, s slot) error {
	if c.nullable {
		if s = s.pointee(); s.isNil() {
			e.b = append(e.b, "null"...)
			return nil
		}
	}
	return c.codec.encode(e, s)
}

func (c *element) load(s slot) any {
	if c.nullable {
		if s = s.pointee(); s.isNil() {
			return nil
		}
	}
	return c.codec.load(s)
}

func (c *element) store(s slot, v any) error {
	_, raw := c.codec.(rawCodec)
	if v == nil && !raw {
		return nil
	}
	return c.codec.store(c.target(s), v)
}

// fresh returns the zero value of a stored element, addressable.
func (c *element) fresh() reflect.Value {
	t := c.goType
	if c.nullable {
		t = reflect.PointerTo(t)
	}
	return reflect.New(t).Elem()
}

// sliceCodec is for lists.
type sliceCodec struct {
	goType  reflect.Type
	element element
}

func (c *sliceCodec) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Array {
		return errSlow
	}
	saved := d.r
	list := reflect.MakeSlice(c.goType, 0, 0)
	more, err := d.r.BeginArray()
	for ; more && err == nil; more, err = d.r.NextElement() {
		e := c.element.fresh()
		if err := c.element.decode(d, slotOfValue(e)); err != nil {
			return d.slow(saved, within(index(list.Len()), err))
		}
		list = reflect.Append(list, e)
	}
	if err == nil {
		s.value(c.goType).Set(list)
	}
	return err
}

func (c *sliceCodec) encode(e *encoder, s slot) error {
	list := s.value(c.goType)
	e.b = append(e.b, '[')
	for i := range list.Len() {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		if err := c.element.encode(e, slotOfValue(list.Index(i))); err != nil {
			return within(index(i), err)
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (c *sliceCodec) load(s slot) any {
	list := s.value(c.goType)
	items := make([]any, list.Len())
	for i := range items {
		items[i] = c.element.load(slotOfValue(list.Index(i)))
	}
	return items
}

func (c *sliceCodec) store(s slot, v any) error {
	items, err := valueAs[[]any](v)
	if err != nil {
		return err
	}
	list := reflect.MakeSlice(c.goType, len(items), len(items))
	for i, item := range items {
		if err := c.element.store(slotOfValue(list.Index(i)), item); err != nil {
			return within(index(i), err)
		}
	}
	s.value(c.goType).Set(list)
	return nil
}

// valueAs asserts the kind of a coerced value.
func valueAs[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, &TypeError{"a " + pyTypeName(v) + " is of the wrong kind"}
	}
	return t, nil
}

// mapCodec is for dicts. Go maps have no order, so they are written sorted by key.
type mapCodec struct {
	goType  reflect.Type
	element element
}

func (c *mapCodec) decode(d *decoder, s slot) error {
	if d.r.Peek() != pyjson.Object {
		return errSlow
	}
	saved := d.r
	dict := reflect.MakeMap(c.goType)
	more, err := d.r.BeginObject()
	for ; more && err == nil; more, err = d.r.NextMember() {
		key, err := d.key()
		if err != nil {
			return err
		}
		k := reflect.ValueOf(key)
		if dict.MapIndex(k).IsValid() {
			return &pyjson.DuplicateKeyError{Key: key}
		}
		e := c.element.fresh()
		if err := c.element.decode(d, slotOfValue(e)); err != nil {
			return d.slow(saved, within("["+key+"]", err))
		}
		dict.SetMapIndex(k, e)
	}
	if err == nil {
		s.value(c.goType).Set(dict)
	}
	return err
}

func (c *mapCodec) encode(e *encoder, s slot) (err error) {
	e.b = append(e.b, '{')
	for i, k := range sortedKeys(s.value(c.goType)) {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		if e.b, err = appendText(e.b, k); err != nil {
			return err
		}
		e.b = append(e.b, pyjson.KeySeparator...)
		if err := c.element.encode(e, c.at(s, k)); err != nil {
			return within("["+k+"]", err)
		}
	}
	e.b = append(e.b, '}')
	return nil
}

// at returns where a copy of the value under a key is.
func (c *mapCodec) at(s slot, key string) slot {
	e := c.element.fresh()
	e.Set(s.value(c.goType).MapIndex(reflect.ValueOf(key)))
	return slotOfValue(e)
}

func sortedKeys(m reflect.Value) []string {
	keys := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}

func (c *mapCodec) load(s slot) any {
	d := &Dict{}
	for _, k := range sortedKeys(s.value(c.goType)) {
		_ = d.Set(k, c.element.load(c.at(s, k))) // text is always a key
	}
	return d
}

func (c *mapCodec) store(s slot, v any) error {
	d, err := valueAs[*Dict](v)
	if err != nil {
		return err
	}
	dict := reflect.MakeMapWithSize(c.goType, d.Len())
	for k, v := range d.All() {
		key, err := valueAs[string](k)
		if err != nil {
			return err
		}
		e := c.element.fresh()
		if err := c.element.store(slotOfValue(e), v); err != nil {
			return within("["+key+"]", err)
		}
		dict.SetMapIndex(reflect.ValueOf(key), e)
	}
	s.value(c.goType).Set(dict)
	return nil
}

// setCodec is for sets: maps to struct{}.
type setCodec struct {
	goType  reflect.Type
	element element
}

func (*setCodec) decode(*decoder, slot) error { return errSlow }

func (c *setCodec) encode(e *encoder, s slot) error {
	items := c.load(s).(*Set).items
	texts := make([]string, len(items))
	for i, v := range items {
		part := encoder{reg: e.reg, depth: e.depth}
		elem := c.element.fresh()
		if err := c.element.store(slotOfValue(elem), v); err != nil {
			return err
		}
		if err := c.element.encode(&part, slotOfValue(elem)); err != nil {
			return err
		}
		texts[i] = string(part.b)
	}
	slices.Sort(texts)
	e.b = append(e.b, '[')
	e.b = append(e.b, strings.Join(texts, pyjson.ItemSeparator)...)
	e.b = append(e.b, ']')
	return nil
}

func (c *setCodec) load(s slot) any {
	set := &Set{index: map[any]struct{}{}}
	for _, k := range s.value(c.goType).MapKeys() {
		e := c.element.fresh()
		e.Set(k)
		_ = set.add(c.element.load(slotOfValue(e))) // comparable in Go, hashable in Python
	}
	return set
}

func (c *setCodec) store(s slot, v any) error {
	set, err := valueAs[*Set](v)
	if err != nil {
		return err
	}
	m := reflect.MakeMapWithSize(c.goType, set.Len())
	for _, v := range set.items {
		e := c.element.fresh()
		if err := c.element.store(slotOfValue(e), v); err != nil {
			return err
		}
		m.SetMapIndex(e, reflect.ValueOf(struct{}{}))
	}
	s.value(c.goType).Set(m)
	return nil
}
