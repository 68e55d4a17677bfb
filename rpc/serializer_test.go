package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/go-cyborg/cyborg/rpc"
)

// plainly decodes with encoding/json alone, as JSON does for every type that has no shorter way.
func plainly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the value")
	}
	return nil
}

// compareDecoders decodes raw both ways and demands the same value, or two refusals.
func compareDecoders[T comparable](t *testing.T, raw []byte) {
	t.Helper()
	var ours, plain T
	err := rpc.JSON{}.Deserialize(t.Context(), raw, &ours)
	plainErr := plainly(raw, &plain)
	if (err == nil) != (plainErr == nil) {
		t.Errorf("%T %q: %v, encoding/json says %v", ours, raw, err, plainErr)
	}
	if err == nil && ours != plain {
		t.Errorf("%T %q: %#v, encoding/json gives %#v", ours, raw, ours, plain)
	}
}

// FuzzJSON: the shorter ways of JSON accept what encoding/json accepts and give the same values.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`"abc"`, `"abc" x`, `"abc""d"`, `"abc" `, "\t\"abc\"\n", `"\u2028\u2029"`, "\"\u2028\"", `"\ud800"`, `"\ud800\udc00"`, `"\udc00\ud800"`,
		`"\ud800x"`, `"\ud800\u0041"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"a\xc3\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\"", `"\u0000"`, `"\/\b\f\n\r\t\"\\"`, `"\'"`, `"\x41"`,
		`"\u12"`, `"`, `"a`, `""`, `null`, `nul`, ` null `, `1`, `1 2`, `-0`, `1e3`, `1.0`, `01`, `NaN`, `Infinity`, `true`, `[]`, `{}`, ``, ` `,
		`18446744073709551616`, `"\ud800" x`, "\"\xff\" x", "\ufeff\"a\"", "\u00a0\"a\"",
	} {
		f.Add([]byte(text), text)
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		compareDecoders[string](t, raw)
		compareDecoders[int64](t, raw)
		compareDecoders[float64](t, raw)
		compareDecoders[bool](t, raw)
		compareDecoders[json.Number](t, raw)
		encoded, err := rpc.JSON{}.Serialize(t.Context(), text)
		plain, plainErr := json.Marshal(text)
		var ours, theirs string
		if err := errors.Join(err, plainErr, plainly(encoded, &ours), plainly(plain, &theirs)); err != nil {
			t.Fatal(err)
		}
		if ours != theirs || utf8.ValidString(text) && ours != text {
			t.Errorf("%q was written as %s, encoding/json writes %s", text, encoded, plain)
		}
		compareDecoders[string](t, encoded)
	})
}

// TestJSONOddTargets: what cannot be decoded into is an error, and a type without end is no trouble.
func TestJSONOddTargets(t *testing.T) {
	t.Parallel()
	var s string
	for _, v := range []any{nil, s, (*string)(nil), (*int)(nil)} {
		if err := (rpc.JSON{}).Deserialize(t.Context(), json.RawMessage(`null`), v); err == nil {
			t.Errorf("%T was decoded into", v)
		}
	}
	type tree map[string]tree
	type list []list
	var a tree
	var b list
	if err := errors.Join(
		rpc.JSON{}.Deserialize(t.Context(), json.RawMessage(`{"x": {"y": {}}}`), &a),
		rpc.JSON{}.Deserialize(t.Context(), json.RawMessage(`[[], [[]]]`), &b),
	); err != nil || len(a["x"]) != 1 || len(b) != 2 {
		t.Errorf("%v, %v, %v", a, b, err)
	}
}

// TestHandlersKeepTheirArguments: arguments and request contexts share no memory with a message that others may get too.
func TestHandlersKeepTheirArguments(t *testing.T) {
	t.Parallel()
	type args struct {
		Text string          `json:"text"`
		Raw  json.RawMessage `json:"raw"`
		Any  any             `json:"any"`
	}
	synctest.Test(t, func(t *testing.T) {
		kept := make(chan args, 1)
		e := rpc.NewEndpoint("", "1.0")
		rpc.NewMethod[args, rpc.Null]("keep", "1.0").Handle(e, func(_ context.Context, a args) (rpc.Null, error) {
			kept <- a
			return rpc.Null{}, nil
		})
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}})
		body := []byte(`{"method": "keep", "args": {"text": "one", "raw": {"k": "v"}, "any": "two"}}`)
		bus.deliver(rpc.Delivery{Body: body})
		a := <-kept
		synctest.Wait()
		for i := range body {
			body[i] = '#'
		}
		same(t, "kept", args{"one", json.RawMessage(`{"k": "v"}`), "two"}, a)
	})
}
