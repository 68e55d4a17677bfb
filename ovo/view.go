package ovo

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// View gives generic access to an object, as reflect.Value does to a Go value: its fields by wire name, their values in the value
// model. It is for serializers, tools and tests; ordinary code uses the cells. A View shares the object; it is as safe for concurrent use as the object.
type View struct {
	c  *Class
	o  Object
	st slot
}

// Loader is implemented by objects that can load unset fields. LoadField sets the field, which marks it changed as in Python.
type Loader interface {
	LoadField(ctx context.Context, name string) error
}

// State says whether a field has a value, whether that is null, and whether the field is marked changed.
type State struct{ Set, Null, Changed bool }

// View returns a view of o. An object whose class is not registered is an [*UnsupportedObjectError].
func (r *Registry) View(o Object) (View, error) {
	c, err := r.classOf(o)
	if err != nil {
		return View{}, err
	}
	return c.view(c.address(o)), nil
}

func (c *Class) view(o slot) View { return View{c: c, o: c.object(o), st: c.storage(o)} }

// Class returns the object's class.
func (v View) Class() *Class { return v.c }

// Version returns the version of the object: the one it was received with, else that of its class.
func (v View) Version() string {
	if received := VersionOf(v.o); received != "" {
		return received
	}
	return v.c.version
}

// field finds a field by name.
func (v View) field(name string) (*field, error) {
	i, ok := v.c.byName[name]
	if !ok {
		return nil, &AttributeError{v.c.name + " object has no attribute " + pyReprString(name)}
	}
	return &v.c.fields[i], nil
}

func (v View) state(f *field) *state { return as[state](v.st.plus(f.state)) }

func (v View) isSet(f *field) bool { return f.always || *v.state(f)&stateSet != 0 }

// load returns the value of a set field.
func (v View) load(f *field) any {
	if *v.state(f)&stateNull != 0 {
		return nil
	}
	return f.codec.load(v.st.plus(f.offset))
}

// put stores a coerced value. The changed mark is left alone.
func (v View) put(f *field, value any) error {
	s := v.state(f)
	if value == nil {
		*s = *s&stateChanged | stateSet | stateNull
		return nil
	}
	if err := f.codec.store(v.st.plus(f.offset), value); err != nil {
		return within("."+f.name, err)
	}
	*s = *s&stateChanged | stateSet
	return nil
}

// Fields yields the names of all fields in wire order, and their states.
func (v View) Fields() iter.Seq2[string, State] {
	return func(yield func(string, State) bool) {
		for i := range v.c.fields {
			f := &v.c.fields[i]
			s := *v.state(f)
			if !yield(f.name, State{v.isSet(f), s&stateNull != 0, s&stateChanged != 0}) {
				return
			}
		}
	}
}

// IsSet tells whether a field has a value. A name that is no field is an [*AttributeError].
func (v View) IsSet(name string) (bool, error) {
	f, err := v.field(name)
	if err != nil {
		return false, err
	}
	return v.isSet(f), nil
}

// Get returns the value of a field, nil for null. An unset field is a [*NotImplementedError], as in Python for an object that cannot load it; see [View.Load].
func (v View) Get(name string) (any, error) {
	f, err := v.field(name)
	if err != nil {
		return nil, err
	}
	if !v.isSet(f) {
		return nil, &NotImplementedError{"Cannot load " + pyReprString(name) + " in the base class"}
	}
	return v.load(f), nil
}

// Load is [View.Get], except that the object, if it is a [Loader], is asked first to load a field that is unset.
func (v View) Load(ctx context.Context, name string) (any, error) {
	f, err := v.field(name)
	if err != nil {
		return nil, err
	}
	if l, ok := v.o.(Loader); ok && !v.isSet(f) {
		if err := l.LoadField(ctx, name); err != nil {
			return nil, err
		}
	}
	return v.Get(name)
}

// Assign assigns a value of the value model as Python does: it is coerced, checked against a read-only field, and the field is marked changed. Errors leave
// the object as it was.
func (v View) Assign(name string, value any) error {
	f, err := v.field(name)
	if err != nil {
		return err
	}
	return v.assign(f, value)
}

func (v View) assign(f *field, value any) error {
	where := place{object: v.c.name, field: f.name, objects: v.c.reg, isSet: v.isSet(f)}
	if where.isSet {
		where.current = v.load(f)
	}
	value, err := f.coerce(where, value)
	if err != nil {
		return within("."+f.name, err)
	}
	if f.readOnly && where.isSet {
		if !pyEqual(where.current, value) {
			return &ReadOnlyError{f.name}
		}
		return nil
	}
	if err := v.put(f, value); err != nil {
		return err
	}
	*v.state(f) |= stateChanged
	return nil
}

// Delete takes the value of a field away. The changed mark stays, as in Python. A field that is unset is an [*AttributeError].
func (v View) Delete(name string) error {
	i, ok := v.c.byName[name]
	if !ok || !v.isSet(&v.c.fields[i]) {
		return &AttributeError{"No such attribute `" + name + "'"}
	}
	f := &v.c.fields[i]
	*v.state(f) &= stateChanged
	f.clear(v.st)
	return nil
}

