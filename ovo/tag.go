package ovo

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// tag is what stands in the struct tag of a cell: `ovo:"name[,WireType][,plain][,naive][,of=CLASS][,default=TEXT]"`.
type tag struct {
	name       string
	wire       string // name of the wire type, "" for the Go type's usual one
	plain      bool   // an enum that does not print its values
	naive      bool   // a DateTime that drops the zone
	of         string // class of an Object cell
	hasDefault bool
	def        string // Python's str() of the default; may hold commas
}

// parseTag reads a tag. The default comes last because its text may hold anything.
func parseTag(text string) (tag, error) {
	head, def, hasDefault := strings.Cut(text, ",default=")
	parts := strings.Split(head, ",")
	t := tag{name: parts[0], hasDefault: hasDefault, def: def}
	if t.name == "" || strings.ContainsAny(t.name, " \t\"\\") {
		return tag{}, fmt.Errorf("tag %q: a field name comes first", text)
	}
	for _, part := range parts[1:] {
		switch {
		case part == "plain":
			t.plain = true
		case part == "naive":
			t.naive = true
		case strings.HasPrefix(part, "of="):
			t.of = part[len("of="):]
		case part == "" || strings.Contains(part, "="):
			return tag{}, fmt.Errorf("tag %q: unknown part %q", text, part)
		case t.wire != "":
			return tag{}, fmt.Errorf("tag %q: two wire types, %s and %s", text, t.wire, part)
		default:
			t.wire = part
		}
	}
	return t, nil
}

// defaultValue turns the text of a default into a value that the field's type takes: a Python literal where it is one, and the text itself for
// fields of text.
func (t *tag) defaultValue(spec *TypeSpec, nullable bool) any {
	v, err := parseLiteral(t.def)
	if err != nil || isText(spec) && (v != nil || !nullable) {
		return t.def
	}
	return v
}

// isText tells whether the values of a wire type are strings.
func isText(spec *TypeSpec) bool {
	if spec.Values.list != nil {
		return true
	}
	switch spec.Name {
	case "String", "SensitiveString", "UUID", "VersionPredicate", "MACAddress", "PCIAddress":
		return true
	}
	return false
}

// declaration is a cell of a struct as a field: what the Go type and the tag say about it.
type declaration struct {
	tag
	cellInfo
	offset, state uintptr // of the cell and of the state in it
	list          bool    // the objects of an embedded List
}

// declarations finds the cells of struct type t, in wire order: own cells first, then those of embedded structs in their order. An inherited cell whose name is
// taken already is left out, as in Python.
func declarations(t reflect.Type) (fields []declaration, baseOffset uintptr, err error) {
	w := walker{outer: t, taken: map[string]bool{}}
	w.walk(t, 0)
	if !w.hasBase {
		w.errs = append(w.errs, fmt.Errorf("%s embeds no ovo.Base", t))
	}
	return w.fields, w.base, errors.Join(w.errs...)
}

type walker struct {
	outer   reflect.Type
	fields  []declaration
	taken   map[string]bool
	base    uintptr
	hasBase bool
	errs    []error
}

func (w *walker) fail(format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf(format, args...))
}

func (w *walker) walk(t reflect.Type, offset uintptr) {
	var embedded []reflect.StructField
	own := map[string]bool{}
	for f := range t.Fields() {
		switch {
		case f.Anonymous:
			if l, ok := reflect.TypeAssert[listCell](reflect.New(f.Type)); ok && f.Type.Kind() == reflect.Struct && f.Type.NumField() == 2 {
				w.list(f, l, offset+f.Offset)
				continue
			}
			embedded = append(embedded, f)
		default:
			w.cell(t, f, offset+f.Offset, own)
		}
	}
	for _, f := range embedded {
		switch {
		case f.Type == reflect.TypeFor[Base]():
			if w.hasBase {
				w.fail("%s embeds ovo.Base twice", w.outer)
			}
			w.base, w.hasBase = offset+f.Offset, true
		case f.Type.Kind() == reflect.Struct:
			w.walk(f.Type, offset+f.Offset)
		default:
			w.fail("%s.%s: only structs can be embedded", t, f.Name)
		}
	}
}

func (w *walker) cell(t reflect.Type, f reflect.StructField, offset uintptr, own map[string]bool) {
	text, tagged := f.Tag.Lookup("ovo")
	c, isCell := reflect.TypeAssert[cell](reflect.New(f.Type))
	switch {
	case !tagged && !isCell:
		return
	case !tagged:
		w.fail("%s.%s: a cell needs a tag with its wire name", t, f.Name)
		return
	case !isCell:
		w.fail("%s.%s: tagged, but %s is not a cell", t, f.Name, f.Type)
		return
	}
	tag, err := parseTag(text)
	if err != nil {
		w.fail("%s.%s: %w", t, f.Name, err)
		return
	}
	if own[tag.name] {
		w.fail("%s.%s: name %s is used twice", t, f.Name, tag.name)
		return
	}
	own[tag.name] = true
	info := c.cell()
	state, err := checkCell(f.Type, info.value)
	if err == nil {
		err = checkRange(w.outer, offset, f.Type)
	}
	if err != nil {
		w.fail("%s.%s: %w", t, f.Name, err)
		return
	}
	w.add(declaration{tag: tag, cellInfo: info, offset: offset, state: state})
}

func (w *walker) list(f reflect.StructField, l listCell, offset uintptr) {
	info := cellInfo{value: reflect.SliceOf(reflect.PointerTo(l.members()))}
	state, err := checkCell(f.Type, info.value)
	if err == nil {
		err = checkRange(w.outer, offset, f.Type)
	}
	if err != nil {
		w.fail("%s.%s: %w", w.outer, f.Name, err)
		return
	}
	w.add(declaration{tag: tag{name: objectsField}, cellInfo: info, offset: offset, state: state, list: true})
}

// objectsField is the name of the field that holds the members of a list object.
const objectsField = "objects"

func (w *walker) add(d declaration) {
	if !w.taken[d.name] {
		w.taken[d.name] = true
		w.fields = append(w.fields, d)
	}
}
