package pyjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// read builds the plain Go value of the next value, integers and floats apart.
func read(r *pyjson.Reader) (any, error) {
	switch r.Peek() {
	case pyjson.Null:
		return nil, r.ReadNull()
	case pyjson.Bool:
		return r.ReadBool()
	case pyjson.String:
		return r.ReadString()
	case pyjson.Number:
		text, integer, err := r.ReadNumber()
		if err != nil {
			return nil, err
		}
		if i, ok := pyjson.ParseInt(text); integer && ok {
			return i, nil
		}
		return pyjson.ParseFloat(text), nil
	case pyjson.Array:
		list := []any{}
		more, err := r.BeginArray()
		for ; more && err == nil; more, err = r.NextElement() {
			v, err := read(r)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, err
	}
	dict := map[string]any{}
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		key, err := r.ReadKey()
		if err != nil {
			return nil, err
		}
		if dict[key], err = read(r); err != nil {
			return nil, err
		}
	}
	return dict, err
}

func readAll(text string) (any, error) {
	r := pyjson.NewReader([]byte(text))
	v, err := read(r)
	if err != nil {
		return nil, err
	}
	return v, r.End()
}

func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		` null `:                        nil,
		"\t\r\n true":                   true,
		`false`:                         false,
		`0`:                             int64(0),
		`-0`:                            int64(0),
		`-12`:                           int64(-12),
		`9223372036854775807`:           int64(math.MaxInt64),
		`-9223372036854775808`:          int64(math.MinInt64),
		`9223372036854775808`:           float64(1 << 63),
		`1.0`:                           1.0,
		`1e2`:                           100.0,
		`1E-2`:                          0.01,
		`1e999`:                         math.Inf(1),
		`Infinity`:                      math.Inf(1),
		`-Infinity`:                     math.Inf(-1),
		`""`:                            "",
		`"abcdefghijklmnopqrstuvwxyz"`:  "abcdefghijklmnopqrstuvwxyz",
		`"a\"b\\c\/d\b\f\n\r\t\u00e9é"`: "a\"b\\c/d\b\f\n\r\téé",
		`"\ud83d\ude00"`:                "😀",
		"\"\x7f\"":                      "\x7f",
		`[]`:                            []any{},
		`[ 1 , [ ] ,"x"]`:               []any{int64(1), []any{}, "x"},
		`{ }`:                           map[string]any{},
		`{"a":1, "b" : {"c":null}}`:     map[string]any{"a": int64(1), "b": map[string]any{"c": nil}},
	} {
		got, err := readAll(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", text, got, err, want)
		}
	}
	if v, err := readAll("NaN"); err != nil || !math.IsNaN(v.(float64)) {
		t.Errorf("NaN: got %v, %v", v, err)
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for text, offset := range map[string]int{
		``:              0,
		`nul`:           0,
		`[1,]`:          3,
		`[1 2]`:         3,
		`{"a":1,}`:      7,
		`{"a" 1}`:       5,
		`{a:1}`:         1,
		`01`:            0,
		`-`:             0,
		`+1`:            0,
		`1.`:            1,
		`.5`:            0,
		`1e`:            1,
		`1 2`:           2,
		`"abc`:          4,
		`"\x"`:          1,
		`"\u12g4"`:      1,
		"\"tab\there\"": 4,
		`'a'`:           0,
		`[`:             1,
		`{"a":`:         5,
	} {
		_, err := readAll(text)
		var syntax *pyjson.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%s: error %v, want a SyntaxError at %d", text, err, offset)
		}
		if json.Valid([]byte(text)) {
			t.Errorf("%s: encoding/json takes it", text)
		}
	}
}

func TestTextErrors(t *testing.T) {
	t.Parallel()
	for text, offset := range map[string]int{
		`"\ud800"`:            1,
		`"ab\ud800c"`:         3,
		`"\ude00\ud83d"`:      1,
		`"\ud83d\ud83d"`:      1,
		"\"a\xffb\"":          1,
		"\"\\n\xed\xa0\x80\"": 3,
	} {
		_, err := readAll(text)
		var bad *pyjson.TextError
		if !errors.As(err, &bad) || bad.Offset != offset {
			t.Errorf("%q: error %v, want a TextError at %d", text, err, offset)
		}
		raw, err := pyjson.NewReader([]byte(" " + text + " ")).ReadRaw()
		if err != nil || string(raw) != text {
			t.Errorf("%q: raw %q, %v; half a pair must pass", text, raw, err)
		}
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	nest := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2) }
	if _, err := readAll(nest(pyjson.MaxDepth)); err != nil {
		t.Errorf("%d levels: %v", pyjson.MaxDepth, err)
	}
	for _, n := range []int{pyjson.MaxDepth + 2, 10_000} {
		if _, err := readAll(nest(n)); !errors.Is(err, pyjson.ErrDepth) {
			t.Errorf("%d levels: %v, want ErrDepth", n, err)
		}
		if err := pyjson.NewReader([]byte(nest(n))).Skip(); !errors.Is(err, pyjson.ErrDepth) {
			t.Errorf("skip %d levels: %v, want ErrDepth", n, err)
		}
	}
	wide := "[" + strings.Repeat("[],", 1000) + "[]]"
	if err := pyjson.NewReader([]byte(wide)).Skip(); err != nil {
		t.Errorf("siblings must not add up: %v", err)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	r := pyjson.NewReader([]byte(`{"k": [1]}`))
	if r.Accept(`{"x`) || r.Offset() != 0 {
		t.Fatal("accepted other text")
	}
	if !r.Accept(`{"k": [`) {
		t.Fatal("did not accept the text that follows")
	}
	if err := r.Descend(2); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.ReadNumber(); err != nil || !r.Accept(`]}`) {
		t.Fatalf("rest: %v", err)
	}
	r.Ascend(2)
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if err := r.Descend(pyjson.MaxDepth + 1); !errors.Is(err, pyjson.ErrDepth) {
		t.Fatalf("descend: %v", err)
	}
}

func TestSliceCannotReachTheDocument(t *testing.T) {
	t.Parallel()
	doc := []byte(`["ab", "cd"]`)
	keep := bytes.Clone(doc)
	r := pyjson.NewReader(doc)
	if _, err := r.BeginArray(); err != nil {
		t.Fatal(err)
	}
	text, err := r.ReadText(nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(text, "overwrite"...)
	if !bytes.Equal(doc, keep) {
		t.Fatalf("append to a text changed the document: %s", doc)
	}
}
