package ovo

import (
	"fmt"
	"reflect"
	"testing"
)

// dispatcher fills the recorded methods of all classes with bodies that run their recorded steps.
func (s *vectorSpace) dispatcher(t *testing.T, defs []any) *Dispatcher {
	t.Helper()
	var sets []any
	for _, def := range defs {
		c := s.Highest(text(def, "class"))
		if c.remote == nil || c.version != text(def, "version") {
			continue
		}
		set := reflect.New(c.methods).Elem()
		for i, m := range items(at(def, "methods")) {
			run := body{s, c, m, c.remote.methods[i]}
			set.Field(i).Set(reflect.MakeFunc(set.Field(i).Type(), run.run))
		}
		sets = append(sets, set.Interface())
	}
	d, err := s.Dispatcher(sets...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// body is the recorded body of a method.
type body struct {
	s     *vectorSpace
	class *Class
	m     any
	of    *method
}

func (b *body) run(in []reflect.Value) []reflect.Value {
	var self Object
	values := in[1:]
	if b.of.instance {
		self, values = values[0].Interface().(Object), values[1:]
	}
	args := &Dict{}
	for i := range b.of.params {
		_ = args.Set(b.of.params[i].name, values[i].Interface())
	}
	result, err := b.steps(self, args)
	out := []reflect.Value{reflect.New(reflect.TypeFor[any]()).Elem(), reflect.New(reflect.TypeFor[error]()).Elem()}
	if result != nil {
		out[0].Set(reflect.ValueOf(result))
	}
	if err != nil {
		out[1].Set(reflect.ValueOf(err))
	}
	return out
}

func (b *body) steps(self Object, args *Dict) (any, error) {
	var v View
	if self != nil {
		var err error
		if v, err = b.s.View(self); err != nil {
			return nil, err
		}
	}
	for _, step := range items(at(b.m, "body")) {
		s := items(step)
		result, done, err := b.step(v, s[0].(string), s[1:], args)
		if done || err != nil {
			return result, err
		}
	}
	return nil, nil
}

func (b *body) step(v View, op string, s []any, args *Dict) (result any, done bool, err error) {
	switch op {
	case "set":
		value, err := b.s.value(s[1])
		if err != nil {
			return nil, true, err
		}
		return nil, false, v.Assign(s[0].(string), value)
	case "set_from":
		value, _ := args.Get(s[1])
		return nil, false, v.Assign(s[0].(string), value)
	case "append":
		f, err := v.field(s[0].(string))
		if err != nil {
			return nil, true, err
		}
		return nil, false, v.put(f, append(items(v.load(f)), s[1]))
	case "set_child":
		child, err := v.Get(s[0].(string))
		if err != nil {
			return nil, true, err
		}
		w, err := b.s.View(child.(Object))
		if err != nil {
			return nil, true, err
		}
		return nil, false, w.Assign(s[1].(string), s[2])
	case "reset_changes":
		return nil, false, v.Reset(false)
	case "return":
		result, err = b.s.value(s[0])
		return result, true, err
	case "return_self":
		return v.o, true, nil
	case "return_arg":
		result, _ = args.Get(s[0])
		return result, true, nil
	case "return_args":
		return args, true, nil
	case "return_new":
		result, err = b.make(s)
		return result, true, err
	case "raise":
		return nil, true, &pythonError{s[0].(string), s[1].(string)}
	}
	return nil, true, fmt.Errorf("unknown step %s", op)
}

func (b *body) make(s []any) (any, error) {
	class := s[0].(string)
	if class == "cls" {
		class = b.class.name
	}
	v, err := b.s.make(class, at2dict(s[1]))
	if err == nil && s[len(s)-1] == "reset" {
		err = v.Reset(true)
	}
	return v.o, err
}