// Changes returns the names of the fields that count as changed, sorted: the marked ones and those whose object has changes of its own.
// In a list object, "objects" counts too when a member has changes.
func (v View) Changes() []string { return v.c.namesOf(v.c.changed(v.st)) }

// marked returns the names of the fields that are marked changed themselves.
func (v View) marked() []string {
	var mask uint64
	for i := range v.c.fields {
		if *v.state(&v.c.fields[i])&stateChanged != 0 {
			mask |= 1 << i
		}
	}
	return v.c.namesOf(mask)
}

// Reset clears the changed marks of the named fields, of all fields without names. Recursive also resets the objects in those of them that count as
// changed, first. It fails, as in Python, when one of these is unset.
func (v View) Reset(recursive bool, names ...string) error { return v.reset(recursive, 0, names) }

func (v View) reset(recursive bool, depth int, names []string) error {
	if depth > maxObjects {
		return ErrDepth
	}
	named := func(f *field) bool { return len(names) == 0 || slices.Contains(names, f.name) }
	if recursive {
		if err := v.resetChanged(named, depth); err != nil {
			return err
		}
	}
	for i := range v.c.fields {
		if f := &v.c.fields[i]; named(f) {
			*v.state(f) &^= stateChanged
		}
	}
	return nil
}

// resetChanged resets the objects in the named fields that count as changed, none if a changed field is unset.
func (v View) resetChanged(named func(*field) bool, depth int) error {
	changed := v.c.namesOf(v.c.changed(v.st))
	for _, name := range changed {
		if _, err := v.Get(name); err != nil {
			return err
		}
	}
	for _, name := range changed {
		f := &v.c.fields[v.c.byName[name]]
		if err := v.resetParts(f, named(f), depth); err != nil {
			return err
		}
	}
	return nil
}

func (v View) resetParts(f *field, named bool, depth int) error {
	if !named || f.kind == kindValue || *v.state(f)&stateNull != 0 {
		return nil
	}
	return f.codec.(objectCodec).visit(v.c.reg, v.st.plus(f.offset), func(c *Class, o slot) error {
		return c.view(o).reset(true, depth+1, nil)
	})
}

// SetDefaults sets the unset ones of the named fields to their defaults and marks them changed; without names, all unset fields that have a default. A named
// field without default is an [*ActionError], an unknown name a [*KeyError].
func (v View) SetDefaults(names ...string) error {
	if len(names) == 0 {
		for i := range v.c.fields {
			if v.c.fields[i].hasDefault {
				names = append(names, v.c.fields[i].name)
			}
		}
	}
	for _, name := range names {
		i, ok := v.c.byName[name]
		if !ok {
			return &KeyError{name}
		}
		f := &v.c.fields[i]
		if !f.hasDefault {
			return &ActionError{"set_defaults", "No default set for field " + name}
		}
		if !v.isSet(f) {
			if err := v.assign(f, copyValue(f.def)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Clone returns a deep copy, nested objects included: the same values and marks, but the class's version instead of the received one.
func (v View) Clone() (Object, error) { return cloner{}.clone(v) }

// cloner remembers what it has copied, so that an object met twice stays one object.
type cloner map[Object]Object

func (m cloner) clone(v View) (Object, error) {
	if done, ok := m[v.o]; ok {
		return done, nil
	}
	o := v.c.create()
	to := v.c.view(o)
	m[v.o] = to.o
	for i := range v.c.fields {
		f := &v.c.fields[i]
		*to.state(f) = *v.state(f)
		if !v.isSet(f) || *v.state(f)&stateNull != 0 {
			continue
		}
		value, err := m.value(v.c.reg, v.load(f))
		if err == nil {
			err = f.codec.store(to.st.plus(f.offset), value)
		}
		if err != nil {
			return nil, within("."+f.name, err)
		}
	}
	return to.o, nil
}

// value copies a value and the objects in it.
func (m cloner) value(r *Registry, value any) (any, error) {
	switch value := value.(type) {
	case Object:
		v, err := r.View(value)
		if err != nil {
			return nil, err
		}
		return m.clone(v)
	case []any:
		return eachItem(value, func(e any) (any, error) { return m.value(r, e) })
	case *Dict:
		d := &Dict{}
		for k, e := range value.All() {
			e, err := m.value(r, e)
			if err != nil {
				return nil, err
			}
			if err := d.Set(k, e); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return copyValue(value), nil
}

// String returns Python's text form: "Name(field=text,…)" sorted by field, with <?> for unset fields and for texts that are empty.
func (v View) String() string {
	names := v.c.namesOf(^uint64(0))
	for i, name := range names {
		names[i] = name + "=" + v.fieldText(&v.c.fields[v.c.byName[name]])
	}
	return v.c.name + "(" + strings.Join(names, ",") + ")"
}

func (v View) fieldText(f *field) string {
	const unknown = "<?>"
	if !v.isSet(f) {
		return unknown
	}
	text, err := f.stringify(place{object: v.c.name, field: f.name, objects: v.c.reg}, v.load(f))
	if err != nil || text == "" {
		return unknown
	}
	return text
}
