package ovo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
)

// loopback is an Indirection that leads straight to a dispatcher, and counts.
type loopback struct {
	d         *ovo.Dispatcher
	calls     []string
	backports int
	answer    func(object json.RawMessage, m ovo.Manifest) (json.RawMessage, error)
}

func (l *loopback) ObjectClassActionVersions(ctx context.Context, object, method string, m ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	l.calls = append(l.calls, fmt.Sprintf("%s.%s%s%s", object, method, args, kwargs))
	return l.d.ClassAction(ctx, object, method, m, args, kwargs)
}

func (l *loopback) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	l.calls = append(l.calls, fmt.Sprintf("%s%s%s", method, args, kwargs))
	return l.d.Action(ctx, object, method, args, kwargs)
}

func (l *loopback) ObjectBackportVersions(_ context.Context, object json.RawMessage, m ovo.Manifest) (json.RawMessage, error) {
	l.backports++
	if l.answer != nil {
		return l.answer(object, m)
	}
	return l.d.Backport(object, m)
}

var errNotFound = errors.New("not found")

func localOuter() outerMethods {
	return outerMethods{
		Rename: func(_ context.Context, o *outer, extra string) (bool, error) {
			changed := o.Extra.Value() != extra
			o.Extra.Set(extra)
			return changed, nil
		},
		Get: func(_ context.Context, id int64) (*outer, error) {
			switch id {
			case 0:
				return nil, nil
			case 404:
				return nil, errNotFound
			}
			return &outer{ID: ovo.Stored(id), Inner: ovo.NullOf(&inner{Name: ovo.Of("n"), Color: ovo.NullOf(red)}), Extra: ovo.NullStored(new(string))}, nil
		},
		Find: func(_ context.Context, host string, limit *int64, rest []string, exact bool) ([]*outer, error) {
			o := &outer{Extra: ovo.NullOf(fmt.Sprintf("%s%v%v%v", host, limit == nil, rest, exact))}
			return []*outer{o}, nil
		},
		Echo: func(_ context.Context, v any, more map[string]any) (any, error) {
			if len(more) > 0 {
				return more, nil
			}
			return v, nil
		},
		Touch: func(_ context.Context, o *outer) error {
			o.ID.Set(o.ID.Value())
			return nil
		},
		List: func(context.Context) (*outerList, error) {
			return ovo.ListOf[outerList]([]*outer{{ID: ovo.Stored[int64](1), Extra: ovo.NullOf("e")}}), nil
		},
	}
}

func bound(t *testing.T, server, client *ovo.Registry) (outerMethods, *loopback) {
	t.Helper()
	d, err := server.Dispatcher(localOuter())
	if err != nil {
		t.Fatal(err)
	}
	via := &loopback{d: d}
	var m outerMethods
	if err := client.Bind(via, &m); err != nil {
		t.Fatal(err)
	}
	return m, via
}

