package ovo

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Append appends the primitive of o as JSON, at the object's own version and without conversion: what Python's obj_to_primitive() gives. A value that cannot
// be written is a [*FieldError] with its path.
func (r *Registry) Append(dst []byte, o Object) ([]byte, error) {
	c, err := r.classOf(o)
	if err != nil {
		return dst, err
	}
	e := encoder{reg: r, b: dst}
	if err := e.object(c, c.address(o)); err != nil {
		return dst, within(c.name, err)
	}
	return e.b, nil
}

// AppendList appends the primitives of several objects as a JSON list.
func AppendList[X any, P interface {
	*X
	Object
}](r *Registry, dst []byte, objects []P) ([]byte, error) {
	e := encoder{reg: r, b: append(dst, '[')}
	for i, o := range objects {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		c, err := r.classOf(o)
		if err == nil {
			err = e.object(c, c.address(o))
		}
		if err != nil {
			return dst, within(index(i), err)
		}
	}
	return append(e.b, ']'), nil
}

// encoder writes primitives.
type encoder struct {
	reg     *Registry
	b       []byte
	readers Manifest // versions at which outermost objects are written; nil for their own
	depth   int      // of objects in objects
}

// maxObjects is how deep objects may be in objects, which is as deep as [pyjson.MaxDepth] lets a reader go. An object that is inside itself is deeper than anything.
const maxObjects = pyjson.MaxDepth / 2

// enter counts an object; leave has to be called after it.
func (e *encoder) enter() error {
	if e.depth++; e.depth > maxObjects {
		return ErrDepth
	}
	return nil
}

func (e *encoder) leave() { e.depth-- }

// address returns where o is. The caller has found c as the class of o.
func (c *Class) address(o Object) slot { return slotOf(o.base()).minus(c.baseOffset) }

// baseAt returns the Base of the object at o.
func (c *Class) baseAt(o slot) *Base { return as[Base](o.plus(c.baseOffset)) }

// storage returns what the field offsets of an object of this class count from.
func (c *Class) storage(o slot) slot {
	if c.goType != nil {
		return o
	}
	cells := as[Record](o).cells
	if len(cells) == 0 {
		return o
	}
	return slotOf(&cells[0])
}

// versionOf returns the version of the object at o.
func (c *Class) versionOf(o slot) string {
	if v := c.baseAt(o).received; v != "" {
		return v
	}
	return c.version
}

// object writes an object: at its own version, or, if it is one of the outermost and the encoder writes for a reader, at that reader's.
func (e *encoder) object(c *Class, o slot) error {
	if e.readers == nil {
		return e.own(c, o)
	}
	readers := e.readers
	e.readers = nil
	defer func() { e.readers = readers }()
	return e.objectFor(c, o, readers)
}

// own writes the object at o at its own version.
func (e *encoder) own(c *Class, o slot) error {
	defer e.leave()
	if err := e.enter(); err != nil {
		return err
	}
	version := c.versionOf(o)
	if version != c.version && !isPlainVersion(version) {
		if _, err := parseTuple(version); err != nil {
			return err
		}
	}
	if err := e.open(c, version); err != nil {
		return err
	}
	st := c.storage(o)
	present, err := e.fields(c, st)
	if err != nil {
		return err
	}
	e.close(c, c.changed(st)&present)
	return nil
}

// roomForObject is about the text of an object without large texts.
const roomForObject = 512

// open writes an envelope up to and including the opening brace of the data.
func (e *encoder) open(c *Class, version string) (err error) {
	if cap(e.b)-len(e.b) < roomForObject { // by doubling: append alone would copy a large document some twenty times
		e.b = slices.Grow(e.b, max(len(e.b), roomForObject))
	}
	if version == c.version {
		e.b = append(e.b, c.text.envelope...)
		return nil
	}
	e.b, err = appendText(append(e.b, c.text.head...), version)
	e.b = append(e.b, c.keys.dataOpen...)
	return err
}

// fields writes the set fields of an object and returns which they were.
func (e *encoder) fields(c *Class, st slot) (present uint64, err error) {
	for i := range c.fields {
		f := &c.fields[i]
		s := *as[state](st.plus(f.state))
		if s&stateSet == 0 && !f.always {
			continue
		}
		if present != 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		present |= 1 << i
		e.b = append(e.b, f.key...)
		if err := e.field(f, st, s); err != nil {
			return 0, err
		}
	}
	return present, nil
}

// field writes the value of a set field.
func (e *encoder) field(f *field, st slot, s state) error {
	if s&stateNull != 0 {
		e.b = append(e.b, "null"...)
		return nil
	}
	if err := f.codec.encode(e, st.plus(f.offset)); err != nil {
		return within("."+f.name, err)
	}
	return nil
}

