package ovo

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

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
