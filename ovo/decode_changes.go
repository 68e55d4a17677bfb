package ovo

import (
	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// changes reads the names of changed fields; the opening bracket has been read. The text is remembered, because a Python process writes the
// same names in the same order every time.
func (d *decoder) changes(c *Class, st slot) error {
	if last := c.text.read.Load(); last != nil && d.r.Accept(last.text) {
		c.mark(st, last.mask)
		return nil
	}
	if err := d.r.Descend(1); err != nil {
		return err
	}
	start := d.r.Offset()
	more := true
	if d.r.Peek(); d.r.Accept("]") {
		d.r.Ascend(1)
		more = false
	}
	mask, err := d.fieldNames(c, more)
	if err != nil {
		return err
	}
	if text := d.r.Slice(start, d.r.Offset()); len(text) <= maxChangesText {
		c.text.read.Store(&changesText{text: string(text), mask: mask})
	}
	c.mark(st, mask)
	return nil
}

// maxChangesText is the size of the largest list of changed names that is remembered.
const maxChangesText = 4096

// lateChanges reads the names of changed fields where the opening bracket has not been read.
func (d *decoder) lateChanges(c *Class, st slot) error {
	switch d.r.Peek() {
	case pyjson.String, pyjson.Object:
		return d.r.Skip() // iterable in Python, to no names of fields
	case pyjson.Array:
	default:
		return &TypeError{"the changes of an object are a list of names"}
	}
	more, err := d.r.BeginArray()
	if err != nil {
		return err
	}
	mask, err := d.fieldNames(c, more)
	if err != nil {
		return err
	}
	c.mark(st, mask)
	return nil
}

// fieldNames reads names of fields and returns their set. Other names and other values are passed over.
func (d *decoder) fieldNames(c *Class, more bool) (mask uint64, err error) {
	for ; more && err == nil; more, err = d.r.NextElement() {
		if d.r.Peek() != pyjson.String {
			if err := d.r.Skip(); err != nil {
				return 0, err
			}
			continue
		}
		name, err := d.r.ReadText(d.buf[:0])
		if err != nil {
			return 0, err
		}
		if i, ok := c.byName[string(name)]; ok {
			mask |= 1 << i
		}
	}
	return mask, err
}

// mark marks a set of fields changed.
func (c *Class) mark(st slot, mask uint64) {
	for i := range c.fields {
		if mask&(1<<i) != 0 {
			*as[state](st.plus(c.fields[i].state)) |= stateChanged
		}
	}
}