// close writes everything after the last field: the end of the data, the changed names if there are any, and the end of the envelope.
func (e *encoder) close(c *Class, changes uint64) {
	e.b = append(e.b, '}')
	if changes != 0 {
		e.b = append(e.b, c.keys.changesOpen...)
		e.b = append(e.b, c.changesText(changes)...)
	}
	e.b = append(e.b, '}')
}

// changesText returns the sorted list of the names of a set of fields, with the closing bracket. The last one is remembered, because the objects of a list mostly
// have the same.
func (c *Class) changesText(mask uint64) string {
	if last := c.text.written.Load(); last != nil && last.mask == mask {
		return last.text
	}
	var b []byte
	for i, name := range c.namesOf(mask) {
		if i > 0 {
			b = append(b, pyjson.ItemSeparator...)
		}
		b = append(b, quote(name)...)
	}
	text := &changesText{text: string(append(b, ']')), mask: mask}
	c.text.written.Store(text)
	return text.text
}

// namesOf returns the names of a set of fields, sorted.
func (c *Class) namesOf(mask uint64) []string {
	names := []string{}
	for i := range c.fields {
		if mask&(1<<i) != 0 {
			names = append(names, c.fields[i].name)
		}
	}
	slices.Sort(names)
	return names
}

// changed returns the fields that count as changed: the marked ones, and fields whose object has changes of its own. In a list object only the members
// count so.
func (c *Class) changed(st slot) (mask uint64) { return c.changedWithin(st, 0) }

// changedWithin is changed for an object in that many others. An object that is inside itself adds nothing to its own changes.
func (c *Class) changedWithin(st slot, depth int) (mask uint64) {
	if depth > maxObjects {
		return 0
	}
	for i := range c.fields {
		f := &c.fields[i]
		s := *as[state](st.plus(f.state))
		switch {
		case s&stateChanged != 0:
			mask |= 1 << i
		case s&stateSet == 0 && !f.always, s&stateNull != 0:
		case f.always, f.bubbles && !c.isList:
			if f.codec.(objectCodec).changed(c.reg, st.plus(f.offset), depth+1) {
				mask |= 1 << i
			}
		}
	}
	return mask
}

// value writes a value of the value model by the rules of Python's JSON library, objects as their primitives.
func (e *encoder) value(v any) (err error) {
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case int64:
		e.b = strconv.AppendInt(e.b, v, 10)
	case int:
		e.b = strconv.AppendInt(e.b, int64(v), 10)
	case *big.Int:
		e.b = v.Append(e.b, 10)
	case float64:
		e.b = pyjson.AppendFloat(e.b, v)
	case string:
		e.b, err = appendText(e.b, v)
	case time.Time:
		// oslo.serialization drops the zone of a datetime outside objects.
		e.b = v.AppendFormat(e.b, `"2006-01-02T15:04:05.000000"`)
	case netip.Addr:
		e.b, err = appendText(e.b, v.String())
	case netip.Prefix:
		e.b, err = appendText(e.b, v.String())
	case []any:
		return e.items(v)
	case Tuple:
		return e.items(v)
	case *Set:
		return e.items(v.items)
	case *Dict:
		return e.dict(v)
	case json.RawMessage:
		if len(v) == 0 {
			return e.value(nil)
		}
		e.b = append(e.b, v...)
	case Object:
		c, err := e.reg.classOf(v)
		if err != nil {
			return err
		}
		return e.object(c, c.address(v))
	default:
		return e.goValue(v)
	}
	return err
}

func (e *encoder) items(items []any) error {
	e.b = append(e.b, '[')
	for i, v := range items {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		if err := e.value(v); err != nil {
			return within(index(i), err)
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (e *encoder) dict(d *Dict) (err error) {
	e.b = append(e.b, '{')
	for i, k := range d.keys {
		if i > 0 {
			e.b = append(e.b, pyjson.ItemSeparator...)
		}
		key, err := jsonKey(k)
		if err != nil {
			return err
		}
		if e.b, err = appendText(e.b, key); err != nil {
			return err
		}
		e.b = append(e.b, pyjson.KeySeparator...)
		if err := e.value(d.values[i]); err != nil {
			return within("["+key+"]", err)
		}
	}
	e.b = append(e.b, '}')
	return nil
}

// jsonKey is the text that json.dumps makes of a dict key.
func jsonKey(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case *big.Int:
		return k.String(), nil
	case float64:
		return string(pyjson.AppendFloat(nil, k)), nil
	}
	return "", &TypeError{"keys must be str, int, float, bool or None, not " + pyTypeName(k)}
}

// appendText appends s as a JSON string.
func appendText(dst []byte, s string) ([]byte, error) {
	return pyjson.AppendString(dst, s)
}

// index is the step of a path into a list.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// within adds a step to the path of an error. Steps are added from the inside out.
func within(step string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := err.(*FieldError); ok { //nolint:errorlint // only the outermost layer is ours
		return &FieldError{Path: step + f.Path, Err: f.Err}
	}
	return &FieldError{Path: step, Err: err}
}
