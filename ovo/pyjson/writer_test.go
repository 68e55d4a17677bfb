package pyjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

func TestAppendString(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                           `""`,
		"plain text, longer than 16": `"plain text, longer than 16"`,
		"<a href='x'>&</a>":          `"<a href='x'>&</a>"`,
		"\"\\/\b\f\n\r\t":            `"\"\\/\b\f\n\r\t"`,
		"\x00\x1f\x7f":               `"\u0000\u001f\u007f"`,
		"abcdefg\x7fabcdefgh":        `"abcdefg\u007fabcdefgh"`,
		"é\u2028€":                   `"\u00e9\u2028\u20ac"`,
		"12345678😀":                  `"12345678\ud83d\ude00"`,
		"\ufffd":                     `"\ufffd"`,
	} {
		got, err := pyjson.AppendString([]byte("x"), s)
		if err != nil || string(got) != "x"+want {
			t.Errorf("%q: got %s, %v; want x%s", s, got, err, want)
		}
	}
	for _, s := range []string{"a\xff", "\xed\xa0\x80"} {
		got, err := pyjson.AppendString([]byte("keep"), s)
		var bad *pyjson.TextError
		if !errors.As(err, &bad) || string(got) != "keep" {
			t.Errorf("%q: got %s, %v; want a TextError and nothing written", s, got, err)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]float64{
		"0.0": 0, "-0.0": math.Copysign(0, -1), "1.0": 1, "-1.5": -1.5, "0.0001": 1e-4, "1e-05": 1e-5, "1e+16": 1e16, "1000000000000000.0": 1e15,
		"1.2345678901234567e+19": 12345678901234567000, "5e-324": 5e-324, "1.7976931348623157e+308": math.MaxFloat64, "0.1": 0.1, "1e+100": 1e100,
		"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "123456.789": 123456.789,
	} {
		if got := string(pyjson.AppendFloat(nil, f)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzReader compares with encoding/json on everything that encoding/json takes, and checks that reading, skipping and reading again agree.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"a": [1, -2.5e3, NaN, null, true, "x\u00e9\ud83d\ude00"], "a": {}}`, `[[]]`, `"\ud800"`, `1e999`, "\"\xff\"", `{"k":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := pyjson.NewReader(data)
		_, err := read(r)
		if err == nil {
			err = r.End()
		}
		skip := pyjson.NewReader(data)
		skipErr := skip.Skip()
		if skipErr == nil {
			skipErr = skip.End()
		}
		var text *pyjson.TextError
		if (err == nil) != (skipErr == nil) && !errors.As(err, &text) {
			t.Fatalf("read says %v, skip says %v", err, skipErr)
		}
		if json.Valid(data) && skipErr != nil && !errors.Is(skipErr, pyjson.ErrDepth) {
			t.Fatalf("valid JSON refused: %v", skipErr)
		}
	})
}

// FuzzString checks that a written string reads back and that encoding/json reads the same.
func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "plain", "é😀\x7f\x00\"\\", "abcdefgh\nabcdefgh"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lit, err := pyjson.AppendString(nil, s)
		if err != nil {
			if _, ok := errors.AsType[*pyjson.TextError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		got, err := pyjson.NewReader(lit).ReadString()
		if err != nil || got != s {
			t.Fatalf("%s reads as %q, %v; want %q", lit, got, err, s)
		}
		var std string
		if err := json.Unmarshal(lit, &std); err != nil || std != s {
			t.Fatalf("encoding/json reads %s as %q, %v", lit, std, err)
		}
	})
}
