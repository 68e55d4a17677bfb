package ovo_test

import (
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
)

func full() *everything {
	x := "x"
	e := &everything{
		Big: ovo.Of(new(big.Int).Lsh(big.NewInt(1), 70)), Count: ovo.Of(int64(3)), Ratio: ovo.Of(1e16), Flag: ovo.Of(true), MAC: ovo.Of("00:11:22:33:44:55"),
		Addr: ovo.Of(netip.MustParseAddr("::1")), Net: ovo.Of(netip.MustParsePrefix("10.0.0.1/8")), Names: ovo.Of([]string{"a", "é"}),
		Maybe: ovo.Of(map[string]*string{"b": nil, "a": &x}), Nested: ovo.Of([]map[string]int64{{"n": 1}}), Tags: ovo.Of(map[string]struct{}{"t": {}}),
		Colors: ovo.Of([]color{red}), Raw: ovo.Of(map[string]any{"k": []any{int64(1), nil}}), Any: ovo.NullOf[ovo.Object](&inner{Name: ovo.Of("n")}),
		Fixed: ovo.ReadOnlyOf("f"), Local: ovo.Of(time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("CET", 3600))),
	}
	e.Groups.SetNull()
	return e
}

const fullText = `{"cyborg_object.name": "Everything", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.0", "cyborg_object.data": {` +
	`"big": 1180591620717411303424, "count": 3, "ratio": 1e+16, "flag": true, "mac": "00:11:22:33:44:55", "addr": "::1", "net": "10.0.0.1/8", ` +
	`"names": ["a", "\u00e9"], "maybe": {"a": "x", "b": null}, "nested": [{"n": 1}], "tags": ["t"], "colors": ["red"], "raw": {"k": [1, null]}, ` +
	`"any": {"cyborg_object.name": "Inner", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.2", "cyborg_object.data": {"name": "n"}, "cyborg_object.changes": ["name"]}, ` +
	`"fixed": "f", "local": "2026-03-04T05:06:07+01:00", "groups": null}, "cyborg_object.changes": ["addr", "any", "big", "colors", "count", "fixed", "flag", "groups", "local", ` +
	`"mac", "maybe", "names", "nested", "net", "ratio", "raw", "tags"]}`

func TestEveryGoType(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	if diff := cmp.Diff(fullText, text(t, r, full())); diff != "" {
		t.Errorf("written: %s", diff)
	}
	back, err := ovo.Decode[everything](r, []byte(fullText))
	if err != nil {
		t.Fatal(err)
	}
	// The naive field drops the zone it reads, so it is written as UTC.
	if diff := cmp.Diff(strings.Replace(fullText, "+01:00", "Z", 1), text(t, r, back)); diff != "" {
		t.Errorf("read and written: %s", diff)
	}
	if back.Big.Value().Cmp(full().Big.Value()) != 0 || *back.Maybe.Value()["a"] != "x" || back.Any.Value().(*inner).Name.Value() != "n" {
		t.Error("values differ")
	}
}

