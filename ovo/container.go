package ovo

import (
	"slices"
	"strings"
)

// listType is List, the type of ListOfStringsField, ListOfIntegersField, ListOfUUIDField, ListOfEnumField,
// ListOfListsOfStringsField, ListOfSetsOfIntegersField, ListOfDictOfNullableStringsField and ListOfObjectsField. It takes
// lists, tuples, sets and objects that can be iterated.
type listType struct{ element fieldRule }

func (*listType) Name() string { return "List" }

func (t *listType) coerce(at place, v any) (any, error) {
	items, ok := sequence(at, v)
	if !ok {
		return nil, &ValueError{"A list is required in field " + at.String() + ", not a " + at.typeName(v)}
	}
	list := make([]any, len(items))
	for i, item := range items {
		var err error
		if list[i], err = t.element.coerce(at.item(i), item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (t *listType) toPrimitive(at place, v any) (any, error) {
	return eachItem(v.([]any), func(item any) (any, error) { return t.element.toPrimitive(at, item) })
}

func (t *listType) fromPrimitive(at place, v any) (any, error) {
	items, err := iterable(at, v)
	if err != nil {
		return nil, err
	}
	return eachItem(items, func(item any) (any, error) { return t.element.fromPrimitive(at, item) })
}

func (t *listType) stringify(at place, v any) (string, error) {
	return joinTexts(at, &t.element, "[", v.([]any), "]")
}

// setType is Set, the type of SetOfStringsField and SetOfIntegersField. It takes sets only. The wire has a list in any
// order.
type setType struct{ element fieldRule }

func (*setType) Name() string { return "Set" }

func (t *setType) coerce(at place, v any) (any, error) {
	from, ok := v.(*Set)
	if !ok || from.frozen {
		return nil, &ValueError{"A set is required in field " + at.String() + ", not a " + at.typeName(v)}
	}
	set, _ := NewSet()
	for _, item := range from.items {
		e, err := t.element.coerce(at.element(at.text(item)), item)
		if err != nil {
			return nil, err
		}
		if err := set.add(e); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (t *setType) toPrimitive(at place, v any) (any, error) {
	items, err := eachItem(v.(*Set).items, func(item any) (any, error) { return t.element.toPrimitive(at, item) })
	return Tuple(items), err
}

func (t *setType) fromPrimitive(at place, v any) (any, error) {
	items, err := iterable(at, v)
	if err != nil {
		return nil, err
	}
	items, err = eachItem(items, func(item any) (any, error) { return t.element.fromPrimitive(at, item) })
	if err != nil {
		return nil, err
	}
	set, err := NewSet(items...)
	if err != nil {
		return nil, err
	}
	return set, nil
}

func (t *setType) stringify(at place, v any) (string, error) {
	return joinTexts(at, &t.element, "set([", v.(*Set).items, "])")
}

// dictType is Dict, the type of DictOfStringsField, DictOfNullableStringsField, DictOfIntegersField,
// DictOfListOfStringsField and DictOfSetOfIntegersField. It takes dicts with string keys.
type dictType struct{ element fieldRule }

func (*dictType) Name() string { return "Dict" }

func (t *dictType) coerce(at place, v any) (any, error) {
	from, ok := v.(*Dict)
	if !ok {
		return nil, &ValueError{"A dict is required in field " + at.String() + ", not a " + at.typeName(v)}
	}
	return t.each(from, func(key string, value any) (any, error) { return t.element.coerce(at.element(key), value) })
}

func (t *dictType) toPrimitive(at place, v any) (any, error) {
	return t.each(v.(*Dict), func(_ string, value any) (any, error) { return t.element.toPrimitive(at, value) })
}

func (t *dictType) fromPrimitive(at place, v any) (any, error) {
	from, ok := v.(*Dict)
	if !ok {
		return nil, &AttributeError{"'" + at.typeName(v) + "' object has no attribute 'items'"}
	}
	to := &Dict{}
	for k, e := range from.All() {
		e, err := t.element.fromPrimitive(at, e)
		if err != nil {
			return nil, err
		}
		if err := to.Set(k, e); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// each returns a dict with f's result for every value. A key that is no string is a *KeyTypeError.
func (t *dictType) each(from *Dict, f func(key string, value any) (any, error)) (any, error) {
	to := &Dict{}
	for k, v := range from.All() {
		key, ok := k.(string)
		if !ok {
			return nil, &KeyTypeError{Key: pyRepr(k), Type: pyTypeName(k)}
		}
		v, err := f(key, v)
		if err != nil {
			return nil, err
		}
		if err := to.Set(key, v); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func (t *dictType) stringify(at place, v any) (string, error) {
	d := v.(*Dict)
	var parts []string
	for _, k := range slices.SortedFunc(slices.Values(d.keys), func(a, b any) int { return strings.Compare(pyStr(a), pyStr(b)) }) {
		e, _ := d.Get(k)
		text, err := t.element.stringify(at, e)
		if err != nil {
			return "", err
		}
		parts = append(parts, pyStr(k)+"="+text)
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// sequence returns the items of what Python calls an iterable that is neither text nor a mapping.
func sequence(at place, v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case Tuple:
		return v, true
	case *Set:
		return v.items, true
	case Object:
		if at.objects != nil {
			return at.objects.iterate(v)
		}
	}
	return nil, false
}

// iterable returns what Python's iteration yields: the characters of a text and the keys of a dict too.
func iterable(at place, v any) ([]any, error) {
	switch v := v.(type) {
	case string:
		return characters(v), nil
	case *Dict:
		return v.keys, nil
	}
	if items, ok := sequence(at, v); ok {
		return items, nil
	}
	return nil, &TypeError{"'" + at.typeName(v) + "' object is not iterable"}
}

func characters(s string) []any {
	list := make([]any, 0, len(s))
	for _, r := range s {
		list = append(list, string(r))
	}
	return list
}

func eachItem(items []any, f func(any) (any, error)) ([]any, error) {
	list := make([]any, len(items))
	for i, item := range items {
		var err error
		if list[i], err = f(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func joinTexts(at place, element *fieldRule, open string, items []any, end string) (string, error) {
	parts := make([]string, len(items))
	for i, item := range items {
		var err error
		if parts[i], err = element.stringify(at, item); err != nil {
			return "", err
		}
	}
	return open + strings.Join(parts, ",") + end, nil
}
