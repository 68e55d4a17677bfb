package ovo

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// changesCase runs the steps of a case of changes.json on one object.
func (s *vectorSpace) changesCase(c any) string {
	class := text(c, "class")
	v, err := s.make(class, at2dict(at(c, "init")))
	if want := at(c, "init_error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return err.Error()
	}
	if problem := s.difference("after init", v.o, at(c, "after_init")); problem != "" {
		return problem
	}
	run := changesRun{vectorSpace: s, v: v, lazy: at2dict(at(s.defs[class], "lazy")), comparable: slices.Contains(items(at(s.defs[class], "mixins")), any("ComparableVersionedObject"))}
	for i, step := range items(at(c, "steps")) {
		if problem := run.step(step); problem != "" {
			return fmt.Sprintf("step %d %s: %s", i, pyRepr(at(step, "do")), problem)
		}
	}
	if run.broken {
		return ""
	}
	return s.difference("final", v.o, at(c, "final"))
}

type changesRun struct {
	*vectorSpace
	v          View
	lazy       *Dict
	comparable bool
	broken     bool // a deviation left another state than Python's
}

func (r *changesRun) step(step any) string {
	do := items(at(step, "do"))
	args, err := eachItem(do[1:], r.value)
	if err != nil {
		return err.Error()
	}
	if problem, deviates := r.deviation(do[0].(string), args, step); deviates {
		return problem
	}
	got, err := r.do(do[0].(string), args)
	if want := at(step, "error"); want != nil {
		if do[0] == "append" && err != nil && pythonClass(err) == text(want, "class") {
			return "" // Python's text counts one too many there
		}
		return wrongError(err, want)
	}
	if err != nil || !has(step, "value") {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	return r.difference("value", got, r.withoutExtra(do[0].(string), at(step, "value")))
}

// deviation handles steps that touch what only Python objects have: plain attributes and extra fields, which are Go methods and struct fields here, and a list object that
// has lost its members.
func (r *changesRun) deviation(op string, args []any, step any) (string, bool) {
	if r.v.c.isList && op == "del" && args[0] == objectsField {
		r.broken = true
		if err := r.v.Delete(objectsField); err != nil {
			return err.Error(), true
		}
		if set, _ := r.v.IsSet(objectsField); !set {
			return "the members of a list object are unset", true
		}
		return "", true
	}
	if r.broken && text(step, "error", "class") == "NotImplementedError" {
		_, err := r.v.Get(objectsField)
		if err != nil {
			return err.Error(), true
		}
		return "", true
	}
	if len(args) == 0 || !slices.Contains([]string{"get", "dget", "setitem", "is_set", "contains"}, op) {
		return "", false
	}
	name, _ := args[0].(string)
	if _, known := r.v.c.byName[name]; known || r.v.c.isList {
		return "", false
	}
	_, getErr := r.v.Get(name)
	for _, err := range []error{getErr, r.v.Assign(name, nil)} {
		if _, ok := errors.AsType[*AttributeError](err); !ok {
			return fmt.Sprintf("want an AttributeError for %s, got %v", name, err), true
		}
	}
	return "", true
}

// withoutExtra takes the extra fields out of what Python's dict-like methods list.
func (r *changesRun) withoutExtra(op string, want any) any {
	extra := items(at(r.defs[r.v.c.name], "extra_fields"))
	if len(extra) == 0 {
		return want
	}
	switch op {
	case "keys", "obj_fields":
		return slices.DeleteFunc(slices.Clone(items(want)), func(v any) bool { return slices.Contains(extra, v) })
	case "items", "values":
		return items(want)[:len(items(want))-len(extra)]
	case "dict":
		d := copyValue(want).(*Dict)
		for _, name := range extra {
			d.Delete(name)
		}
		return d
	}
	return want
}

func (r *changesRun) do(op string, args []any) (any, error) {
	v := r.v
	switch op {
	case "set", "setitem":
		if i, ok := args[0].(int64); ok {
			return nil, r.edit(objectsField, func(list []any) []any { list[i] = args[1]; return list })
		}
		return nil, v.Assign(args[0].(string), args[1])
	case "get", "getitem":
		if i, ok := args[0].(int64); ok {
			return r.member(i)
		}
		return r.get(args[0].(string))
	case "dget":
		if set, err := v.IsSet(args[0].(string)); len(args) == 2 && (err != nil || !set) {
			return args[1], err
		}
		return r.get(args[0].(string))
	case "del":
		return nil, v.Delete(args[0].(string))
	case "is_set":
		return v.IsSet(args[0].(string))
	case "contains":
		return r.contains(args[0])
	case "what_changed":
		return anySlice(v.Changes()), nil
	case "raw_changed":
		return anySlice(v.marked()), nil
	case "reset", "reset_recursive":
		names := []string{}
		if len(args) > 0 {
			for _, n := range items(args[0]) {
				names = append(names, n.(string))
			}
		}
		return nil, v.Reset(op == "reset_recursive", names...)
	case "defaults":
		names := []string{}
		for _, n := range args {
			names = append(names, n.(string))
		}
		return nil, v.SetDefaults(names...)
	case "repr":
		return v.String(), nil
	case "clone":
		return v.Clone()
	case "get_changes":
		d := &Dict{}
		for _, name := range v.Changes() {
			value, err := v.Get(name)
			if err != nil {
				return nil, err
			}
			if err := d.Set(name, value); err != nil {
				return nil, err
			}
		}
		return d, nil
	case "update":
		for name, value := range args[0].(*Dict).All() {
			if err := v.Assign(name.(string), value); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "eq":
		return r.equal(args[0])
	case "ne":
		equal, err := r.equal(args[0])
		return !equal, err
	case "set_child", "child_what_changed":
		child, err := r.child(args[0].(string))
		if err != nil {
			return nil, err
		}
		if op == "set_child" {
			return nil, child.Assign(args[1].(string), args[2])
		}
		return anySlice(child.Changes()), nil
	}
	if got, err, ok := r.dictLike(op); ok {
		return got, err
	}
	return r.container(op, args)
}

// get loads lazily, as the recorded class does.
func (r *changesRun) get(name string) (any, error) {
	if value, lazy := r.lazy.Get(name); lazy {
		if set, _ := r.v.IsSet(name); !set {
			if err := r.v.Assign(name, value); err != nil {
				return nil, err
			}
		}
	}
	return r.v.Get(name)
}

func (r *changesRun) child(name string) (View, error) {
	value, err := r.v.Get(name)
	if err != nil {
		return View{}, err
	}
	return r.View(value.(Object))
}

// equal is identity, and for a comparable class equality of the primitives.
func (r *changesRun) equal(other any) (bool, error) {
	o, ok := other.(Object)
	if !ok || !r.comparable {
		return ok && o == r.v.o, nil
	}
	a, errA := r.Append(nil, r.v.o)
	b, errB := r.Append(nil, o)
	return bytes.Equal(a, b), errors.Join(errA, errB)
}

// dictLike is Python's dict-like access.
func (r *changesRun) dictLike(op string) (any, error, bool) {
	var names, pairs, values, all []any
	d := &Dict{}
	for name, state := range r.v.Fields() {
		all = append(all, name)
		if !state.Set {
			continue
		}
		value, err := r.v.Get(name)
		if err = errors.Join(err, d.Set(name, value)); err != nil {
			return nil, err, true
		}
		names, values, pairs = append(names, name), append(values, value), append(pairs, []any{name, value})
	}
	switch op {
	case "keys":
		return names, nil, true
	case "values":
		return values, nil, true
	case "items":
		return pairs, nil, true
	case "dict", "as_dict":
		return d, nil, true
	case "obj_fields":
		return all, nil, true
	case "hash":
		return reflect.TypeOf(r.v.o).Comparable(), nil, true
	}
	return nil, nil, false
}
