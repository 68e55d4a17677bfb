package ovo_test

import (
	"fmt"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
)

// outers are objects with an object and two more in a list each.
func outers(n int) []*outer {
	list := make([]*outer, n)
	for i := range list {
		part := func(name string) *inner {
			return &inner{Name: ovo.Of(name), State: ovo.NullOf("available"), Color: ovo.NullOf(red)}
		}
		list[i] = &outer{
			ID: ovo.Of(int64(i)), Inner: ovo.NullOf(part(fmt.Sprintf("inner-%d", i))), Extra: ovo.NullOf("extra"),
			Inners: ovo.Of([]*inner{part("a"), part("b")}),
		}
	}
	return list
}

const fieldsOfOuter = 4 + 3*3

func BenchmarkDecode(b *testing.B) {
	r := newRegistry(b)
	data, err := ovo.AppendList(r, nil, outers(100))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ovo.DecodeList[outer](r, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r, list := newRegistry(b), outers(100)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = ovo.AppendList(r, out[:0], list); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(out)))
}

func BenchmarkBacklevel(b *testing.B) {
	r, list := newRegistry(b), ovo.ListOf[outerList](outers(100))
	m := ovo.Manifest{"OuterList": "1.0", "Outer": "1.2", "Inner": "1.0"}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = r.AppendAt(out[:0], list, "1.0", m); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(out)))
}

// Reading costs at most one allocation for a set field, and writing none: change marks and presence cost nothing.
func TestAllocations(t *testing.T) {
	r, list := newRegistry(t), outers(100)
	data, err := ovo.AppendList(r, nil, list)
	if err != nil {
		t.Fatal(err)
	}
	reading := testing.AllocsPerRun(20, func() {
		if _, err := ovo.DecodeList[outer](r, data); err != nil {
			t.Fatal(err)
		}
	})
	if most := float64(100 * fieldsOfOuter); reading > most {
		t.Errorf("%v allocations to read %v fields", reading, most)
	}
	writing := testing.AllocsPerRun(20, func() {
		if data, err = ovo.AppendList(r, data[:0], list); err != nil {
			t.Fatal(err)
		}
	})
	if writing > 2 {
		t.Errorf("%v allocations to write", writing)
	}
}
