package ovo

import (
	"math/big"
	"strings"
	"time"
)

// Values is the list of valid values of an enum, in the form that its fingerprint prints.
type Values struct{ list any }

// OneOf returns values that print as a Python tuple: ('a', 'b').
func OneOf[T ~string](values ...T) Values { return Values{Tuple(anySlice(values))} }

// ListedOneOf returns values that print as a Python list: ['a', 'b'].
func ListedOneOf[T ~string](values ...T) Values { return Values{anySlice(values)} }

// SubstringOf returns the values of an enum that was given a plain string: every substring of it is valid, the empty
// one included.
func SubstringOf(s string) Values { return Values{s} }

func anySlice[T ~string](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// String returns Python's str() of the values, as fingerprints print it.
func (v Values) String() string { return pyStr(v.list) }

// items returns the values one by one; a plain string is its characters.
func (v Values) items() []any {
	switch list := v.list.(type) {
	case Tuple:
		return list
	case []any:
		return list
	case string:
		return characters(list)
	}
	return nil
}

func (v Values) check() error {
	items := v.items()
	if len(items) == 0 {
		return &EnumError{}
	}
	for _, item := range items {
		switch item.(type) {
		case string, bool, int64, *big.Int, float64, time.Time:
		default:
			return &EnumError{Value: pyRepr(item)}
		}
	}
	return nil
}

// has is Python's `x in values`: equality for a tuple or list, substring for a plain string.
func (v Values) has(x any) (bool, error) {
	if list, ok := v.list.(string); ok {
		s, ok := x.(string)
		if !ok {
			return false, &TypeError{"'in <string>' requires string as left operand, not " + pyQualifiedName(x)}
		}
		return strings.Contains(list, s), nil
	}
	for _, item := range v.items() {
		if pyEqual(item, x) {
			return true, nil
		}
	}
	return false, nil
}

// enumType is Enum, the type of EnumField and of subclasses of BaseEnumField, which may give it a name of their own. A
// value must be equal to a valid one and is then treated as a String.
type enumType struct {
	stringType
	name   string
	values Values
}

func (t enumType) Name() string { return t.name }

func (t enumType) coerce(at place, v any) (any, error) {
	if err := t.check(at, v); err != nil {
		return nil, err
	}
	return t.stringType.coerce(at, v)
}

func (t enumType) check(at place, v any) error {
	valid, err := t.values.has(v)
	if err != nil || valid {
		return err
	}
	if pair, ok := v.(Tuple); ok { // Python's "%s" takes a tuple apart
		if len(pair) != 1 {
			return &TypeError{"not all arguments converted during string formatting"}
		}
		v = pair[0]
	}
	return &ValueError{"Field value " + at.text(v) + " is invalid"}
}

func (t enumType) stringify(at place, v any) (string, error) {
	if err := t.check(at, v); err != nil {
		return "", err
	}
	return t.stringType.stringify(at, v)
}

// stateMachineType is the Enum of a StateMachine field: once a value is set, only the states listed for it may follow,
// itself included.
type stateMachineType struct {
	enumType
	next map[string][]string
}

func (t stateMachineType) coerce(at place, v any) (any, error) {
	v, err := t.enumType.coerce(at, v)
	if err != nil || !at.isSet {
		return v, err
	}
	current := pyStr(at.current)
	allowed, ok := t.next[current]
	if !ok {
		return nil, &KeyError{current}
	}
	for _, state := range allowed {
		if state == v {
			return v, nil
		}
	}
	return nil, &ValueError{at.object + "." + at.String() + " is not allowed to transition out of '" + current + "' state to '" +
		pyStr(v) + "' state, choose from " + pyRepr(anySlice(allowed))}
}

// Strings returns the values that are strings, in their order; none for the values of [SubstringOf].
func (v Values) Strings() []string {
	var list []string
	if _, substring := v.list.(string); substring {
		return nil
	}
	for _, x := range v.items() {
		if s, ok := x.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// WithoutLast returns the values without the last n.
func (v Values) WithoutLast(n int) Values {
	switch list := v.list.(type) {
	case Tuple:
		return Values{list[:max(len(list)-n, 0)]}
	case []any:
		return Values{list[:max(len(list)-n, 0)]}
	}
	return v
}
