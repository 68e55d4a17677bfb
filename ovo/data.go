package ovo

import (
	"slices"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Data is the data of an object on their way to an older version, as [Rewrites] sees them: wire names and primitive values. It is only valid during the
// call.
type Data struct {
	e  *encoder
	c  *Class
	st slot
	to conversion

	dropped  uint64 // fields that are gone, or have another name or value now
	children []childConversion
	renamed  []renaming
	extra    []extraValue
}

// renaming is a field that is written under another name.
type renaming struct {
	field int
	name  string
}

// extraValue is a value that a Rewrites put there.
type extraValue struct {
	name  string
	value any
}

func (d *Data) isSet(f *field) bool {
	return f.always || *as[state](d.st.plus(f.state))&stateSet != 0
}

// find returns the field that is present under a name now, or the index of an extra value; both negative if there is neither.
func (d *Data) find(name string) (field, extra int) {
	if i := slices.IndexFunc(d.extra, func(x extraValue) bool { return x.name == name }); i >= 0 {
		return -1, i
	}
	for _, r := range d.renamed {
		if r.name == name {
			return r.field, -1
		}
	}
	i, ok := d.c.byName[name]
	if !ok || d.dropped&(1<<i) != 0 || !d.isSet(&d.c.fields[i]) {
		return -1, -1
	}
	return i, -1
}

// Get returns the primitive of the value under a wire name; ok is false when the data have none.
func (d *Data) Get(name string) (v any, ok bool, err error) {
	i, x := d.find(name)
	switch {
	case x >= 0:
		return d.extra[x].value, true, nil
	case i < 0:
		return nil, false, nil
	}
	e := encoder{reg: d.e.reg, depth: d.e.depth}
	if err := d.field(&e, &d.c.fields[i]); err != nil {
		return nil, false, err
	}
	v, err = newDecoder(d.e.reg, e.b).value()
	return v, err == nil, err
}

// Set puts a value of the value model under a wire name, which need not be that of a field.
func (d *Data) Set(name string, v any) {
	d.Delete(name)
	d.extra = append(d.extra, extraValue{name, v})
}

// Delete takes the value under a wire name away, if there is one.
func (d *Data) Delete(name string) {
	i, x := d.find(name)
	if x >= 0 {
		d.extra = slices.Delete(d.extra, x, x+1)
	}
	if i >= 0 {
		d.dropped |= 1 << i
		d.renamed = slices.DeleteFunc(d.renamed, func(r renaming) bool { return r.field == i })
	}
}

// rename moves a value to another name, replacing what is there.
func (d *Data) rename(from, to string) {
	i, x := d.find(from)
	switch {
	case x >= 0:
		v := d.extra[x].value
		d.Delete(from)
		d.Set(to, v)
	case i >= 0:
		d.Delete(from)
		d.Delete(to)
		d.renamed = append(d.renamed, renaming{i, to})
	}
}

// undo applies a rule of the history.
func (d *Data) undo(r *rule) error {
	switch r.kind {
	case addsFields:
		for _, name := range r.names {
			d.Delete(name)
		}
	case renamesField:
		d.rename(r.to, r.name)
	case addsValues:
		return d.refuse(r)
	case rewritesData:
		return r.fn(d)
	}
	return nil
}

// refuse fails if a field has a value that the target version does not know.
func (d *Data) refuse(r *rule) error {
	i, x := d.find(r.name)
	var v any
	switch {
	case x >= 0:
		v = d.extra[x].value
	case i < 0 || *as[state](d.st.plus(d.c.fields[i].state))&stateNull != 0:
		return nil
	default:
		v = d.c.fields[i].codec.load(d.st.plus(d.c.fields[i].offset))
	}
	if s, ok := v.(string); ok && slices.Contains(r.values, s) {
		return &ActionError{"obj_make_compatible", r.name + "=" + s + " not supported in version " + d.to.target.String()}
	}
	return nil
}

// surviving returns the fields that are written under their own name.
func (d *Data) surviving() uint64 {
	mask := d.c.present(d.st) &^ d.dropped
	for _, r := range d.renamed {
		mask &^= 1 << r.field
	}
	for _, x := range d.extra {
		if i, ok := d.c.byName[x.name]; ok {
			mask |= 1 << i
		}
	}
	return mask
}

// checkDropped converts the objects in fields that a rule has dropped. Nested objects are converted before the rules run, so what they refuse is refused.
func (d *Data) checkDropped() error {
	for _, c := range d.children {
		renamed := slices.ContainsFunc(d.renamed, func(r renaming) bool { return r.field == c.field })
		if d.dropped&(1<<c.field) != 0 && !renamed {
			if err := d.checkPart(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused returns the error of a rule, or that of a nested object, which comes first.
func (d *Data) refused(err error) error {
	for _, c := range d.children {
		if first := d.checkPart(c); first != nil {
			return first
		}
	}
	return err
}

// checkPart converts nested objects for their errors only.
func (d *Data) checkPart(c childConversion) error {
	unwanted := encoder{reg: d.e.reg}
	return d.field(&unwanted, &d.c.fields[c.field])
}

// write writes the members: fields in their order, then renamed ones and extra values, as they would come in a Python dict.
func (d *Data) write() error {
	e, first := d.e, true
	key := func(key string) {
		if !first {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		first = false
		e.b = append(e.b, key...)
	}
	for i := range d.c.fields {
		f := &d.c.fields[i]
		if d.dropped&(1<<i) != 0 || !d.isSet(f) {
			continue
		}
		key(f.key)
		if err := d.field(e, f); err != nil {
			return err
		}
	}
	for _, r := range d.renamed {
		key(quoteKey(r.name))
		if err := d.field(e, &d.c.fields[r.field]); err != nil {
			return err
		}
	}
	for _, x := range d.extra {
		key(quoteKey(x.name))
		if err := e.value(x.value); err != nil {
			return within("."+x.name, err)
		}
	}
	return nil
}
