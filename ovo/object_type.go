package ovo

// objectType is Object, the type of ObjectField: an object of the named class or, with subclasses, of one derived from
// it. The wire has its primitive.
type objectType struct {
	class      string
	subclasses bool
}

func (*objectType) Name() string { return "Object" }

func (t *objectType) coerce(at place, v any) (any, error) {
	if o, ok := v.(Object); ok && at.objects != nil {
		for i, name := range at.objects.classNames(o) {
			if name == t.class && (i == 0 || t.subclasses) {
				return v, nil
			}
		}
	}
	return nil, &ValueError{"An object of type " + t.class + " is required in field " + at.String() + ", not a " + at.typeName(v)}
}

func (t *objectType) toPrimitive(at place, v any) (any, error) {
	o, ok := v.(Object)
	if !ok || at.objects == nil {
		return nil, &AttributeError{"'" + at.typeName(v) + "' object has no attribute 'obj_to_primitive'"}
	}
	return at.objects.primitiveOf(o)
}

func (t *objectType) fromPrimitive(at place, v any) (any, error) {
	switch p := v.(type) {
	case Object:
		return v, nil
	case *Dict:
		if at.objects != nil {
			return at.objects.objectOf(p)
		}
	}
	return nil, &TypeError{"a primitive of an object is required in field " + at.String() + ", not a " + at.typeName(v)}
}

func (t *objectType) stringify(at place, v any) (string, error) {
	if o, ok := v.(Object); ok && at.objects != nil {
		return at.objects.label(o), nil
	}
	return pyStr(v), nil
}
