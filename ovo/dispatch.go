package ovo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Dispatcher runs remotable calls: it is the other end of an [Indirection]. Only declared methods can be reached. Errors of the methods come back as they are; so do
// the [*UndeclaredMethodError] of an unknown method and the [*TypeError] of wrong arguments. A Dispatcher is safe for concurrent use if its functions are.
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
	return nil, &UndeclaredMethodError{Object: c.name, Method: name, Instance: instance}
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