// Python coerces what it reads; so do the cells.
func TestReadingCoerces(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	data := envelope("Everything", "1.0", `"big": "12", "count": 2.9, "ratio": 1, "flag": "false", "mac": "00-11-22-33-44-AA", "names": "ab", "colors": [], "tags": {"k": 1}, "fixed": 5`)
	e, err := ovo.Decode[everything](r, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if e.Big.Value().Int64() != 12 || e.Count.Value() != 2 || e.Ratio.Value() != 1 || !e.Flag.Value() || e.MAC.Value() != "00:11:22:33:44:aa" ||
		!cmp.Equal(e.Names.Value(), []string{"a", "b"}) || len(e.Tags.Value()) != 1 || e.Fixed.Value() != "5" {
		t.Errorf("got %s", text(t, r, e))
	}
}

func envelope(class, version, data string) string {
	return `{"cyborg_object.name": "` + class + `", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "` + version + `", "cyborg_object.data": {` + data + `}}`
}

func TestReadingErrors(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	in := func(data string) string { return envelope("Inner", "1.2", data) }
	for name, c := range map[string]struct {
		data, path string
		as         any
	}{
		"bad integer":             {envelope("Outer", "1.3", `"id": "x"`), "Outer.id", new(*ovo.ValueError)},
		"beyond 64 bits":          {envelope("Outer", "1.3", `"id": 99999999999999999999`), "Outer.id", new(*ovo.OverflowError)},
		"null":                    {envelope("Outer", "1.3", `"id": null`), "Outer.id", new(*ovo.ValueError)},
		"nested":                  {envelope("Outer", "1.3", `"inner": `+in(`"name": []`)), "Outer.inner.name", new(*ovo.ValueError)},
		"in a list":               {envelope("Outer", "1.3", `"inners": [`+in(``)+`, `+in(`"color": "pink"`)+`]`), "Outer.inners[1].color", new(*ovo.ValueError)},
		"in a list object":        {envelope("OuterList", "1.0", `"objects": [`+envelope("Outer", "1.3", `"when": "never"`)+`]`), "OuterList.objects[0].when", new(*ovo.ValueError)},
		"other class":             {envelope("Outer", "1.3", `"inner": `+envelope("Outer", "1.3", ``)), "Outer.inner", new(*ovo.ValueError)},
		"no object":               {envelope("Outer", "1.3", `"inner": {}`), "Outer.inner", new(*ovo.KeyError)},
		"list is no object":       {envelope("Outer", "1.3", `"inner": [1]`), "Outer.inner", new(*ovo.TypeError)},
		"object is no list":       {envelope("Outer", "1.3", `"inners": 5`), "Outer.inners", new(*ovo.TypeError)},
		"first field of class":    {envelope("Outer", "1.3", `"when": "never", "id": "x"`), "Outer.id", new(*ovo.ValueError)},
		"child too new":           {envelope("Outer", "1.3", `"inner": `+envelope("Inner", "1.9", ``)), "Outer.inner", new(*ovo.IncompatibleVersionError)},
		"data twice":              {envelope("Outer", "1.3", `"id": 1, "id": 2`), "Outer", new(*ovo.DuplicateKeyError)},
		"unknown data twice":      {envelope("Outer", "1.3", `"z": 1, "z": 2`), "Outer", new(*ovo.DuplicateKeyError)},
		"dict key twice":          {envelope("Everything", "1.0", `"raw": {"k": 1, "k": 2}`), "Everything.raw", new(*ovo.DuplicateKeyError)},
		"deep dict key twice":     {envelope("Everything", "1.0", `"raw": {"a": {"k": 1, "k": 2}}`), "Everything.raw[a]", new(*ovo.DuplicateKeyError)},
		"lone surrogate":          {in(`"name": "\ud800"`), "Inner.name", new(*ovo.TextError)},
		"not UTF-8":               {in("\"name\": \"\xff\""), "Inner.name", new(*ovo.TextError)},
		"NaN for an integer":      {envelope("Outer", "1.3", `"id": NaN`), "Outer.id", new(*ovo.ValueError)},
		"Infinity for an integer": {envelope("Outer", "1.3", `"id": Infinity`), "Outer.id", new(*ovo.OverflowError)},
		"truncated":               {envelope("Outer", "1.3", `"id": 1`)[:90], "", new(*ovo.SyntaxError)},
		"more after it":           {envelope("Outer", "1.3", ``) + "x", "", new(*ovo.SyntaxError)},
		"element":                 {envelope("Everything", "1.0", `"nested": [{"n": 1}, {"n": "x"}]`), "Everything.nested", new(*ovo.ValueError)},
		"envelope twice":          {`{"cyborg_object.name": "Inner", "cyborg_object.name": "Inner"}`, "", new(*ovo.DuplicateKeyError)},
		"nothing":                 {`{}`, "", new(*ovo.KeyError)},
		"no data":                 {`{"cyborg_object.name": "Inner", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.2"}`, "", new(*ovo.KeyError)},
		"data is a list":          {`{"cyborg_object.name": "Inner", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.2", "cyborg_object.data": []}`, "", new(*ovo.TypeError)},
		"name is a number":        {`{"cyborg_object.name": 5}`, "", new(*ovo.TypeError)},
		"number":                  {`5`, "", new(*ovo.TypeError)},
		"empty":                   {``, "", new(*ovo.SyntaxError)},
		"unknown class":           {envelope("Nope", "1.0", ``), "", new(*ovo.UnsupportedObjectError)},
		"other project":           {strings.Replace(envelope("Inner", "1.0", ``), `"cyborg"`, `"nova"`, 1), "", new(*ovo.UnsupportedObjectError)},
		"no version":              {envelope("Inner", "bogus", ``), "", new(*ovo.InvalidVersionError)},
		"empty version":           {envelope("Inner", "", ``), "", new(*ovo.InvalidVersionError)},
		"too new":                 {envelope("Inner", "1.10", ``), "", new(*ovo.IncompatibleVersionError)},
		"other major":             {envelope("Inner", "2.0", ``), "", new(*ovo.IncompatibleVersionError)},
		"older major":             {envelope("Inner", "0.9", ``), "", new(*ovo.IncompatibleVersionError)},
		"changes are null":        {strings.Replace(in(``), `{}}`, `{}, "cyborg_object.changes": null}`, 1), "", new(*ovo.TypeError)},
		"deep":                    {in(`"z": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), "", nil},
	} {
		_, err := r.Decode([]byte(c.data))
		if c.as == nil {
			if !errors.Is(err, ovo.ErrDepth) {
				t.Errorf("%s: %v, want ErrDepth", name, err)
			}
			continue
		}
		if err == nil || !errors.As(err, c.as) {
			t.Errorf("%s: %v, want a %T", name, err, c.as)
			continue
		}
		var at *ovo.FieldError
		if errors.As(err, &at) && at.Path != c.path && c.path != "" {
			t.Errorf("%s: path %s, want %s", name, at.Path, c.path)
		}
	}
}

// The text of the incompatible-version error tells both versions.
func TestTooNewText(t *testing.T) {
	t.Parallel()
	_, err := newRegistry(t).Decode([]byte(envelope("Inner", "1.10", ``)))
	if err == nil || !strings.Contains(err.Error(), "1.10") || !strings.Contains(err.Error(), "1.2") || !strings.Contains(err.Error(), "Inner") {
		t.Error(err)
	}
}

// Keys may come in any order and spacing; the result is the same as by the short way.
func TestAnyOrderReads(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	o := &outer{ID: ovo.Of(int64(1)), Inner: ovo.NullOf(&inner{Name: ovo.Stored("n")}), Extra: ovo.NullStored[string](nil)}
	want := text(t, r, o)
	for _, data := range []string{
		`{"cyborg_object.changes":["inner","id"],"cyborg_object.data":{"extra":null,"inner":{"cyborg_object.data":{"name":"n"},"cyborg_object.name":"Inner","cyborg_object.namespace":"cyborg","cyborg_object.version":"1.2"},"id":1},"cyborg_object.name":"Outer","cyborg_object.namespace":"cyborg","cyborg_object.version":"1.3"}`,
		strings.ReplaceAll(want, ": ", " :\n "),
		strings.Replace(want, `{"id"`, `{"unknown": {"x": [1, {}]}, "id"`, 1),
		strings.Replace(want, `"cyborg_object.changes": ["id", "inner"]`, `"more": 1, "cyborg_object.changes": ["id", "nope", 5, "inner"]`, 1),
	} {
		back, err := r.Decode([]byte(data))
		if err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		if got := text(t, r, back); got != want {
			t.Errorf("%s\nread as %s\nwant    %s", data, got, want)
		}
	}
}

func TestWritingErrors(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	for path, o := range map[string]ovo.Object{
		"Outer.inner":     &outer{Inner: ovo.NullOf[*inner](nil)},
		"Outer.inners[1]": &outer{Inners: ovo.Of([]*inner{{}, nil})},
		"Inner.color":     &inner{Color: ovo.NullOf(color("pink"))},
		"Inner.name":      &inner{Name: ovo.Of("\xff")},
		"Everything.any":  &everything{Any: ovo.NullOf[ovo.Object](nil)},
	} {
		keep := []byte("keep")
		got, err := r.Append(keep, o)
		var at *ovo.FieldError
		if !errors.As(err, &at) || at.Path != path {
			t.Errorf("%s: %v", path, err)
		}
		if string(got) != "keep" {
			t.Errorf("%s: wrote %s", path, got)
		}
	}
	var unknown *ovo.UnsupportedObjectError
	if _, err := r.Append(nil, &stranger{}); !errors.As(err, &unknown) {
		t.Errorf("unregistered: %v", err)
	}
	var none *outer
	var typeError *ovo.TypeError
	if _, err := r.Append(nil, none); !errors.As(err, &typeError) {
		t.Errorf("nil object: %v", err)
	}
}

// An object is written back at the version it came with; a clone has its class's version.
func TestReceivedVersion(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	data := envelope("Inner", "1.0", `"name": "n"`)
	o, err := r.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if ovo.VersionOf(o) != "1.0" || text(t, r, o) != data {
		t.Errorf("written back as %s", text(t, r, o))
	}
	var invalid *ovo.InvalidTargetError
	if _, err := r.AppendAt(nil, o, "1.1", nil); !errors.As(err, &invalid) {
		t.Errorf("above its own version: %v", err)
	}
	v, err := r.View(o)
	if err != nil {
		t.Fatal(err)
	}
	clone, err := v.Clone()
	if err != nil || ovo.VersionOf(clone) != "" || text(t, r, clone) != envelope("Inner", "1.2", `"name": "n"`) {
		t.Errorf("clone: %v %s", err, text(t, r, clone))
	}
}

// Reading a report gives objects that keep nothing of its text.
func TestDecodedObjectsKeepNoText(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	data := []byte(envelope("Inner", "1.2", `"name": "a name that is longer than any that is shared between objects", "state": "s"`))
	o, err := ovo.Decode[inner](r, data)
	if err != nil {
		t.Fatal(err)
	}
	want := text(t, r, o)
	clear(data)
	if got := text(t, r, o); got != want {
		t.Errorf("after the text was cleared: %s", got)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	data, err := ovo.AppendList(r, []byte("x"), []*inner{{Name: ovo.Of("a")}, {Name: ovo.Of("b")}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := ovo.DecodeList[inner](r, data[1:])
	if err != nil || len(list) != 2 || list[1].Name.Value() != "b" {
		t.Errorf("%v %v", list, err)
	}
	var at *ovo.FieldError
	if _, err := ovo.DecodeList[inner](r, []byte(`[`+envelope("Inner", "1.2", `"name": 1, "color": 1`)+`]`)); !errors.As(err, &at) || at.Path != "[0].color" {
		t.Errorf("bad member: %v", err)
	}
	if _, err := ovo.AppendList(r, nil, []*inner{nil}); err == nil {
		t.Error("a nil member was written")
	}
	if _, err := ovo.DecodeList[stranger](r, []byte(`[]`)); err == nil {
		t.Error("an unregistered struct was read")
	}
}
