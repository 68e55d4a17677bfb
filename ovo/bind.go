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

// Bind fills method sets with calls through an indirection. Each set is a pointer to a struct that [Methods] gave to a class of the registry:
//
//	err := registry.Bind(conductor, &objs.Volume, &objs.VolumeList)
//
// A function so filled encodes its arguments, sends them, applies the changes that an instance method made to the object, and decodes the result. Objects that come
// back too new are sent to ObjectBackportVersions once. A nil context is an [*OrphanedObjectError], and nothing is sent. The functions are safe
// for concurrent use, except on the same object.
func (r *Registry) Bind(via Indirection, sets ...any) error {
	var errs []error
	for _, set := range sets {
		v := reflect.ValueOf(set)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
			errs = append(errs, fmt.Errorf("cannot bind a %T: want a pointer to a struct of functions", set))
			continue
		}
		contract, err := r.methodsOf(v.Elem().Type())
		if err == nil {
			err = contract.bind(r, via, v.Elem())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// methodsOf finds the class with these methods; of several versions, the highest.
func (r *Registry) methodsOf(t reflect.Type) (*methodSet, error) {
	for _, name := range r.names {
		for _, c := range r.classes[name] {
			if c.remote != nil && c.remote.goType == t {
				return c.remote, nil
			}
		}
	}
	return nil, fmt.Errorf("no registered class has the methods %s", t)
}

func (set *methodSet) bind(r *Registry, via Indirection, v reflect.Value) error {
	manifest, err := r.Manifest(set.class.name)
	if err != nil {
		return err
	}
	for _, m := range set.methods {
		c := boundMethod{method: m, reg: r, via: via, manifest: manifest}
		v.Field(m.index).Set(reflect.MakeFunc(m.goType, c.run))
	}
	return nil
}

// boundMethod is a method that is called through an indirection.
type boundMethod struct {
	*method
	reg      *Registry
	via      Indirection
	manifest Manifest
}

// run is the body of a bound function.
func (c *boundMethod) run(in []reflect.Value) []reflect.Value {
	out := make([]reflect.Value, 0, 2)
	if c.result != nil {
		out = append(out, reflect.New(c.result.goType).Elem())
	}
	err := c.send(in, out)
	failure := reflect.New(reflect.TypeFor[error]()).Elem()
	if err != nil {
		failure.Set(reflect.ValueOf(err))
	}
	return append(out, failure)
}

func (c *boundMethod) send(in, out []reflect.Value) error {
	ctx, _ := reflect.TypeAssert[context.Context](in[0])
	var self Object
	values := in[1:]
	if c.instance {
		self, _ = reflect.TypeAssert[Object](values[0])
		values = values[1:]
	}
	args, kwargs, err := c.encode(values)
	if err != nil {
		return err
	}
	return c.exchange(ctx, self, args, kwargs, out)
}

// exchange sends a call and takes in its answer.
func (c *boundMethod) exchange(ctx context.Context, self Object, args, kwargs json.RawMessage, out []reflect.Value) error {
	if ctx == nil {
		return &OrphanedObjectError{Object: c.set.class.name, Method: c.sig.name}
	}
	serial := Serializer{Registry: c.reg, Indirection: c.via}
	if !c.instance {
		raw, err := c.via.ObjectClassActionVersions(ctx, c.set.class.name, c.sig.name, c.manifest, args, kwargs)
		if err != nil {
			return err
		}
		d := serial.decoder(ctx, raw)
		return c.take(d, out, d.r.End)
	}
	object, err := c.reg.Append(nil, self)
	if err != nil {
		return err
	}
	raw, err := c.via.ObjectAction(ctx, object, c.sig.name, args, kwargs)
	if err != nil {
		return err
	}
	return c.takeAction(serial.decoder(ctx, raw), self, out)
}

// encode writes the arguments: positional ones and *args in a list, keyword-only ones and **kw in a dict.
func (c *boundMethod) encode(values []reflect.Value) (args, kwargs json.RawMessage, err error) {
	a, k := listWriter{encoder{reg: c.reg}, true}, listWriter{encoder{reg: c.reg}, true}
	a.b, k.b = append(a.b, '['), append(k.b, '{')
	for i := range c.params {
		p := &c.params[i]
		switch p.role {
		case positional:
			a.next()
			err = p.carrier.encode(&a.encoder, values[i])
		case varargs:
			err = a.each(p, values[i])
		case keywordOnly:
			k.next()
			k.b = append(k.b, quoteKey(p.name)...)
			err = p.carrier.encode(&k.encoder, values[i])
		case varkw:
			err = k.keywords(p, values[i])
		}
		if err != nil {
			return nil, nil, within("argument "+p.name, err)
		}
	}
	return append(a.b, ']'), append(k.b, '}'), nil
}

// listWriter writes items with separators between them.
type listWriter struct {
	encoder
	first bool
}

func (w *listWriter) next() {
	if !w.first {
		w.b = append(w.b, pyjson.ItemSeparator...)
	}
	w.first = false
}

// each writes the elements of a slice as items of their own.
func (w *listWriter) each(p *argument, list reflect.Value) error {
	part := encoder{reg: w.reg, depth: w.depth}
	if err := p.carrier.encode(&part, list); err != nil {
		return err
	}
	return w.inner(part.b)
}

// keywords writes the members of a dict as members of their own.
func (w *listWriter) keywords(p *argument, dict reflect.Value) error {
	if dict.IsNil() {
		return nil
	}
	return w.each(p, dict)
}

// inner adds the content of a list or a dict.
func (w *listWriter) inner(b []byte) error {
	if len(b) > len("[]") && string(b) != "null" {
		w.next()
		w.b = append(w.b, b[1:len(b)-1]...)
	}
	return nil
}

// take reads the result and then calls end.
func (c *boundMethod) take(d *decoder, out []reflect.Value, end func() error) error {
	var err error
	if c.result != nil {
		err = c.result.carrier.decode(d, out[0])
	} else {
		err = d.r.Skip()
	}
	if err != nil {
		return within("result of "+c.set.class.name+"."+c.sig.name, err)
	}
	return end()
}

// takeAction reads [updates, result].
func (c *boundMethod) takeAction(d *decoder, self Object, out []reflect.Value) error {
	bad := &TypeError{"the answer to an object action is [updates, result]"}
	more, err := d.r.BeginArray()
	if err == nil && !more {
		err = bad
	}
	if err == nil {
		err = c.update(d, self)
	}
	if err != nil {
		return err
	}
	if more, err = d.r.NextElement(); err != nil {
		return err
	} else if !more {
		return bad
	}
	return c.take(d, out, func() error {
		if more, err := d.r.NextElement(); err != nil || more {
			return errors.Join(err, bad)
		}
		return d.r.End()
	})
}

// update applies the updates of an instance method, in their order: each is assigned, then all marks are replaced by obj_what_changed. An error leaves the
// earlier ones applied and marked.
func (c *boundMethod) update(d *decoder, self Object) error {
	v, err := c.reg.View(self)
	if err != nil {
		return err
	}
	updates, err := d.entity()
	if err != nil {
		return err
	}
	dict, ok := updates.(*Dict)
	if !ok {
		return &AttributeError{pyReprString(pyTypeName(updates)) + " object has no attribute 'items'"}
	}
	for k, value := range dict.All() {
		name, _ := k.(string)
		i, ok := v.c.byName[name]
		if !ok {
			continue
		}
		f := &v.c.fields[i]
		value, err := f.fromPrimitive(place{object: v.c.name, field: name, objects: c.reg}, value)
		if err == nil {
			err = v.assign(f, value)
		}
		if err != nil {
			return rooted(v.c, err)
		}
	}
	if err := v.Reset(false); err != nil {
		return err
	}
	names, _ := dict.Get(whatChanged)
	list, _ := names.([]any)
	for i := range v.c.fields {
		if slices.Contains(list, any(v.c.fields[i].name)) {
			*v.state(&v.c.fields[i]) |= stateChanged
		}
	}
	return nil
}

// whatChanged is the key of the changed names among the updates of an instance method.
const whatChanged = "obj_what_changed"
