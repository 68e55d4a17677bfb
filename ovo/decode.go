package ovo

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"reflect"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Decode reads the primitive of an object of any registered class in the registry's namespace. Everything that Python would refuse is refused, with
// the path to it in a [*FieldError]; so are a duplicate key, which Python does not notice, and nesting beyond 200 levels ([ErrDepth]). The object keeps no reference to
// data.
func (r *Registry) Decode(data []byte) (Object, error) {
	d := newDecoder(r, data)
	c, o, err := d.object(nil)
	if err == nil {
		err = d.r.End()
	}
	if err != nil {
		return nil, rooted(c, err)
	}
	return c.object(o), nil
}

// rooted starts the path of an error with the class name of the outermost object.
func rooted(c *Class, err error) error {
	if f, ok := err.(*FieldError); ok && c != nil { //nolint:errorlint // only the outermost layer is ours
		return within(c.name, f)
	}
	return err
}

// Decode reads the primitive of an object whose struct is X.
func Decode[X any, P interface {
	*X
	Object
}](r *Registry, data []byte) (P, error) {
	c, err := r.classOfType(reflect.TypeFor[X]())
	if err != nil {
		return nil, err
	}
	d := newDecoder(r, data)
	o, err := d.objectOf(c)
	if err == nil {
		err = d.r.End()
	}
	if err != nil {
		return nil, rooted(c, err)
	}
	return as[X](o), nil
}

// DecodeList reads a JSON list of primitives of objects whose struct is X.
func DecodeList[X any, P interface {
	*X
	Object
}](r *Registry, data []byte) ([]P, error) {
	c, err := r.classOfType(reflect.TypeFor[X]())
	if err != nil {
		return nil, err
	}
	d := newDecoder(r, data)
	list := []P{}
	more, err := d.r.BeginArray()
	for ; more && err == nil; more, err = d.r.NextElement() {
		o, err := d.objectOf(c)
		if err != nil {
			return nil, within(index(len(list)), err)
		}
		list = append(list, as[X](o))
	}
	if err == nil {
		err = d.r.End()
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// decoder reads one document.
type decoder struct {
	r      pyjson.Reader
	reg    *Registry
	keys   *spaceKeys // of the namespace being read
	space  Namespace
	serial *entities // nil where objects are read as they are
	buf    [64]byte
	shared [128]string
}

func newDecoder(r *Registry, data []byte) *decoder {
	d := &decoder{reg: r, keys: r.keys, space: r.namespace}
	d.r.Reset(data)
	return d
}

// text reads a string; the result is valid until the next read. What is no string answers errSlow.
func (d *decoder) text() ([]byte, error) {
	if d.r.Peek() != pyjson.String {
		return nil, errSlow
	}
	return d.r.ReadText(d.buf[:0])
}

// key reads the key of a member.
func (d *decoder) key() (string, error) {
	key, err := d.r.ReadKeyText(d.buf[:0])
	if err != nil {
		return "", err
	}
	return d.share(key), nil
}

// share returns text as a string and gives the same string again while it is remembered: reports repeat vendor ids, host names and keys thousands of
// times. Nothing refers to the document, which may be large.
func (d *decoder) share(text []byte) string {
	if len(text) > longestShared {
		return string(text)
	}
	s := &d.shared[shareHash(text)%uint64(len(d.shared))]
	if *s != string(text) {
		*s = string(text)
	}
	return *s
}

// longestShared is the size of the longest strings that are worth remembering; a UUID is one.
const longestShared = 40

// shareHash spreads texts over the table; both ends of a text usually tell it from others.
func shareHash(text []byte) uint64 {
	h := uint64(len(text))
	if len(text) < 8 {
		for _, c := range text {
			h = h<<8 ^ h>>56 ^ uint64(c)
		}
	} else {
		h ^= binary.LittleEndian.Uint64(text) ^ binary.LittleEndian.Uint64(text[len(text)-8:])<<1
	}
	return h * 0x9e3779b97f4a7c15 >> 32
}

// slow goes back to where a container started if one of its elements has no short way.
func (d *decoder) slow(saved pyjson.Reader, err error) error {
	if f, ok := err.(*FieldError); ok && f.Err == errSlow { //nolint:errorlint // made by the caller
		d.r = saved
		return errSlow
	}
	return err
}

// value reads the next value into the value model.
func (d *decoder) value() (any, error) {
	switch d.r.Peek() {
	case pyjson.Null:
		return nil, d.r.ReadNull()
	case pyjson.Bool:
		return d.r.ReadBool()
	case pyjson.Number:
		return d.number()
	case pyjson.String:
		text, err := d.text()
		if err != nil {
			return nil, err
		}
		return d.share(text), nil
	case pyjson.Array:
		return d.list(d.value)
	case pyjson.Object:
		return d.dict(d.value)
	}
	return nil, d.r.Skip() // tells what is wrong
}

func (d *decoder) number() (any, error) {
	text, integer, err := d.r.ReadNumber()
	if err != nil {
		return nil, err
	}
	if !integer {
		return pyjson.ParseFloat(text), nil
	}
	if v, ok := pyjson.ParseInt(text); ok {
		return v, nil
	}
	if len(text) > maxDigits+1 || len(text) == maxDigits+1 && text[0] != '-' {
		return nil, &ValueError{fmt.Sprintf("Exceeds the limit (%d digits) for integer string conversion", maxDigits)}
	}
	i, _ := new(big.Int).SetString(string(text), 10)
	return i, nil
}

// list reads an array with read for its elements.
func (d *decoder) list(read func() (any, error)) (any, error) {
	list := []any{}
	more, err := d.r.BeginArray()
	for ; more && err == nil; more, err = d.r.NextElement() {
		v, err := read()
		if err != nil {
			return nil, within(index(len(list)), err)
		}
		list = append(list, v)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// dict reads an object as a dict with read for its values.
func (d *decoder) dict(read func() (any, error)) (any, error) {
	dict := &Dict{}
	more, err := d.r.BeginObject()
	for ; more && err == nil; more, err = d.r.NextMember() {
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		if _, twice := dict.Get(key); twice {
			return nil, &pyjson.DuplicateKeyError{Key: key}
		}
		v, err := read()
		if err != nil {
			return nil, within("["+key+"]", err)
		}
		if err := dict.Set(key, v); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return dict, nil
}
