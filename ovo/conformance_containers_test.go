package ovo

import (
	"errors"
	"fmt"
	"slices"
)

func (r *changesRun) members() []any {
	list, _ := r.v.Get(objectsField)
	return items(list)
}

func (r *changesRun) member(i int64) (any, error) {
	list := r.members()
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil, &indexError{}
	}
	return list[i], nil
}

// indexError is what Python raises outside a list; a Go slice panics.
type indexError struct{}

func (*indexError) Error() string       { return "list index out of range" }
func (*indexError) PythonClass() string { return "IndexError" }

func (r *changesRun) contains(x any) (any, error) {
	if name, ok := x.(string); ok && !r.v.c.isList {
		set, err := r.v.IsSet(name)
		return set && err == nil, nil
	}
	return slices.Contains(r.members(), x), nil
}

// edit changes the value of a container in place: what comes out is coerced, and no mark is set.
func (r *changesRun) edit(name string, change func([]any) []any) error {
	f, err := r.v.field(name)
	if err != nil {
		return err
	}
	where := place{object: r.v.c.name, field: name, objects: r.Registry}
	value, err := f.coerce(where, change(slices.Clone(items(r.v.load(f)))))
	if err != nil {
		return err
	}
	return r.v.put(f, value)
}

// container runs the operations of lists, dicts, sets and list objects, which are those of Go's slices and maps here.
func (r *changesRun) container(op string, args []any) (any, error) {
	switch op {
	case "len":
		return int64(len(r.members())), nil
	case "bool":
		return r.truth(r.v.o), nil
	case "iter":
		list, _ := r.iterate(r.v.o)
		return list, nil
	case "reversed":
		list := slices.Clone(r.members())
		slices.Reverse(list)
		return eachItem(list, r.id)
	case "ids":
		return eachItem(r.members(), r.id)
	case "index", "count":
		member, err := r.member(args[0].(int64))
		if err != nil {
			return nil, err
		}
		if op == "index" {
			return int64(slices.Index(r.members(), member)), nil
		}
		return int64(len(slices.DeleteFunc(slices.Clone(r.members()), func(m any) bool { return m != member }))), nil
	case "sort":
		return nil, r.sort(args[1].(bool))
	case "slice":
		return r.slice(args)
	case "add", "radd":
		return r.add(args[0])
	case "append":
		return nil, r.edit(args[0].(string), func(l []any) []any { return append(l, args[1]) })
	case "extend":
		return nil, r.edit(args[0].(string), func(l []any) []any { return append(l, items(args[1])...) })
	case "iadd":
		if err := r.edit(args[0].(string), func(l []any) []any { return append(l, items(args[1])...) }); err != nil {
			return nil, err
		}
		value, err := r.v.Get(args[0].(string))
		return nil, errors.Join(err, r.v.Assign(args[0].(string), value))
	case "insert":
		return nil, r.edit(args[0].(string), func(l []any) []any { return slices.Insert(l, int(args[1].(int64)), args[2]) })
	case "setitem_in":
		if key, ok := args[1].(string); ok {
			return nil, r.editDict(args[0].(string), key, args[2])
		}
		return nil, r.edit(args[0].(string), func(l []any) []any { l[args[1].(int64)] = args[2]; return l })
	case "add_in":
		return nil, r.editSet(args[0].(string), args[1])
	}
	return nil, fmt.Errorf("unknown operation %s", op)
}

func (r *changesRun) id(member any) (any, error) {
	v, err := r.View(member.(Object))
	if err != nil {
		return nil, err
	}
	return v.Get("id")
}

func (r *changesRun) sort(reverse bool) error {
	return r.edit(objectsField, func(list []any) []any {
		slices.SortStableFunc(list, func(a, b any) int {
			x, _ := r.id(a)
			y, _ := r.id(b)
			if reverse {
				x, y = y, x
			}
			return int(x.(int64) - y.(int64))
		})
		return list
	})
}

func (r *changesRun) slice(args []any) (any, error) {
	list := slices.Clone(r.members())
	if len(args) == 3 && args[2] == int64(-1) {
		slices.Reverse(list)
	} else {
		from, to := 0, len(list)
		if i, ok := args[0].(int64); ok {
			from = int(i)
		}
		if i, ok := args[1].(int64); ok {
			to = int(i)
		}
		list = list[from:min(to, len(list))]
	}
	return r.listOf(list, true)
}

func (r *changesRun) listOf(members []any, reset bool) (any, error) {
	o, err := r.v.c.New()
	if err != nil {
		return nil, err
	}
	v, err := r.View(o)
	if err != nil {
		return nil, err
	}
	if err := v.Assign(objectsField, members); err != nil {
		return nil, err
	}
	if reset {
		err = v.Reset(false)
	}
	return o, err
}

func (r *changesRun) add(other any) (any, error) {
	o, ok := other.(Object)
	if !ok || r.classNames(o)[0] != r.v.c.name || len(r.v.c.fields) != 1 {
		return nil, &TypeError{"List Objects should be of the same type and only have an 'objects' field"}
	}
	list, _ := r.iterate(o)
	return r.listOf(append(slices.Clone(r.members()), list...), false)
}

func (r *changesRun) editDict(name, key string, value any) error {
	f, err := r.v.field(name)
	if err != nil {
		return err
	}
	d := copyValue(r.v.load(f)).(*Dict)
	if err := d.Set(key, value); err != nil {
		return err
	}
	return r.replace(f, d)
}

func (r *changesRun) editSet(name string, value any) error {
	f, err := r.v.field(name)
	if err != nil {
		return err
	}
	set := copyValue(r.v.load(f)).(*Set)
	if err := set.add(value); err != nil {
		return err
	}
	return r.replace(f, set)
}

func (r *changesRun) replace(f *field, value any) error {
	value, err := f.coerce(place{object: r.v.c.name, field: f.name, objects: r.Registry}, value)
	if err != nil {
		return err
	}
	return r.v.put(f, value)
}
