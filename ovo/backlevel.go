package ovo

import (
	"slices"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// AppendAt appends the primitive of o as a peer of another version reads it: what Python's obj_to_primitive(target, manifest) gives. The target is the version
// of o itself; "" means the object's own. A manifest gives the versions of nested objects, which otherwise follow from the histories; nil is
// not the same as an empty one, which knows no class. A target above the object's own version is an [*InvalidTargetError]; a value that the target version does not have, or a nested
// object for which there is no rule, is an [*ActionError].
func (r *Registry) AppendAt(dst []byte, o Object, target string, m Manifest) ([]byte, error) {
	c, err := r.classOf(o)
	if err != nil {
		return dst, err
	}
	e := encoder{reg: r, b: dst}
	if err := e.objectAt(c, c.address(o), target, m); err != nil {
		return dst, rooted(c, err)
	}
	return e.b, nil
}

// objectAt writes an object at a target version.
func (e *encoder) objectAt(c *Class, o slot, target string, m Manifest) error {
	own := c.versionOf(o)
	if target == "" {
		target = own
	}
	if target == own && len(m) == 0 {
		return e.own(c, o)
	}
	targetTuple, err := parseTuple(target)
	if err != nil {
		return err
	}
	ownTuple, err := parseTuple(own)
	if err != nil {
		return err
	}
	if targetTuple.compare(ownTuple) > 0 {
		return &InvalidTargetError{target}
	}
	return e.convert(c, o, conversion{label: target, target: targetTuple, manifest: m, top: true})
}

// objectFor writes an object at the version that its reader has of its class; at its own if that is not older or unknown. Nested objects follow the manifest in
// any case.
func (e *encoder) objectFor(c *Class, o slot, readers Manifest) error {
	own, target := c.versionOf(o), readers[c.name]
	if target != "" {
		targetTuple, err := parseTuple(target)
		if err != nil {
			return err
		}
		if ownTuple, err := parseTuple(own); err != nil || targetTuple.compare(ownTuple) > 0 {
			target = ""
		}
	}
	return e.objectAt(c, o, target, readers)
}

// conversion is what an object is converted to.
type conversion struct {
	label    string // version as it will stand in the primitive
	target   versionTuple
	manifest Manifest
	top      bool // not a nested object: its changes are filtered
}

// rule is a change of the history that a conversion to a version below it undoes.
type rule struct {
	Change
	version versionTuple
}

// convert writes an object converted: nested objects first, then the rules of the history, newest first.
func (e *encoder) convert(c *Class, o slot, to conversion) error {
	defer e.leave()
	if err := e.enter(); err != nil {
		return err
	}
	st := c.storage(o)
	data := &Data{e: e, c: c, st: st, to: to}
	if err := data.parts(); err != nil {
		return err
	}
	for i := range c.rules {
		if r := &c.rules[i]; to.target.compare(r.version) < 0 {
			if err := data.undo(r); err != nil {
				return data.refused(err)
			}
		}
	}
	if err := data.checkDropped(); err != nil {
		return err
	}
	if err := e.open(c, to.label); err != nil {
		return err
	}
	if err := data.write(); err != nil {
		return err
	}
	changes := c.changed(st)
	if to.top {
		changes &= data.surviving()
	} else {
		changes &= c.present(st)
	}
	e.close(c, changes)
	return nil
}

// present returns the set fields.
func (c *Class) present(st slot) (mask uint64) {
	for i := range c.fields {
		if *as[state](st.plus(c.fields[i].state))&stateSet != 0 || c.fields[i].always {
			mask |= 1 << i
		}
	}
	return mask
}

// childVersion says what becomes of a field of objects: converted to a version, left as it is, or gone.
type childVersion struct {
	version string
	convert bool // to the version; otherwise the objects stay as they are
	gone    bool
}

// childVersion finds the version of the objects in a set field.
func (c *Class) childVersion(f *field, to conversion) (childVersion, error) {
	if c.isList {
		return c.memberVersion(f, to), nil
	}
	if to.manifest != nil {
		version, ok := to.manifest[f.childName()]
		return childVersion{version: version, convert: ok}, nil
	}
	pairs, ok := c.relations[f.name]
	if !ok {
		return childVersion{}, &ActionError{"obj_make_compatible", "No rule for " + f.name}
	}
	return pick(pairs, to.target), nil
}

// memberVersion is childVersion for the members of a list object: its own table comes before the manifest, and without any rule members
// are converted to 1.0.
func (c *Class) memberVersion(f *field, to conversion) childVersion {
	pairs := c.children
	if len(pairs) == 0 && to.manifest != nil {
		if version, ok := to.manifest[f.childName()]; ok {
			return childVersion{version: version, convert: true}
		}
	} else if len(pairs) == 0 {
		pairs = c.relations[f.name]
	}
	if len(pairs) == 0 {
		return childVersion{version: "1.0", convert: true}
	}
	return pick(pairs, to.target)
}

// pick finds the pair that holds at a version. Between two pairs the older one holds; Python fails there for a list object's own table.
func pick(pairs []versionPair, target versionTuple) childVersion {
	for i, p := range pairs {
		switch d := target.compare(p.tuple); {
		case d < 0 && i == 0:
			return childVersion{gone: true}
		case d < 0:
			return childVersion{version: pairs[i-1].child, convert: true}
		case d == 0:
			return childVersion{version: p.child, convert: true}
		}
	}
	return childVersion{}
}

// parts decides what becomes of the nested objects.
func (d *Data) parts() error {
	for i := range d.c.fields {
		f := &d.c.fields[i]
		if f.kind == kindValue || d.c.isList && !f.always || !d.isSet(f) {
			continue
		}
		child, err := d.c.childVersion(f, d.to)
		if err != nil {
			return err
		}
		switch {
		case child.gone:
			d.dropped |= 1 << i
		case child.convert:
			tuple, err := parseTuple(child.version)
			d.children = append(d.children, childConversion{i, conversion{label: child.version, target: tuple, manifest: d.to.manifestOfParts()}, err})
		}
	}
	return nil
}

// manifestOfParts is the manifest that nested objects are converted with: an empty one counts as none there.
func (c *conversion) manifestOfParts() Manifest {
	if len(c.manifest) == 0 {
		return nil
	}
	return c.manifest
}

type childConversion struct {
	field int
	to    conversion
	err   error // a version that is none, which matters if there is an object to convert
}

// field writes a field's value, its objects converted if they are to be.
func (d *Data) field(e *encoder, f *field) error {
	s := *as[state](d.st.plus(f.state))
	i := slices.IndexFunc(d.children, func(c childConversion) bool { return c.field == f.index })
	if i < 0 || s&stateNull != 0 {
		return e.field(f, d.st, s)
	}
	codec := f.codec.(objectCodec)
	first := true
	convert := func(c *Class, o slot) error {
		if !first {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		first = false
		if err := d.children[i].err; err != nil {
			return err
		}
		return e.convert(c, o, d.children[i].to)
	}
	if f.kind == kindObjects {
		e.b = append(e.b, '[')
	}
	if err := codec.visit(d.c.reg, d.st.plus(f.offset), convert); err != nil {
		return within("."+f.name, err)
	}
	if f.kind == kindObjects {
		e.b = append(e.b, ']')
	}
	return nil
}