func TestRemoteCalls(t *testing.T) {
	t.Parallel()
	r, ctx := newRegistry(t), context.Background()
	m, via := bound(t, r, r)

	got, err := m.Get(ctx, 7)
	if err != nil || got.ID.Value() != 7 || got.ID.Changed() || got.Inner.Value().Color.Value() != red {
		t.Errorf("get: %v %v", got, err)
	}
	if got, err := m.Get(ctx, 0); err != nil || got != nil {
		t.Errorf("no object: %v %v", got, err)
	}
	if _, err := m.Get(ctx, 404); !errors.Is(err, errNotFound) {
		t.Errorf("error of the method: %v", err)
	}
	o := full13()
	changed, err := m.Rename(ctx, o, "new")
	if err != nil || !changed || o.Extra.Value() != "new" || !o.Extra.Changed() {
		t.Errorf("rename: %v %v %v", changed, err, o.Extra)
	}
	o.ID = ovo.Stored[int64](5)
	if err := m.Touch(ctx, o); err != nil || !o.ID.Changed() {
		t.Errorf("touch marks the id, although it is the same: %v", err)
	}
	two := int64(2)
	list, err := m.Find(ctx, "h", &two, []string{"a", "b"}, false)
	if err != nil || list[0].Extra.Value() != "hfalse[a b]false" {
		t.Errorf("find: %v %v", list, err)
	}
	if list, err := m.Find(ctx, "h", nil, nil, true); err != nil || list[0].Extra.Value() != "htrue[]true" {
		t.Errorf("find: %v %v", list, err)
	}
	if v, err := m.Echo(ctx, []any{int64(1), &inner{Name: ovo.Of("n")}, nil}, nil); err != nil || v.([]any)[1].(*inner).Name.Value() != "n" {
		t.Errorf("echo: %v %v", v, err)
	}
	v, err := m.Echo(ctx, nil, map[string]any{"k": 1.5, "o": &inner{Name: ovo.Stored("n")}})
	if err != nil {
		t.Fatalf("echo: %v", err)
	}
	if o, _ := v.(*ovo.Dict).Get("o"); o.(*inner).Name.Value() != "n" {
		t.Errorf("echo of an object by name: %v", v)
	}
	want := []string{
		`Outer.get[7]{}`, `Outer.get[0]{}`, `Outer.get[404]{}`, `rename["new"]{}`, `touch[]{}`,
		`Outer.find["h", 2, "a", "b"]{"exact": false}`, `Outer.find["h", null]{"exact": true}`,
		`Outer.echo[[1, ` + envelope("Inner", "1.2", `"name": "n"`)[:len(envelope("Inner", "1.2", `"name": "n"`))-1] + `, "cyborg_object.changes": ["name"]}, null]]{}`,
		`Outer.echo[null]{"k": 1.5, "o": ` + envelope("Inner", "1.2", `"name": "n"`) + `}`,
	}
	if diff := cmp.Diff(want, via.calls); diff != "" {
		t.Error(diff)
	}
	if via.backports != 0 {
		t.Errorf("%d backports", via.backports)
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	m, via := bound(t, r, r)
	var none context.Context
	var orphaned *ovo.OrphanedObjectError
	if _, err := m.Get(none, 1); !errors.As(err, &orphaned) || orphaned.Error() != "Cannot call get on orphaned Outer object" {
		t.Errorf("class method: %v", err)
	}
	if err := m.Touch(none, &outer{}); !errors.As(err, &orphaned) || orphaned.Object != "Outer" {
		t.Errorf("instance method: %v", err)
	}
	if via.calls != nil {
		t.Errorf("sent %v", via.calls)
	}
}

// old is the outer of 1.2.
type old struct {
	stamped
	ID     ovo.Field[int64]       `ovo:"id"`
	Inner  ovo.Null[*oldInner]    `ovo:"inner"`
	Inners ovo.Field[[]*oldInner] `ovo:"inners,default=[]"`
}

type oldInner struct {
	stamped
	Name ovo.Field[string] `ovo:"name"`
}

type oldList struct {
	ovo.List[old]
	stamped
}

type oldMethods struct {
	Get  func(ctx context.Context, id int64) (*old, error)      `ovo:"get(cls, context, id)"`
	List func(ctx context.Context) (*oldList, error)            `ovo:"list(cls, context)"`
	Find func(ctx context.Context, host string) ([]*old, error) `ovo:"find(cls, context, host)"`
	Me   func(ctx context.Context, o *old) (bool, error)        `ovo:"rename(self)"`
}

func oldRegistry(t *testing.T) *ovo.Registry {
	return newRegistry(t, ovo.NewClass[oldInner]("Inner", ovo.History{ovo.V("1.0")}), ovo.NewClass[oldList]("OuterList", ovo.History{ovo.V("1.0")}),
		ovo.NewClass[old]("Outer", ovo.History{ovo.V("1.2")}, ovo.Methods[oldMethods]()))
}

// An old client gets results that it can read, members of lists included, in one call.
func TestOldClient(t *testing.T) {
	t.Parallel()
	d, err := newRegistry(t).Dispatcher(localOuter())
	if err != nil {
		t.Fatal(err)
	}
	via, ctx := &loopback{d: d}, context.Background()
	var m oldMethods
	if err := oldRegistry(t).Bind(via, &m); err != nil {
		t.Fatal(err)
	}
	o, err := m.Get(ctx, 7)
	if err != nil || o.ID.Value() != 7 || ovo.VersionOf(o) != "1.2" || o.Inner.Value().Name.Value() != "n" || ovo.VersionOf(o.Inner.Value()) != "1.0" {
		t.Errorf("get: %v %v", o, err)
	}
	list, err := m.List(ctx)
	if err != nil {
		// The manifest of Outer does not lead to OuterList, which therefore keeps its own version; its members follow.
		t.Fatal(err)
	}
	if list.Len() != 1 || ovo.VersionOf(list.All()[0]) != "1.2" {
		t.Errorf("list: %v", list)
	}
	if found, err := m.Find(ctx, "h"); err != nil || len(found) != 1 || ovo.VersionOf(found[0]) != "1.2" {
		t.Errorf("find: %v %v", found, err)
	}
	if via.backports != 0 {
		t.Errorf("%d backports", via.backports)
	}
	var typeError *ovo.TypeError
	if _, err := m.Me(ctx, &old{}); !errors.As(err, &typeError) || !strings.Contains(err.Error(), "rename() missing 1 required positional argument: 'extra'") {
		t.Errorf("missing argument: %v", err)
	}
}

func TestDispatcherRefuses(t *testing.T) {
	t.Parallel()
	r, ctx := newRegistry(t), context.Background()
	if _, err := r.Dispatcher(); err == nil || !strings.Contains(err.Error(), "Outer.get has no body") {
		t.Errorf("no bodies: %v", err)
	}
	if _, err := r.Dispatcher(5, struct{}{}, localOuter()); err == nil {
		t.Error("no structs of functions")
	}
	d, err := r.Dispatcher(localOuter())
	if err != nil {
		t.Fatal(err)
	}
	m := ovo.Manifest{"Outer": "1.3", "Inner": "1.2"}
	class := func(method, args, kwargs string) error {
		_, err := d.ClassAction(ctx, "Outer", method, m, json.RawMessage(args), json.RawMessage(kwargs))
		return err
	}
	for name, c := range map[string]struct {
		err error
		as  any
	}{
		"unknown method":     {class("nope", "[]", "{}"), new(*ovo.UndeclaredMethodError)},
		"instance as class":  {class("touch", "[]", "{}"), new(*ovo.AttributeError)},
		"too many":           {class("get", "[1, 2]", "{}"), new(*ovo.TypeError)},
		"missing":            {class("get", "[]", "{}"), new(*ovo.TypeError)},
		"twice":              {class("get", "[1]", `{"id": 1}`), new(*ovo.TypeError)},
		"unexpected":         {class("get", "[1]", `{"x": 1}`), new(*ovo.TypeError)},
		"wrong type":         {class("get", `["x"]`, "{}"), new(*ovo.ValueError)},
		"args are no list":   {class("get", `{}`, "{}"), new(*ovo.SyntaxError)},
		"kwargs are no dict": {class("get", `[1]`, "[]"), new(*ovo.SyntaxError)},
		"kwarg twice":        {class("get", `[]`, `{"id": 1, "id": 2}`), new(*ovo.DuplicateKeyError)},
	} {
		if c.err == nil || !errors.As(c.err, c.as) {
			t.Errorf("%s: %v, want a %T", name, c.err, c.as)
		}
	}
	if err := class("find", `["h"]`, `{"exact": false}`); err != nil {
		t.Errorf("defaults: %v", err)
	}
	if err := class("get", "", `{"id": 1}`); err != nil {
		t.Errorf("by name: %v", err)
	}
	var key *ovo.KeyError
	if _, err := d.ClassAction(ctx, "Outer", "get", ovo.Manifest{}, nil, nil); !errors.As(err, &key) {
		t.Errorf("manifest without the class: %v", err)
	}
	if _, err := d.Backport(json.RawMessage(envelope("Inner", "1.2", "")), ovo.Manifest{}); !errors.As(err, &key) {
		t.Errorf("backport without the class: %v", err)
	}
	var tooNew *ovo.IncompatibleVersionError
	if _, err := d.ClassAction(ctx, "Outer", "get", ovo.Manifest{"Outer": "1.9"}, nil, nil); !errors.As(err, &tooNew) {
		t.Errorf("newer client: %v", err)
	}
	if _, err := d.Action(ctx, json.RawMessage(envelope("Outer", "1.9", "")), "touch", nil, nil); !errors.As(err, &tooNew) {
		t.Errorf("newer object: %v", err)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	if err := r.Bind(&loopback{}, localOuter(), nil, &struct{ F func() }{}); err == nil {
		t.Error("bound what is no pointer to methods of a class")
	}
}

// An object that is too new is sent to the peer that can convert it, once; an answer that is too new as well is an error.
func TestBackportDoesNotLoop(t *testing.T) {
	t.Parallel()
	r, ctx := newRegistry(t), context.Background()
	data := envelope("Outer", "1.3", `"id": 1, "inner": `+envelope("Inner", "1.9", `"name": "n"`))
	for name, c := range map[string]struct {
		data      string
		answer    string
		backports int
		ok        bool
	}{
		"answered with what was sent": {data, data, 1, false},
		"answered well":               {data, strings.Replace(data, "1.9", "1.2", 1), 1, true},
		"deeper":                      {`{"a": [` + data + `]}`, strings.Replace(data, "1.9", "1.2", 1), 1, true},
		"two objects":                 {`[` + data + `, ` + data + `]`, strings.Replace(data, "1.9", "1.2", 1), 2, true},
		"a revision":                  {envelope("Inner", "1.2.7", ``), ``, 0, true},
		"a revision of a newer one":   {envelope("Inner", "1.4.1", ``), envelope("Inner", "1.2", ``), 1, true},
		"unknown class":               {envelope("Nope", "1.9", ``), ``, 0, false},
		"no version":                  {envelope("Inner", "bogus", ``), ``, 0, false},
		"no version at all":           {strings.Replace(envelope("Inner", "1.9", ``), `version`, `verzion`, 1), ``, 0, false},
	} {
		via := &loopback{answer: func(json.RawMessage, ovo.Manifest) (json.RawMessage, error) { return json.RawMessage(c.answer), nil }}
		v, err := ovo.Serializer{Registry: r, Indirection: via}.Decode(ctx, []byte(c.data))
		if (err == nil) != c.ok || via.backports != c.backports {
			t.Errorf("%s: %v %v after %d backports", name, v, err, via.backports)
		}
	}
	_, err := ovo.Serializer{Registry: r, Indirection: &loopback{answer: func(o json.RawMessage, _ ovo.Manifest) (json.RawMessage, error) { return o, nil }}}.Decode(ctx, []byte(data))
	var tooNew *ovo.IncompatibleVersionError
	if !errors.As(err, &tooNew) || tooNew.Object != "Inner" || tooNew.Got != "1.9" {
		t.Errorf("loop: %v", err)
	}
}

// The bytes that are sent for conversion are those that came, but for a revision that was cut.
func TestBackportSendsWhatCame(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	var sent string
	var versions ovo.Manifest
	via := &loopback{answer: func(o json.RawMessage, m ovo.Manifest) (json.RawMessage, error) {
		sent, versions = string(o), m
		return json.RawMessage(envelope("Outer", "1.3", ``)), nil
	}}
	_, err := ovo.Serializer{Registry: r, Indirection: via}.Decode(context.Background(), []byte(`[ `+envelope("Outer", "1.4.2", `"x":[1,  2.50]`)+` ]`))
	if err != nil || sent != envelope("Outer", "1.4", `"x":[1,  2.50]`) {
		t.Errorf("sent %s, %v", sent, err)
	}
	if diff := cmp.Diff(ovo.Manifest{"Outer": "1.3", "Inner": "1.2"}, versions); diff != "" {
		t.Error(diff)
	}
}

func TestSerializer(t *testing.T) {
	t.Parallel()
	r, ctx := newRegistry(t), context.Background()
	s := ovo.Serializer{Registry: r}
	raw, err := s.Serialize(ctx, json.RawMessage(`{ "as": "is" }`))
	if err != nil || string(raw) != `{ "as": "is" }` {
		t.Errorf("raw: %s %v", raw, err)
	}
	type plain struct {
		A int `json:"a"`
	}
	for want, v := range map[string]any{
		`null`: nil, `5`: int32(5), `7`: 7, `{"a": 1}`: map[string]int64{"a": 1}, `{"a":2}`: plain{2}, `"red"`: red,
		`[` + envelope("Inner", "1.2", ``) + `]`: []*inner{{}}, `{"k": ` + envelope("Inner", "1.2", ``) + `}`: map[string]*inner{"k": {}},
	} {
		got, err := s.Serialize(ctx, v)
		if err != nil || string(got) != want {
			t.Errorf("%T: %s %v, want %s", v, got, err, want)
		}
	}
	var list []*inner
	if err := s.Deserialize(ctx, json.RawMessage(`[`+envelope("Inner", "1.2", `"name": "n"`)+`]`), &list); err != nil || list[0].Name.Value() != "n" {
		t.Errorf("list: %v %v", list, err)
	}
	var v any
	if err := s.Deserialize(ctx, json.RawMessage(`{"o": `+envelope("Inner", "1.2", ``)+`}`), &v); err != nil {
		t.Error(err)
	} else if o, _ := v.(*ovo.Dict).Get("o"); o.(*inner) == nil {
		t.Errorf("any: %v", v)
	}
	var p plain
	if err := s.Deserialize(ctx, json.RawMessage(`{"a": 3}`), &p); err != nil || p.A != 3 {
		t.Errorf("struct: %v %v", p, err)
	}
	if err := s.Deserialize(ctx, json.RawMessage(`1`), p); err == nil {
		t.Error("no pointer")
	}
	if err := s.Deserialize(ctx, json.RawMessage(`[1] x`), &v); err == nil {
		t.Error("more than one value")
	}
	var deep error
	if _, deep = s.Decode(ctx, []byte(strings.Repeat(`{"a":[`, 5000))); !errors.Is(deep, ovo.ErrDepth) {
		t.Errorf("deep: %v", deep)
	}
}
