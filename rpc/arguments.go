package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// argumentPlan is how the arguments of a method map to a Go type: a struct, or a map for arbitrary names.
type argumentPlan struct {
	fields []argument // nil for a map
	byName map[string]int
	isMap  bool
}

type argument struct {
	name     string
	key      []byte // `"name": `
	optional func(reflect.Value) bool
}

// maxArguments is the width of the bookkeeping of missing arguments.
const maxArguments = 64

func planArguments(t reflect.Type) (*argumentPlan, error) {
	switch {
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return &argumentPlan{isMap: true}, nil
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s is neither a struct nor a map with string keys", t)
	case t.NumField() > maxArguments:
		return nil, fmt.Errorf("%s has more than %d fields", t, maxArguments)
	}
	p := &argumentPlan{fields: make([]argument, t.NumField()), byName: map[string]int{}}
	for i := range p.fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		_, taken := p.byName[name]
		switch {
		case f.Anonymous, !f.IsExported(), name == "", name == "-":
			return nil, fmt.Errorf("field %s of %s must be exported, not embedded, and have a json tag with the argument's name", f.Name, t)
		case taken:
			return nil, fmt.Errorf("%s names the argument %s twice", t, name)
		}
		key, err := pyjson.AppendString(nil, name)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", name, err)
		}
		p.byName[name] = i
		p.fields[i] = argument{name: name, key: append(key, pyjson.KeySeparator...), optional: absence(options)}
	}
	return p, nil
}

// absence gives the test that the options of a json tag ask for, nil if the argument is always sent.
func absence(options string) func(reflect.Value) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			return isEmpty
		case "omitzero":
			return isZero
		}
	}
	return nil
}

// isEmpty is encoding/json's meaning of omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// isZero is encoding/json's meaning of omitzero.
func isZero(v reflect.Value) bool {
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}

// encode gives the arguments as a JSON object.
func (p *argumentPlan) encode(ctx context.Context, s Serializer, args reflect.Value) ([]byte, error) {
	b := make([]byte, 1, 256)
	b[0] = '{'
	var err error
	if p.isMap {
		if b, err = encodeMap(ctx, s, args, b); err != nil {
			return nil, err
		}
		return append(b, '}'), nil
	}
	for i := range p.fields {
		f, v := &p.fields[i], args.Field(i)
		if f.optional != nil && f.optional(v) {
			continue
		}
		if len(b) > 1 {
			b = append(b, pyjson.ItemSeparator...)
		}
		b = append(b, f.key...)
		if b, err = appendSerialized(ctx, s, f.name, v, b); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func encodeMap(ctx context.Context, s Serializer, args reflect.Value, b []byte) ([]byte, error) {
	keys := args.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	for i, key := range keys {
		if i > 0 {
			b = append(b, pyjson.ItemSeparator...)
		}
		var err error
		if b, err = pyjson.AppendString(b, key.String()); err != nil {
			return nil, fmt.Errorf("argument %q: %w", key, err)
		}
		b = append(b, pyjson.KeySeparator...)
		if b, err = appendSerialized(ctx, s, key.String(), args.MapIndex(key), b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendSerialized(ctx context.Context, s Serializer, name string, v reflect.Value, b []byte) ([]byte, error) {
	raw, err := s.Serialize(ctx, v.Interface())
	if err == nil && len(raw) == 0 {
		err = errors.New("the serializer gave nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", name, err)
	}
	return append(b, raw...), nil
}

// decode reads the arguments of a request. Python's order of complaints: values that cannot be decoded, unknown names,
// missing names.
func (p *argumentPlan) decode(ctx context.Context, s Serializer, method string, raw json.RawMessage, args reflect.Value) error {
	if p.isMap {
		return decodeMap(ctx, s, method, raw, args)
	}
	var (
		present uint64
		unknown string
		failed  error
		r       pyjson.Reader
		buf     [64]byte
	)
	r.Reset(raw)
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		var key, value []byte
		if key, err = r.ReadKeyText(buf[:0]); err != nil {
			break
		}
		i, known := p.byName[string(key)]
		if !known && unknown == "" {
			unknown = string(key)
		}
		if value, err = r.ReadRaw(); err != nil {
			break
		}
		if !known || failed != nil {
			continue
		}
		present |= 1 << i
		failed = s.Deserialize(ctx, value, args.Field(i).Addr().Interface())
		if failed != nil {
			failed = &argumentError{method, p.fields[i].name, failed}
		}
	}
	switch {
	case err != nil:
		return &argumentError{method, "args", err}
	case failed != nil:
		return failed
	case unknown != "":
		return badArguments("%s() got an unexpected keyword argument %s", method, wire.Repr(unknown))
	}
	return p.complain(method, present)
}

// complain reports the arguments that are missing, as Python does.
func (p *argumentPlan) complain(method string, present uint64) error {
	var missing []string
	for i := range p.fields {
		if present&(1<<i) == 0 && p.fields[i].optional == nil {
			missing = append(missing, "'"+p.fields[i].name+"'")
		}
	}
	n := len(missing)
	switch n {
	case 0:
		return nil
	case 1:
		return badArguments("%s() missing 1 required positional argument: %s", method, missing[0])
	case 2:
		return badArguments("%s() missing 2 required positional arguments: %s and %s", method, missing[0], missing[1])
	default:
		return badArguments("%s() missing %d required positional arguments: %s, and %s", method, n,
			strings.Join(missing[:n-1], ", "), missing[n-1])
	}
}

func decodeMap(ctx context.Context, s Serializer, method string, raw json.RawMessage, args reflect.Value) error {
	members, err := wire.Members(raw)
	if err != nil {
		return &argumentError{method, "args", err}
	}
	args.Set(reflect.MakeMapWithSize(args.Type(), len(members)))
	for _, m := range members {
		v := reflect.New(args.Type().Elem())
		if err := s.Deserialize(ctx, m.Value, v.Interface()); err != nil {
			return &argumentError{method, m.Key, err}
		}
		args.SetMapIndex(reflect.ValueOf(m.Key).Convert(args.Type().Key()), v.Elem())
	}
	return nil
}

func badArguments(format string, values ...any) error {
	return &refusal{&RemoteError{Class: ErrBadArguments, Message: fmt.Sprintf(format, values...)}}
}

// argumentError says that the value of an argument cannot be decoded. Unless the cause has a row in the exception table, the
// caller sees a ValueError.
type argumentError struct {
	method, argument string
	cause            error
}

func (e *argumentError) Error() string {
	text := strings.TrimPrefix(e.cause.Error(), "json: ")
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](e.cause); ok { // whose text names a Go type
		article := "a "
		if strings.HasPrefix(wrongType.Value, "array") || strings.HasPrefix(wrongType.Value, "object") {
			article = "an "
		}
		text = article + wrongType.Value + " does not fit"
	}
	return fmt.Sprintf("%s(): argument %s: %s", e.method, wire.Repr(e.argument), text)
}

func (e *argumentError) Unwrap() error { return e.cause }
