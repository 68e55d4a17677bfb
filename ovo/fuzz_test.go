package ovo

import (
	"bytes"
	"context"
	"testing"
)

// fuzzSpace is a registry of the recorded classes and texts of their objects to start from.
func fuzzSpace(f *testing.F) (*Registry, []string) {
	f.Helper()
	t := &testing.T{}
	space := newVectorSpace(t, cyborgSpace(), items(at(loadVectors(t, "classes.json"), "cases")))
	var texts []string
	for _, c := range items(at(loadVectors(t, "primitives.json"), "cases")) {
		if s := text(c, "json"); s != "" {
			texts = append(texts, s)
		}
	}
	return space.Registry, texts
}

// FuzzPrimitive reads any text: no panic, and what was read is written and read again without a difference.
func FuzzPrimitive(f *testing.F) {
	r, texts := fuzzSpace(f)
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := r.Decode(data)
		if err != nil {
			return
		}
		first, err := r.Append(nil, o)
		if err != nil {
			// A zone that was read cannot fail to be written, and nothing else can be read that has no text.
			t.Fatalf("%s was read but cannot be written: %v", data, err)
		}
		again, err := r.Decode(first)
		if err != nil {
			t.Fatalf("%s is written as %s, which cannot be read: %v", data, first, err)
		}
		second, err := r.Append(nil, again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s, then %s (%v)", first, second, err)
		}
	})
}

// FuzzSerializer does the same for arbitrary containers.
func FuzzSerializer(f *testing.F) {
	r, texts := fuzzSpace(f)
	for _, s := range texts {
		f.Add([]byte(`{"a": [` + s + `, 1.5, null]}`))
	}
	s := Serializer{Registry: r}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := s.Decode(context.Background(), data)
		if err != nil {
			return
		}
		first, err := s.Append(nil, v)
		if err != nil {
			t.Fatalf("%s was read but cannot be written: %v", data, err)
		}
		again, err := s.Decode(context.Background(), first)
		if err != nil {
			t.Fatalf("%s is written as %s, which cannot be read: %v", data, first, err)
		}
		second, err := s.Append(nil, again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s, then %s (%v)", first, second, err)
		}
	})
}

// FuzzSignature parses any def line; what parses has a text.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{"m(self, a, b=None, *args, c: int = 1, **kw) -> str", "get(cls, context)", "m(self, a='),', /)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := parseSignature(line); err == nil && s.spec() == "" {
			t.Fatal("no text")
		}
		if v, err := parseLiteral(line); err == nil {
			if _, isSet := v.(*Set); isSet {
				return
			}
			again, err := parseLiteral(pyRepr(v))
			if err != nil && pyRepr(v) != "inf" && pyRepr(v) != "-inf" {
				t.Fatalf("%q reads as %s, which does not: %v", line, pyRepr(v), err)
			}
			_ = again
		}
	})
}

// FuzzTag parses any struct tag.
func FuzzTag(f *testing.F) {
	for _, s := range []string{"name,UUID,plain,naive,of=X,default=a,b", "x", ",", "a,=,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := parseTag(text)
		if err == nil && tag.name == "" {
			t.Fatalf("%q has no name", text)
		}
	})
}

// FuzzVersion compares any two versions: both orders agree, and a version equals itself.
func FuzzVersion(f *testing.F) {
	for _, v := range [][2]string{{"1.0", "1.10"}, {"1!2.3rc1.post2.dev3+local.1", "v1.2"}, {"1.2.0", "1.2"}, {"x", ""}} {
		f.Add(v[0], v[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		_, _ = parseTuple(a)
		x, errA := parseRelease(a)
		y, errB := parseRelease(b)
		if errA != nil || errB != nil {
			return
		}
		if x.compare(y) != -y.compare(x) || x.compare(x) != 0 {
			t.Fatalf("%s against %s: %d and %d", a, b, x.compare(y), y.compare(x))
		}
	})
}
