package ovo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
)

// FuzzShortWay reads any text as a struct, where the decoder expects the usual text, and as an object of any class, where it does not: both give the same,
// and so does the text with other spacing.
func FuzzShortWay(f *testing.F) {
	r := newRegistry(f)
	for _, o := range []ovo.Object{full13(), &outer{}, outers(1)[0]} {
		f.Add([]byte(text(f, r, o)))
	}
	f.Add([]byte(envelope("Outer", "1.3", `"id": "5", "when": "2026-03-04T05:06:07Z", "z": [1], "inner": null, "inners": [`+envelope("Inner", "1.1", `"name": 1`)+`]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		short, shortErr := ovo.Decode[outer](r, data)
		long, err := r.Decode(data)
		if o, ok := long.(*outer); err == nil && !ok {
			return
		} else if (shortErr == nil) != (err == nil) {
			t.Fatalf("short way: %v, long way: %v", shortErr, err)
		} else if err != nil {
			return
		} else if a, b := text(t, r, short), text(t, r, o); a != b {
			t.Fatalf("short way: %s, long way: %s", a, b)
		}
		spaced, err := r.Decode([]byte(strings.ReplaceAll(string(data), `": `, `" :`)))
		if err != nil {
			return // the text was inside a string
		}
		if a, b := text(t, r, short), text(t, r, spaced); a != b && !strings.Contains(string(data), `\"`) && json.Valid(data) {
			t.Fatalf("usual spacing: %s, other spacing: %s", a, b)
		}
	})
}

// FuzzBacklevel writes any object that can be read at every version: an error or a text that reads again at that version.
func FuzzBacklevel(f *testing.F) {
	r := newRegistry(f)
	f.Add([]byte(text(f, r, full13())), "1.1", "1.0")
	f.Add([]byte(text(f, r, ovo.ListOf[outerList](outers(2)))), "1.0", "1.2")
	f.Fuzz(func(t *testing.T, data []byte, target, part string) {
		o, err := r.Decode(data)
		if err != nil {
			return
		}
		for _, m := range []ovo.Manifest{nil, {"Outer": target, "Inner": part}} {
			got, err := r.AppendAt(nil, o, target, m)
			if err != nil {
				continue
			}
			if !json.Valid(got) && !strings.Contains(string(got), "NaN") && !strings.Contains(string(got), "Infinity") {
				t.Fatalf("not JSON: %s", got)
			}
		}
	})
}
