package ovo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Dispatcher runs remotable calls: it is the other end of an [Indirection]. Only declared methods can be reached. Errors of the methods come back as they are; so do
// the [*AttributeError] of an unknown method and the [*TypeError] of wrong arguments. A Dispatcher is safe for concurrent use if its functions are.
type Dispatcher struct {
	reg  *Registry
	sets map[reflect.Type]reflect.Value
}

// Dispatcher makes a dispatcher of filled method sets, given as values or pointers. Every method of every registered class must have a body in them.
func (r *Registry) Dispatcher(sets ...any) (*Dispatcher, error) {
	d := &Dispatcher{reg: r, sets: map[reflect.Type]reflect.Value{}}
	var errs []error
	for _, set := range sets {
		v := reflect.ValueOf(set)
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			errs = append(errs, fmt.Errorf("a %T is no struct of functions", set))
			continue
		}
		if _, err := r.methodsOf(v.Type()); err != nil {
			errs = append(errs, err)
			continue
		}
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		d.sets[v.Type()] = copied
	}
	for _, name := range r.names {
		for _, c := range r.classes[name] {
			errs = append(errs, d.missing(c)...)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return d, nil
}

// missing lists the methods of a class that have no body.
func (d *Dispatcher) missing(c *Class) (errs []error) {
	if c.remote == nil {
		return nil
	}
	set, ok := d.sets[c.remote.goType]
	for _, m := range c.remote.methods {
		if !ok || set.Field(m.index).IsNil() {
			errs = append(errs, fmt.Errorf("method %s.%s has no body", c.name, m.sig.name))
		}
	}
	return errs
}

// method finds a method of a class.
func (d *Dispatcher) method(c *Class, name string, instance bool) (*method, error) {
	if c.remote != nil {
		if m := c.remote.byName[name]; m != nil && m.instance == instance {
			return m, nil
		}
	}
	what := "type object " + pyReprString(c.name)
	if instance {
		what = pyReprString(c.name) + " object"
	}
	return nil, &AttributeError{what + " has no attribute " + pyReprString(name)}
}

// ClassAction runs a class method for a peer that can read the versions of m: object_class_action_versions. The class is found by the version that m
// gives it, a [*KeyError] if it gives none. Objects in the result, members of lists included, are written at the versions of m.
func (d *Dispatcher) ClassAction(ctx context.Context, object, method string, m Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	version, ok := m[object]
	if !ok {
		return nil, &KeyError{object}
	}
	c, err := d.reg.Lookup(object, version)
	if err != nil {
		return nil, err
	}
	f, err := d.method(c, method, false)
	if err != nil {
		return nil, err
	}
	result, err := d.call(ctx, f, nil, args, kwargs)
	if err != nil {
		return nil, err
	}
	e := encoder{reg: d.reg, readers: m}
	if err := f.write(&e, result); err != nil {
		return nil, err
	}
	return e.b, nil
}

// Action runs an instance method on the object that was sent along: object_action. The answer is [updates, result]: the fields that the method changed, every set
// object and non-empty list of objects among them, and under "obj_what_changed" what counts as changed afterwards. The result is written at its own version.
func (d *Dispatcher) Action(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	in := Serializer{Registry: d.reg}.decoder(ctx, object)
	c, o, err := in.object(nil)
	if err == nil {
		err = in.r.End()
	}
	if err != nil {
		return nil, rooted(c, err)
	}
	f, err := d.method(c, method, true)
	if err != nil {
		return nil, err
	}
	v := c.view(o)
	before, err := v.Clone()
	if err != nil {
		return nil, err
	}
	result, err := d.call(ctx, f, v.o, args, kwargs)
	if err != nil {
		return nil, err
	}
	e := encoder{reg: d.reg, b: []byte{'['}}
	if err := e.updates(c.view(c.address(before)), v); err != nil {
		return nil, rooted(c, err)
	}
	e.b = append(e.b, pyjson.ItemSeparator...)
	if err := f.write(&e, result); err != nil {
		return nil, err
	}
	return append(e.b, ']'), nil
}

// updates writes the fields that differ from before, in class order, and the names of the changed ones. Values are compared as Python does; an object is never
// equal to its copy.
func (e *encoder) updates(before, v View) error {
	e.b = append(e.b, '{')
	for i := range v.c.fields {
		f := &v.c.fields[i]
		if !v.isSet(f) || before.isSet(f) && pyEqual(before.load(f), v.load(f)) {
			continue
		}
		e.b = append(e.b, f.key...)
		if err := e.field(f, v.st, *v.state(f)); err != nil {
			return err
		}
		e.b = append(e.b, pyjson.ItemSeparator...)
	}
	e.b = append(e.b, quoteKey(whatChanged)...)
	names := v.Changes()
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	if err := e.items(list); err != nil {
		return err
	}
	e.b = append(e.b, '}')
	return nil
}

// Backport writes an object, which a peer found too new, at the versions that the peer can read: object_backport_versions.
func (d *Dispatcher) Backport(object json.RawMessage, m Manifest) (json.RawMessage, error) {
	in := Serializer{Registry: d.reg}.decoder(context.Background(), object)
	c, o, err := in.object(nil)
	if err == nil {
		err = in.r.End()
	}
	if err != nil {
		return nil, rooted(c, err)
	}
	target, ok := m[c.name]
	if !ok {
		return nil, &KeyError{c.name}
	}
	return d.reg.AppendAt(nil, c.object(o), target, m)
}

// call calls a method with arguments from the wire and returns its result; invalid if it has none.
func (d *Dispatcher) call(ctx context.Context, f *method, self Object, args, kwargs json.RawMessage) (reflect.Value, error) {
	if ctx == nil {
		return reflect.Value{}, &OrphanedObjectError{Object: f.set.class.name, Method: f.sig.name}
	}
	in := []reflect.Value{reflect.ValueOf(ctx)}
	if f.instance {
		in = append(in, reflect.ValueOf(self))
	}
	values, err := f.arguments(ctx, d.reg, args, kwargs)
	if err != nil {
		return reflect.Value{}, err
	}
	in = append(in, values...)
	fn := d.sets[f.set.goType].Field(f.index)
	var out []reflect.Value
	if f.goType.IsVariadic() {
		out = fn.CallSlice(in)
	} else {
		out = fn.Call(in)
	}
	if err, _ := reflect.TypeAssert[error](out[len(out)-1]); err != nil {
		return reflect.Value{}, err
	}
	if f.result == nil {
		return reflect.Value{}, nil
	}
	return out[0], nil
}

// write writes a result.
func (m *method) write(e *encoder, result reflect.Value) error {
	if m.result == nil {
		return e.value(nil)
	}
	if err := m.result.carrier.encode(e, result); err != nil {
		return within("result of "+m.set.class.name+"."+m.sig.name, err)
	}
	return nil
}

// arguments reads what a caller sent into the Go parameters, by Python's rules for calls.
func (m *method) arguments(ctx context.Context, r *Registry, args, kwargs json.RawMessage) ([]reflect.Value, error) {
	list, err := splitList(args)
	if err != nil {
		return nil, err
	}
	named, err := splitDict(kwargs)
	if err != nil {
		return nil, err
	}
	values := make([]reflect.Value, len(m.params))
	serial := Serializer{Registry: r}
	given := 0
	for i := range m.params {
		p := &m.params[i]
		values[i] = reflect.New(p.goType).Elem()
		raw, keyword := named.take(p)
		switch {
		case p.role == varargs:
			raw, given = joinList(list[min(given, len(list)):]), max(given, len(list))
		case p.role == varkw:
			raw = named.rest()
		case p.role == positional && given < len(list):
			if keyword {
				return nil, &TypeError{m.sig.name + "() got multiple values for argument " + pyReprString(p.name)}
			}
			raw = list[given]
			given++
		case raw == nil && !p.hasDefault:
			return nil, m.missing(p)
		}
		if err := p.read(serial.decoder(ctx, raw), raw, values[i]); err != nil {
			return nil, within("argument "+p.name+" of "+m.sig.name, err)
		}
	}
	if given < len(list) {
		return nil, &TypeError{fmt.Sprintf("%s() takes %d positional arguments but %d were given", m.sig.name, len(m.sig.params), len(m.sig.params)-len(m.sig.arguments())+len(list))}
	}
	if len(named) > 0 {
		return nil, &TypeError{m.sig.name + "() got an unexpected keyword argument " + pyReprString(named[0].name)}
	}
	return values, nil
}

func (m *method) missing(p *argument) error {
	kind := "positional"
	if p.role == keywordOnly {
		kind = "keyword-only"
	}
	return &TypeError{m.sig.name + "() missing 1 required " + kind + " argument: " + pyReprString(p.name)}
}

// read reads an argument that was sent, or its default.
func (p *argument) read(d *decoder, raw json.RawMessage, v reflect.Value) error {
	if raw == nil {
		if !p.hasDefault {
			return nil
		}
		def, err := parseLiteral(p.def)
		if err != nil {
			return err
		}
		return p.carrier.assign(v, def)
	}
	null := d.r.Peek() == pyjson.Null
	if err := p.carrier.decode(d, v); err != nil {
		return err
	}
	if null && !p.takesNone() {
		return &TypeError{"None is no " + v.Type().String()}
	}
	return d.r.End()
}

// takesNone says whether None can be told from other values of the parameter, or is what it is without an argument. An empty text or false
// that nobody sent must not reach a method.
func (p *argument) takesNone() bool {
	switch p.goType.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return true
	default:
		return p.hasDefault && p.def == "None"
	}
}

