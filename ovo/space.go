package ovo

// What wire types ask a registry about objects: see objectSpace.

func (r *Registry) classNames(o Object) []string {
	c, err := r.classOf(o)
	if err != nil {
		return []string{r.typeName(o)}
	}
	return append([]string{c.name}, c.bases...)
}

func (r *Registry) primitiveOf(o Object) (any, error) {
	data, err := r.Append(nil, o)
	if err != nil {
		return nil, err
	}
	return newDecoder(r, data).value()
}

func (r *Registry) objectOf(primitive *Dict) (any, error) {
	e := encoder{reg: r}
	if err := e.dict(primitive); err != nil {
		return nil, err
	}
	return r.Decode(e.b)
}

func (r *Registry) text(o Object) string {
	v, err := r.View(o)
	if err != nil {
		return "object"
	}
	return v.String()
}

// label names an object by its class and by its uuid or id, as Python does inside the text form of another object.
func (r *Registry) label(o Object) string {
	v, err := r.View(o)
	if err != nil {
		return "object"
	}
	for _, name := range []string{"uuid", "id"} {
		i, ok := v.c.byName[name]
		if !ok {
			continue
		}
		if f := &v.c.fields[i]; v.isSet(f) {
			return v.c.name + "(" + pyStr(v.load(f)) + ")"
		}
		return v.c.name + "(UNKNOWN)"
	}
	return v.c.name
}

func (r *Registry) iterate(o Object) ([]any, bool) {
	v, err := r.View(o)
	if err != nil {
		return nil, false
	}
	if v.c.isList {
		items, _ := v.load(&v.c.fields[v.c.byName[objectsField]]).([]any)
		return items, true
	}
	if !v.c.iterable {
		return nil, false
	}
	names := []any{}
	for name, s := range v.Fields() {
		if s.Set {
			names = append(names, name)
		}
	}
	return names, true
}

func (r *Registry) truth(o Object) bool {
	v, err := r.View(o)
	if err != nil || !v.c.isList {
		return true
	}
	items, _ := r.iterate(o)
	return len(items) > 0
}
