package ovo

import (
	"strconv"
)

// Type is a wire type: the Python field type of a field or of a container's element, with Python's rules for what it
// accepts and how that is written. Types are immutable. They work on the value model; null is dealt with by the field,
// so that a Type never sees nil. [NewType] makes them.
type Type interface {
	// Name returns the name that fingerprints print: "String", "List", or the name of a named enum.
	Name() string
	// coerce is Python's coerce: the value to store for v, or why v is refused.
	coerce(at place, v any) (any, error)
	// toPrimitive returns what is written for a stored value.
	toPrimitive(at place, v any) (any, error)
	// fromPrimitive turns what was read into what is then coerced.
	fromPrimitive(at place, v any) (any, error)
	// stringify returns the text of a stored value in an object's text form.
	stringify(at place, v any) (string, error)
}

// place is where a value goes: the field, or the element of a container in one, and what a type may ask for there.
type place struct {
	object  string      // class name of the object, for the texts of errors
	field   string      // field name; in an element, the text between the brackets
	parent  *place      // of an element: its container
	current any         // value of the field before the assignment; only when isSet
	isSet   bool        //
	objects objectSpace // nil outside a registry
}

// objectSpace is what types need to know about objects; a registry has it.
type objectSpace interface {
	// className returns the class name of o.
	className(o Object) string
	// objectText returns the text form of o.
	objectText(o Object) string
	// iterate returns what Python's iteration over o yields: members of a list object, names of the set fields of a
	// dict-compatible object; false if o cannot be iterated.
	iterate(o Object) ([]any, bool)
}

// String returns the attribute name that Python's messages use: "fld", "fld[0]", "fld[key][2]".
func (p *place) String() string {
	if p.parent == nil {
		return p.field
	}
	return p.parent.String() + "[" + p.field + "]"
}

// element returns the place of an element of the container at p.
func (p *place) element(key string) place {
	return place{object: p.object, field: key, parent: p, objects: p.objects}
}

func (p *place) item(i int) place { return p.element(strconv.Itoa(i)) }

// fieldRule is Python's Field: a type with the rules for null, default and read-only.
type fieldRule struct {
	typ        Type
	nullable   bool
	hasDefault bool
	def        any // as given, coerced on each use
	readOnly   bool
	plain      bool // an enum whose values are not part of the fingerprint
}

// coerce returns the value to store when v is assigned.
func (r *fieldRule) coerce(at place, v any) (any, error) {
	if v != nil {
		return r.typ.coerce(at, v)
	}
	switch {
	case r.nullable:
		return nil, nil
	case r.hasDefault:
		return r.defaultValue(at)
	}
	return nil, &ValueError{"Field `" + at.String() + "' cannot be None"}
}

// defaultValue returns a fresh copy of the default, coerced.
func (r *fieldRule) defaultValue(at place) (any, error) {
	return r.typ.coerce(at, copyValue(r.def))
}

func (r *fieldRule) toPrimitive(at place, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	return r.typ.toPrimitive(at, v)
}

func (r *fieldRule) fromPrimitive(at place, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	return r.typ.fromPrimitive(at, v)
}

func (r *fieldRule) stringify(at place, v any) (string, error) {
	if v == nil {
		return "None", nil
	}
	return r.typ.stringify(at, v)
}

// TypeSpec describes a wire type as data.
type TypeSpec struct {
	// Name is the name that fingerprints print: String, UUID, List, ... With Values set, any name is an enum.
	Name string
	// Element is the type of the elements of a List, Dict or Set.
	Element *TypeSpec
	// ElementNullable lets elements be null.
	ElementNullable bool
	// Values are the valid values of an enum.
	Values Values
	// Transitions makes an enum a state machine: for each state the states that may follow it.
	Transitions map[string][]string
	// Object is the class name that an Object accepts, Subclasses whether it accepts derived classes too.
	Object     string
	Subclasses bool
	// Naive makes a DateTime drop the zone of what is assigned; otherwise a time without a zone becomes UTC.
	Naive bool
}

// NewType returns the wire type that spec describes. An unknown name is a *ValueError, a bad value list an *EnumError.
func NewType(spec TypeSpec) (Type, error) {
	return nil, &ValueError{"unknown wire type " + pyReprString(spec.Name)}
}
