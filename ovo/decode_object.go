package ovo

import (
	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// objectOf reads an object that must be of class want, and of its Go type.
func (d *decoder) objectOf(want *Class) (slot, error) {
	c, o, err := d.object(want)
	if err == nil && c != want && (c.name != want.name || c.goType != want.goType) {
		err = &ValueError{"An object of type " + want.name + " is required, not a " + c.name + " " + c.version}
	}
	return o, err
}

// nested reads an object and returns its class, also with an error if it was found, and where the object is. If a class is expected and the text goes on as that
// class's text does, the keys of the envelope are not looked at one by one; the result is the same.
func (d *decoder) nested(want *Class) (*Class, slot, error) {
	if want == nil || want.keys.name != d.keys.name || !d.r.Accept(want.text.envelope) {
		return d.envelope()
	}
	if err := d.r.Descend(2); err != nil {
		return want, slot{}, err
	}
	o := want.create()
	want.stamp(o, want.version)
	st := want.storage(o)
	more := !d.r.Accept("}")
	if !more {
		d.r.Ascend(1)
	}
	if err := d.fields(want, st, more); err != nil {
		return want, slot{}, err
	}
	e := envelope{got: gotName | gotNamespace | gotVersion | gotData, class: want, o: o}
	if d.r.Accept(d.keys.changesOpen) {
		e.got |= gotChanges
		if err := d.changes(want, st); err != nil {
			return want, slot{}, err
		}
	}
	if d.r.Accept("}") {
		d.r.Ascend(1)
		return want, o, nil
	}
	more, err := d.r.NextMember()
	return d.members(&e, more, err)
}

// stamp notes the version and the class that an object was read with.
func (c *Class) stamp(o slot, version string) {
	b := c.baseAt(o)
	b.received, b.class = version, c
}

// envelope is what is known of an object while its keys are read one by one.
type envelope struct {
	got                      uint8
	name, namespace, version string
	data, changes            pyjson.Reader // where they are, if they are still to be read
	late                     bool          // changes is such a place
	class                    *Class
	o                        slot
	others                   names // unknown keys
}

const (
	gotName uint8 = 1 << iota
	gotNamespace
	gotVersion
	gotData
	gotChanges

	gotClass = gotName | gotNamespace | gotVersion
)

// envelope reads an object whose keys may come in any order and spacing.
func (d *decoder) envelope() (*Class, slot, error) {
	if d.r.Peek() != pyjson.Object {
		if err := d.r.Skip(); err != nil {
			return nil, slot{}, err
		}
		return nil, slot{}, &TypeError{"a primitive of an object is required"}
	}
	more, err := d.r.BeginObject()
	return d.members(&envelope{}, more, err)
}

// members reads the remaining members of an envelope and then what had to wait for the class.
func (d *decoder) members(e *envelope, more bool, err error) (*Class, slot, error) {
	for ; more && err == nil; more, err = d.r.NextMember() {
		if err := d.member(e); err != nil {
			return e.class, slot{}, err
		}
	}
	if err == nil {
		err = d.settle(e)
	}
	if err != nil {
		return e.class, slot{}, err
	}
	return e.class, e.o, nil
}

func (d *decoder) member(e *envelope) error {
	key, err := d.key()
	if err != nil {
		return err
	}
	var bit uint8
	switch key {
	case d.keys.name:
		bit, err = gotName, d.label(&e.name)
	case d.keys.namespace:
		bit, err = gotNamespace, d.label(&e.namespace)
	case d.keys.version:
		bit, err = gotVersion, d.label(&e.version)
	case d.keys.data:
		if bit = gotData; e.got&bit == 0 {
			err = d.data(e)
		}
	case d.keys.changes:
		bit, e.changes, e.late = gotChanges, d.r, true
		err = d.r.Skip()
	default:
		if err := e.others.add(key); err != nil {
			return err
		}
		return d.r.Skip()
	}
	if e.got&bit != 0 {
		return &pyjson.DuplicateKeyError{Key: key}
	}
	e.got |= bit
	return err
}

// label reads a text of the envelope.
func (d *decoder) label(to *string) error {
	if d.r.Peek() != pyjson.String {
		if err := d.r.Skip(); err != nil {
			return err
		}
		return &TypeError{"name, namespace and version of an object are text"}
	}
	text, err := d.r.ReadText(d.buf[:0])
	*to = d.share(text)
	return err
}

// data reads the data if the class is known by now, and otherwise remembers where they are.
func (d *decoder) data(e *envelope) error {
	if e.got&gotClass != gotClass {
		e.data = d.r
		return d.r.Skip()
	}
	if err := d.resolve(e); err != nil {
		return err
	}
	return d.body(e)
}

// resolve finds the class and makes the object.
func (d *decoder) resolve(e *envelope) (err error) {
	if e.namespace != d.space.Project {
		return &UnsupportedObjectError{Object: e.namespace + "." + e.name}
	}
	if e.class, err = d.reg.Lookup(e.name, e.version); err != nil {
		return err
	}
	e.o = e.class.create()
	e.class.stamp(e.o, e.version)
	return nil
}

// body reads the data of an object whose class is known.
func (d *decoder) body(e *envelope) error {
	if d.r.Peek() != pyjson.Object {
		if err := d.r.Skip(); err != nil {
			return err
		}
		return &TypeError{"the data of an object are a dict"}
	}
	more, err := d.r.BeginObject()
	if err != nil {
		return err
	}
	return d.fields(e.class, e.class.storage(e.o), more)
}

// settle checks that the envelope is complete, in Python's order, and reads what came too early.
func (d *decoder) settle(e *envelope) error {
	for _, need := range [...]struct {
		bit uint8
		key string
	}{{gotNamespace, d.keys.namespace}, {gotName, d.keys.name}, {gotVersion, d.keys.version}} {
		if e.got&need.bit == 0 {
			return &KeyError{need.key}
		}
	}
	end := d.r
	early := e.class == nil
	if early {
		if err := d.resolve(e); err != nil {
			return err
		}
	}
	if e.got&gotData == 0 {
		return &KeyError{d.keys.data}
	}
	if early {
		d.r = e.data
		if err := d.body(e); err != nil {
			return err
		}
	}
	if e.late {
		d.r = e.changes
		if err := d.lateChanges(e.class, e.class.storage(e.o)); err != nil {
			return err
		}
	}
	d.r = end
	return nil
}

// fields reads the members of the data of an object of class c into st; more says whether there is one. Unknown names are skipped. If several values are
// bad, the error is that of the first field in the order of the class.
func (d *decoder) fields(c *Class, st slot, more bool) (err error) {
	keys, space := d.keys, d.space
	d.keys, d.space = c.keys, c.namespace
	defer func() { d.keys, d.space = keys, space }()
	var (
		seen   uint64
		next   int
		bad    error
		badAt  = len(c.fields)
		others names
	)
	for ; more && err == nil; more, err = d.nextMember() {
		i, name, err := d.fieldKey(c, &next)
		if err != nil {
			return err
		}
		if i < 0 {
			if err := others.add(name); err != nil {
				return err
			}
			if err := d.r.Skip(); err != nil {
				return err
			}
			continue
		}
		if seen&(1<<i) != 0 {
			return &pyjson.DuplicateKeyError{Key: c.fields[i].name}
		}
		seen |= 1 << i
		saved := d.r
		if err := d.field(c, &c.fields[i], st); err != nil {
			if d.r = saved; d.r.Skip() != nil {
				return err
			}
			if i < badAt {
				badAt, bad = i, err
			}
		}
	}
	if err == nil {
		err = bad
	}
	return err
}

// names are the keys of a dict that have been seen.
type names map[string]struct{}

// add refuses a key that has been seen.
func (n *names) add(key string) error {
	if _, twice := (*n)[key]; twice {
		return &pyjson.DuplicateKeyError{Key: key}
	}
	if *n == nil {
		*n = names{}
	}
	(*n)[key] = struct{}{}
	return nil
}

// nextMember is NextMember with a short way for Python's separator.
func (d *decoder) nextMember() (bool, error) {
	if d.r.Accept(`, "`) {
		d.r.Rewind(d.r.Offset() - 1)
		return true, nil
	}
	return d.r.NextMember()
}

// fieldKey reads a key of the data: the number of the field, or -1 and the unknown name. Next is the field after the last one: fields mostly come in the order
// of the class.
func (d *decoder) fieldKey(c *Class, next *int) (int, string, error) {
	for i := *next; i < len(c.fields); i++ {
		if d.r.Accept(c.fields[i].key) {
			*next = i + 1
			return i, "", nil
		}
	}
	key, err := d.r.ReadKeyText(d.buf[:0])
	if err != nil {
		return 0, "", err
	}
	if i, ok := c.byName[string(key)]; ok {
		*next = i + 1
		return i, "", nil
	}
	return -1, string(key), nil
}

// field reads the value of a field and stores it as Python's assignment would, but without marking it changed.
func (d *decoder) field(c *Class, f *field, st slot) error {
	s, to := as[state](st.plus(f.state)), st.plus(f.offset)
	if d.r.Peek() == pyjson.Null {
		if !f.nullable {
			return d.slowField(c, f, s, to)
		}
		*s = stateSet | stateNull
		return d.r.ReadNull()
	}
	err := f.codec.decode(d, to)
	if err == errSlow { //nolint:errorlint // never wrapped
		return d.slowField(c, f, s, to)
	}
	if err != nil {
		return within("."+f.name, err)
	}
	*s = stateSet
	return nil
}

// slowField reads a value through the field's type.
func (d *decoder) slowField(c *Class, f *field, s *state, to slot) error {
	v, err := d.value()
	if err == nil {
		v, err = f.take(c, v)
	}
	switch {
	case err != nil:
	case v == nil:
		*s = stateSet | stateNull
		return nil
	default:
		err = f.codec.store(to, v)
		*s = stateSet
	}
	return within("."+f.name, err)
}

// take turns a value that was read into what is stored.
func (f *field) take(c *Class, v any) (any, error) {
	where := place{object: c.name, field: f.name, objects: c.reg}
	v, err := f.fromPrimitive(where, v)
	if err != nil {
		return nil, err
	}
	return f.coerce(where, v)
}
