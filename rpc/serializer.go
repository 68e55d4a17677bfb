package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// Serializer turns one argument or one result into JSON and back, as oslo.messaging's serializers do for one entity at a
// time. The context carries the request context (see [RequestOf]). Implementations are safe for concurrent use; the bytes
// that Serialize returns are copied by the caller before anything else happens, those given to Deserialize are only valid
// during the call.
type Serializer interface {
	Serialize(ctx context.Context, v any) (json.RawMessage, error)
	// Deserialize stores the value in *v, which has the type of the argument or the result.
	Deserialize(ctx context.Context, raw json.RawMessage, v any) error
}

// JSON is the default serializer: encoding/json, except that numbers decoded into an any stay exact as [json.Number], and that
// a string that is a whole argument or result takes a shorter way and is written in ASCII, as Python writes it.
type JSON struct{}

// Serialize implements [Serializer].
func (JSON) Serialize(_ context.Context, v any) (json.RawMessage, error) {
	if s, ok := v.(string); ok {
		if raw, err := pyjson.AppendString(make([]byte, 0, len(s)+2), s); err == nil {
			return raw, nil
		}
	}
	return json.Marshal(v)
}

// Deserialize implements [Serializer].
func (JSON) Deserialize(_ context.Context, raw json.RawMessage, v any) error {
	if s, ok := v.(*string); ok {
		if text, ok := wire.Text(raw); ok {
			*s = text
			return nil
		}
	}
	if t := reflect.TypeOf(v); t != nil && t.Kind() == reflect.Pointer && isScalar(t.Elem()) {
		return json.Unmarshal(raw, v)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}

// maxNesting is how deep isScalar looks into a type. One that contains itself, as type T []T, has no end.
const maxNesting = 8

// isScalar reports whether t certainly holds no any, in which a number would lose digits; for those the cheaper decoder
// does.
func isScalar(t reflect.Type) bool {
	for range maxNesting {
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
			t = t.Elem()
		case reflect.Interface, reflect.Struct:
			return false
		default:
			return true
		}
	}
	return false
}

// Null is the result of a method that returns nothing: JSON null. It never passes through a [Serializer], and a client that
// expects Null ignores what it gets.
type Null struct{}
