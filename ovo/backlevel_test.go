package ovo_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
)

func full13() *outer {
	return &outer{
		ID: ovo.Of(int64(1)), Inner: ovo.NullOf(&inner{Name: ovo.Of("n"), State: ovo.NullOf("s")}),
		When: ovo.NullOf(time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)), Extra: ovo.NullOf("e"),
		Inners: ovo.Of([]*inner{{Name: ovo.Stored("m"), State: ovo.NullStored[string](nil)}}),
	}
}

func TestBacklevel(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	in := func(version, data, changes string) string {
		return strings.Replace(envelope("Inner", version, data), "}}", `}`+changes+`}`, 1)
	}
	both := `, "cyborg_object.changes": ["name", "state"]`
	for name, c := range map[string]struct {
		target   string
		manifest ovo.Manifest
		want     string
	}{
		"own version": {"", nil, strings.Replace(envelope("Outer", "1.3",
			`"id": 1, "inner": `+in("1.2", `"name": "n", "state": "s"`, both)+`, "inners": [`+in("1.2", `"name": "m", "state": null`, "")+`], "when": "2026-03-04T05:06:07Z", "extra": "e"`),
			`"e"}}`, `"e"}, "cyborg_object.changes": ["extra", "id", "inner", "inners", "when"]}`, 1)},
		"a field less": {"1.2", nil, strings.Replace(envelope("Outer", "1.2",
			`"id": 1, "inner": `+in("1.2", `"name": "n", "state": "s"`, both)+`, "inners": [`+in("1.2", `"name": "m", "state": null`, "")+`], "when": "2026-03-04T05:06:07Z"`),
			`Z"}}`, `Z"}, "cyborg_object.changes": ["id", "inner", "inners", "when"]}`, 1)},
		"renamed, parts older": {"1.1", nil, strings.Replace(envelope("Outer", "1.1",
			`"inner": `+in("1.1", `"name": "n", "state": "s"`, both)+`, "inners": [`+in("1.0", `"name": "m"`, "")+`], "when": "2026-03-04T05:06:07Z", "number": 1`),
			`1}}`, `1}, "cyborg_object.changes": ["inner", "inners", "when"]}`, 1)},
		"down to the first": {"1.0", nil, strings.Replace(envelope("Outer", "1.0",
			`"inner": `+in("1.0", `"name": "n"`, both)+`, "inners": [`+in("1.0", `"name": "m"`, "")+`], "number": 1`),
			`1}}`, `1}, "cyborg_object.changes": ["inner", "inners"]}`, 1)},
		"by a manifest": {"1.2", ovo.Manifest{"Outer": "1.2", "Inner": "1.0"}, strings.Replace(envelope("Outer", "1.2",
			`"id": 1, "inner": `+in("1.0", `"name": "n"`, both)+`, "inners": [`+in("1.0", `"name": "m"`, "")+`], "when": "2026-03-04T05:06:07Z"`),
			`Z"}}`, `Z"}, "cyborg_object.changes": ["id", "inner", "inners", "when"]}`, 1)},
		"manifest without the part": {"1.2", ovo.Manifest{}, strings.Replace(envelope("Outer", "1.2",
			`"id": 1, "inner": `+in("1.2", `"name": "n", "state": "s"`, both)+`, "inners": [`+in("1.2", `"name": "m", "state": null`, "")+`], "when": "2026-03-04T05:06:07Z"`),
			`Z"}}`, `Z"}, "cyborg_object.changes": ["id", "inner", "inners", "when"]}`, 1)},
	} {
		got, err := r.AppendAt(nil, full13(), c.target, c.manifest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestBacklevelRefuses(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	blueInner := &inner{Color: ovo.NullOf(blue)}
	if _, err := r.AppendAt(nil, blueInner, "1.2", nil); err != nil {
		t.Error(err)
	}
	var action *ovo.ActionError
	_, err := r.AppendAt(nil, blueInner, "1.1", nil)
	if !errors.As(err, &action) || action.Reason != "color=blue not supported in version (1, 1)" {
		t.Errorf("value of a later version: %v", err)
	}
	var at *ovo.FieldError
	_, err = r.AppendAt(nil, &outer{Inner: ovo.NullOf(blueInner)}, "1.0", nil)
	if !errors.As(err, &action) || !errors.As(err, &at) || at.Path != "Outer.inner" {
		t.Errorf("in a part: %v", err)
	}
	if _, err := r.AppendAt(nil, &inner{Color: ovo.NullStored[color](nil)}, "1.0", nil); err != nil {
		t.Errorf("null is no such value: %v", err)
	}
	var invalid *ovo.InvalidTargetError
	if _, err := r.AppendAt(nil, blueInner, "1.3", nil); !errors.As(err, &invalid) {
		t.Errorf("target above the class: %v", err)
	}
	var value *ovo.ValueError
	if _, err := r.AppendAt(nil, blueInner, "1.x", nil); !errors.As(err, &value) {
		t.Errorf("no version: %v", err)
	}
}

// A part without any rule cannot be converted without a manifest.
func TestBacklevelWithoutRule(t *testing.T) {
	t.Parallel()
	class := ovo.NewClass[outer]("Outer", ovo.History{ovo.V("1.0"), ovo.V("1.1")})
	r := newRegistry(t, innerClass(), class)
	var action *ovo.ActionError
	_, err := r.AppendAt(nil, &outer{Inner: ovo.NullStored[*inner](nil)}, "1.0", nil)
	if !errors.As(err, &action) || action.Reason != "No rule for inner" {
		t.Errorf("even a null: %v", err)
	}
	if _, err := r.AppendAt(nil, &outer{Inner: ovo.NullStored[*inner](nil)}, "1.0", ovo.Manifest{"Inner": "1.0"}); err != nil {
		t.Errorf("with a manifest: %v", err)
	}
	if _, err := r.AppendAt(nil, &outer{ID: ovo.Of(int64(1))}, "1.0", nil); err != nil {
		t.Errorf("not set: %v", err)
	}
}

// Case of a list whose members have to be older than the list says: no call for each member.
func TestListMembersFollowTheManifest(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	list := ovo.ListOf[outerList]([]*outer{{ID: ovo.Of(int64(1)), Inner: ovo.NullOf(&inner{Name: ovo.Of("n"), State: ovo.NullOf("available")}), Extra: ovo.NullOf("e")}})
	got, err := r.AppendAt(nil, list, "1.0", ovo.Manifest{"OuterList": "1.0", "Outer": "1.2", "Inner": "1.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"OuterList", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.0"`, `"Outer", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.2"`, `"Inner", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.1"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(string(got), `"extra":`) {
		t.Errorf("a field of 1.3 in %s", got)
	}
	// Without a table of its own and without a manifest, Python's default is 1.0.
	got, err = r.AppendAt(nil, list, "0.9", nil)
	if err != nil || !strings.Contains(string(got), `"Outer", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.0"`) {
		t.Errorf("%v %s", err, got)
	}
}

// Rewrites sees the data after all newer versions were undone.
func TestRewrites(t *testing.T) {
	t.Parallel()
	var seen []any
	class := ovo.NewClass[outer]("Outer", ovo.History{
		ovo.V("1.0", ovo.Part("inner", "1.0"), ovo.Part("inners", "1.0")),
		ovo.V("1.1", ovo.Renames("what", "when")),
		ovo.V("1.2", ovo.Rewrites(func(d *ovo.Data) error {
			for _, name := range []string{"number", "id", "inner", "extra", "nothing"} {
				v, ok, err := d.Get(name)
				if err != nil {
					return err
				}
				if dict, isDict := v.(*ovo.Dict); isDict {
					v, _ = dict.Get("cyborg_object.version")
				}
				seen = append(seen, v, ok)
			}
			d.Set("note", "was here")
			d.Set("when", nil)
			d.Delete("number")
			return nil
		})),
		ovo.V("1.3", ovo.Renames("number", "id"), ovo.Adds("extra")),
	})
	r := newRegistry(t, innerClass(), class)
	got, err := r.AppendAt(nil, full13(), "1.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{int64(1), true, nil, false, "1.0", true, nil, false, nil, false}, seen); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(string(got), `"note": "was here", "what": null}, "cyborg_object.changes": ["inner", "inners"]}`) {
		t.Errorf("got %s", got)
	}
	boom := errors.New("boom")
	failing := ovo.NewClass[stamped]("Failing", ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Rewrites(func(*ovo.Data) error { return boom }))})
	if _, err := newRegistry(t, failing).AppendAt(nil, &stamped{}, "1.0", nil); !errors.Is(err, boom) {
		t.Errorf("error of a rewrite: %v", err)
	}
}

// A field that an older sender never had is unset, not null and not its default, and writing does not invent it.
func TestFieldOfALaterVersionStaysUnset(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	o, err := ovo.Decode[inner](r, []byte(envelope("Inner", "1.0", `"name": "n"`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := o.State.Get(); ok || o.State.IsSet() || o.State.IsNull() {
		t.Error("state is not unset")
	}
	v, err := r.View(o)
	if err != nil {
		t.Fatal(err)
	}
	var unset *ovo.NotImplementedError
	if _, err := v.Get("state"); !errors.As(err, &unset) {
		t.Errorf("reading it: %v", err)
	}
	for _, target := range []string{"", "1.0"} {
		got, err := r.AppendAt(nil, o, target, nil)
		if err != nil || strings.Contains(string(got), "state") {
			t.Errorf("written: %s %v", got, err)
		}
	}
}
