package ovo

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
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
	isSet   bool        // the field has a value,
	current any         // this one
	objects objectSpace // nil outside a registry
}

// objectSpace is what types need to know about objects; a registry has it.
type objectSpace interface {
	// classNames returns the class name of o and those of the classes it is derived from, its own first.
	classNames(o Object) []string
	// primitiveOf returns the primitive of o at its own version.
	primitiveOf(o Object) (any, error)
	// objectOf builds the object of a primitive.
	objectOf(primitive *Dict) (any, error)
	// text returns the text form of o, as Python's str().
	text(o Object) string
	// label returns the text of o inside another object's text form: "Name(uuid)".
	label(o Object) string
	// iterate returns what Python's iteration over o yields: members of a list object, names of the set fields of a
	// dict-compatible object; false if o cannot be iterated.
	iterate(o Object) ([]any, bool)
	// truth is Python's bool(o): false for an empty list object.
	truth(o Object) bool
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

// text is Python's str() of a value at this place.
func (p *place) text(v any) string {
	if o, ok := v.(Object); ok && p.objects != nil {
		return p.objects.text(o)
	}
	return pyStr(v)
}

// typeName is the name of a value's Python type.
func (p *place) typeName(v any) string {
	if o, ok := v.(Object); ok && p.objects != nil {
		return p.objects.classNames(o)[0]
	}
	return pyTypeName(v)
}

// truth is Python's bool() of a value at this place.
func (p *place) truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case Tuple:
		return len(v) > 0
	case *Dict:
		return v.Len() > 0
	case *Set:
		return v.Len() > 0
	case netip.Addr:
		return !v.IsUnspecified()
	case Object:
		return p.objects == nil || p.objects.truth(v)
	}
	return true
}

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

// contract returns the text of the field in a fingerprint.
func (r *fieldRule) contract() string {
	def := "<class 'oslo_versionedobjects.fields.UnspecifiedDefault'>"
	if r.hasDefault {
		def = defaultText(r.def)
	}
	text := r.typ.Name() + "(default=" + def + ",nullable=" + pyRepr(r.nullable)
	if values, ok := valuesOf(r.typ); ok && !r.plain {
		text += ",valid_values=" + values.String()
	}
	return text + ")"
}

// defaultText is str() of a default, but for a set a form that has an order.
func defaultText(def any) string {
	set, ok := def.(*Set)
	if !ok || set.frozen {
		return pyStr(def)
	}
	texts := make([]string, 0, set.Len())
	for _, e := range set.items {
		texts = append(texts, pyStr(e))
	}
	slices.Sort(texts)
	return "set([" + strings.Join(texts, ",") + "])"
}

// valuesOf returns the valid values of an enum or of a list of enums.
func valuesOf(t Type) (Values, bool) {
	switch t := t.(type) {
	case enumType:
		return t.values, true
	case stateMachineType:
		return t.values, true
	case *listType:
		return valuesOf(t.element.typ)
	}
	return Values{}, false
}
