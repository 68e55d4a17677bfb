package ovo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

type node struct {
	ovo.Base
	Next ovo.Null[*node]     `ovo:"next"`
	More ovo.Field[[]*node]  `ovo:"more"`
	At   ovo.Null[time.Time] `ovo:"at"`
}

func nodeClass() *ovo.Class {
	return ovo.NewClass[node]("Node", ovo.History{ovo.V("1.0", ovo.Part("next", "1.0"), ovo.Part("more", "1.0")), ovo.V("1.1", ovo.Part("next", "1.1"), ovo.Part("more", "1.1"))})
}

// An object that is inside itself is refused wherever it is walked; the process lives on.
func TestCycles(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nodeClass())
	for name, link := range map[string]func(n *node){
		"in an object field": func(n *node) { n.Next = ovo.NullStored(&n) },
		"in a list":          func(n *node) { n.More = ovo.Stored([]*node{n}) },
	} {
		n := &node{}
		link(n)
		if _, err := r.Append(nil, n); !errors.Is(err, ovo.ErrDepth) {
			t.Errorf("%s: written: %v", name, err)
		}
		if _, err := r.AppendAt(nil, n, "1.0", nil); !errors.Is(err, ovo.ErrDepth) {
			t.Errorf("%s: written older: %v", name, err)
		}
		v := view(t, r, n)
		if got := v.Changes(); len(got) != 0 {
			t.Errorf("%s: changes %v", name, got)
		}
		if _, err := v.Clone(); err != nil {
			t.Errorf("%s: clone: %v", name, err)
		}
		n.Next.Set(n)
		if err := v.Reset(true); err != nil && !errors.Is(err, ovo.ErrDepth) {
			t.Errorf("%s: reset: %v", name, err)
		}
		if _ = v.String(); len(v.Changes()) > 1 {
			t.Errorf("%s: changes %v", name, v.Changes())
		}
	}
}

// As deep as can be written can be read.
func TestDeepestObjects(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nodeClass())
	n := &node{}
	for range 99 {
		n = &node{Next: ovo.NullStored(&n)}
	}
	data, err := r.Append(nil, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Decode(data); err != nil {
		t.Error(err)
	}
	if _, err := r.Append(nil, &node{Next: ovo.NullStored(&n)}); !errors.Is(err, ovo.ErrDepth) {
		t.Errorf("one more: %v", err)
	}
}

// Work is linear in the size of what a peer sends, also where it sends nonsense.
func TestManyUnknownKeys(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, `"k%d": %d, `, i, i)
	}
	keys := b.String()
	for name, data := range map[string]string{
		"data":     envelope("Inner", "1.2", keys+`"name": "n"`),
		"envelope": "{" + keys + envelope("Inner", "1.2", `"name": "n"`)[1:],
		"dict":     envelope("Everything", "1.0", `"raw": {`+keys+`"z": 1}`),
	} {
		if _, err := r.Decode([]byte(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := r.Dispatcher(localOuter())
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.ClassAction(context.Background(), "Outer", "echo", ovo.Manifest{"Outer": "1.3"}, json.RawMessage(`[1]`), json.RawMessage("{"+keys+`"z": 1}`))
	if err != nil {
		t.Error(err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nodeClass())
	for in, want := range map[string]string{
		"2026-03-04T05:06:07Z": "2026-03-04T05:06:07Z", "2026-03-04T05:06:07": "2026-03-04T05:06:07Z", "2026-03-04T05:06:07+02:00": "2026-03-04T05:06:07+02:00",
		"2026-03-04T05:06:07.123456Z": "2026-03-04T05:06:07Z", "2026-03-04": "2026-03-04T00:00:00Z", "2024-02-29T00:00:00Z": "2024-02-29T00:00:00Z",
		"2026-02-29T00:00:00Z": "", "2026-03-04T24:00:00Z": "", "2026-03-04T05:06:60Z": "", "0000-03-04T05:06:07Z": "", "2026-03-04t05:06:07Z": "", "bad": "",
	} {
		o, err := r.Decode([]byte(envelope("Node", "1.1", `"at": "`+in+`"`)))
		if want == "" {
			if err == nil {
				t.Errorf("%s was read as %s", in, text(t, r, o))
			}
			continue
		}
		if err != nil || !strings.Contains(text(t, r, o), `"at": "`+want+`"`) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if got := text(t, r, &node{At: ovo.NullOf(time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("CET", 3600)))}); !strings.Contains(got, `"2026-03-04T05:06:07+01:00"`) {
		t.Errorf("named zone: %s", got)
	}
	if _, err := r.Append(nil, &node{At: ovo.NullOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))}); err == nil {
		t.Error("a year that Python does not have was written")
	}
}