// keyword is an argument that was sent by name.
type keyword struct {
	name string
	raw  json.RawMessage
}

type keywords []keyword

// take removes and returns the argument that was sent for a parameter that can be given by name.
func (k *keywords) take(p *argument) (json.RawMessage, bool) {
	if p.role == varargs || p.role == varkw {
		return nil, false
	}
	i := slices.IndexFunc(*k, func(x keyword) bool { return x.name == p.name })
	if i < 0 {
		return nil, false
	}
	raw := (*k)[i].raw
	*k = slices.Delete(*k, i, i+1)
	return raw, true
}

// rest removes and returns everything as one dict.
func (k *keywords) rest() json.RawMessage {
	b := []byte{'{'}
	for i, x := range *k {
		if i > 0 {
			b = append(b, pyjson.ItemSeparator...)
		}
		b = append(append(b, quoteKey(x.name)...), x.raw...)
	}
	*k = nil
	return append(b, '}')
}

// splitList returns the texts of the elements of a list; nothing counts as an empty one.
func splitList(data json.RawMessage) ([]json.RawMessage, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	r := pyjson.NewReader(data)
	if r.Peek() == pyjson.Null {
		return nil, nil
	}
	more, err := r.BeginArray()
	for ; more && err == nil; more, err = r.NextElement() {
		raw, err := r.ReadRaw()
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	if err == nil {
		err = r.End()
	}
	return list, err
}

// splitDict returns the members of a dict; nothing counts as an empty one.
func splitDict(data json.RawMessage) (keywords, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var list keywords
	var seen names
	r := pyjson.NewReader(data)
	if r.Peek() == pyjson.Null {
		return nil, nil
	}
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		key, err := r.ReadKey()
		if err != nil {
			return nil, err
		}
		if err := seen.add(key); err != nil {
			return nil, err
		}
		raw, err := r.ReadRaw()
		if err != nil {
			return nil, err
		}
		list = append(list, keyword{key, raw})
	}
	if err == nil {
		err = r.End()
	}
	return list, err
}

func joinList(list []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, raw := range list {
		if i > 0 {
			b = append(b, pyjson.ItemSeparator...)
		}
		b = append(b, raw...)
	}
	return append(b, ']')
}
