package ovorpc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/rpc"
)

// TestClassAndInstanceDispatch: the same calls on the bodies and through the bus give the same results, the same
// field values and the same changes on the caller's object.
func TestClassAndInstanceDispatch(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var remote thingMethods
	bind(t, current(t), s.via, &remote)
	type outcome struct {
		Result, Note string
		Count        int64
		Colour       string
		Changed      []string
	}
	play := func(things thingMethods, note *string) outcome {
		o, err := things.Get(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		o.ID.Set(8) // a change of the caller's own that nobody saves
		result, err := things.Add(t.Context(), o, 2, note)
		if err != nil {
			t.Fatal(err)
		}
		view, err := current(t).View(o)
		if err != nil {
			t.Fatal(err)
		}
		changed := view.Changes()
		return outcome{result, o.Note.Value(), o.Count.Value(), o.Part.Value().Colour.Value(), changed}
	}
	for name, note := range map[string]*string{"default": nil, "given": new("x")} {
		if diff := cmp.Diff(play(localThings(), note), play(remote, note)); diff != "" {
			t.Errorf("%s: local and remote differ:\n%s", name, diff)
		}
	}
	if s.calls["object_class_action_versions"] != 2 || s.calls["object_action"] != 2 || len(s.calls) != 2 {
		t.Errorf("calls %v", s.calls)
	}
}

// TestRequestContextIsTheCallers: the body runs under the context of the call.
func TestRequestContextIsTheCallers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var remote thingMethods
	bind(t, current(t), s.via, &remote)
	ctx := rpc.WithRequest(t.Context(), &rpc.RequestContext{ProjectID: "p1"})
	if got, err := remote.Project(ctx); err != nil || got != "p1" {
		t.Errorf("the body saw project %q, %v", got, err)
	}
}

// TestListMembersNewerThanCaller: a list whose own version is the caller's, with members and their parts a version
// ahead, takes one request, whatever the number of members.
func TestListMembersNewerThanCaller(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var remote thing10Lists
	bind(t, older(t), s.via, &remote)
	list, err := remote.All(t.Context(), 500)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"object_class_action_versions": 1}, s.calls); diff != "" {
		t.Errorf("requests: %s", diff)
	}
	if n := len(list.All()); n != 500 {
		t.Fatalf("%d members", n)
	}
	for i, o := range list.All() {
		if o.ID.Value() != int64(i) || o.Part.Value().Name.Value() != "p" {
			t.Fatalf("member %d is %v with part %v", i, o.ID.Value(), o.Part.Value().Name.Value())
		}
	}
}

// TestOlderCallerOfAnInstanceMethod: an object travels at the caller's version, and its parts come back readable.
func TestOlderCallerOfAnInstanceMethod(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var remote thing10Methods
	bind(t, older(t), s.via, &remote)
	o, err := remote.Get(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Add(t.Context(), o, 4, nil); err != nil || o.Count.Value() != 4 || o.Part.Value().Name.Value() != "p" {
		t.Errorf("count %d, part %v, %v", o.Count.Value(), o.Part.Value(), err)
	}
}

// TestFailuresPropagate: an error of the body, a method or class nobody declared, a version nobody has, wrong
// arguments; the object is left as it was.
func TestFailuresPropagate(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var remote thingMethods
	r := current(t)
	bind(t, r, s.via, &remote)
	var failed *rpc.RemoteError
	if _, err := remote.Get(t.Context(), 404); !errors.As(err, &failed) {
		t.Errorf("an error of the body arrived as %v", err)
	}
	o := get(1)
	if _, err := remote.Add(t.Context(), o, -1, nil); !errors.As(err, &failed) || o.Count.Value() != 0 || o.Count.Changed() {
		t.Errorf("a failed call left count %d, %v", o.Count.Value(), err)
	}
	m := ovo.Manifest{"Thing": "1.1", "Part": "1.1"}
	var unknown *ovo.AttributeError
	if _, err := s.via.ObjectClassActionVersions(t.Context(), "Thing", "obj_reset_changes", m, nil, nil); !errors.As(err, &unknown) {
		t.Errorf("an undeclared method: %v", err)
	}
	for name, call := range map[string]func() error{
		"class":        func() error { return classAction(t, s, "Nothing", "get", ovo.Manifest{"Nothing": "1.0"}, `[1]`) },
		"no version":   func() error { return classAction(t, s, "Thing", "get", ovo.Manifest{}, `[1]`) },
		"version":      func() error { return classAction(t, s, "Thing", "get", ovo.Manifest{"Thing": "1.9"}, `[1]`) },
		"major":        func() error { return classAction(t, s, "Thing", "get", ovo.Manifest{"Thing": "2.0"}, `[1]`) },
		"missing":      func() error { return classAction(t, s, "Thing", "get", m, `[]`) },
		"too many":     func() error { return classAction(t, s, "Thing", "get", m, `[1, 2]`) },
		"None":         func() error { return classAction(t, s, "Thing", "get", m, `[null]`) },
		"ill-typed":    func() error { return classAction(t, s, "Thing", "get", m, `["x"]`) },
		"no list":      func() error { return classAction(t, s, "Thing", "get", m, `{}`) },
		"wrong method": func() error { return classAction(t, s, "Thing", "add", m, `[1]`) },
	} {
		if err := call(); !errors.As(err, &failed) {
			t.Errorf("%s: %v, want a failure of the server", name, err)
		}
	}
}

func classAction(t *testing.T, s *served, object, method string, m ovo.Manifest, args string) error {
	t.Helper()
	_, err := s.via.ObjectClassActionVersions(t.Context(), object, method, m, []byte(args), []byte(`{}`))
	return err
}

// TestTooNewObjectIsConvertedOnce: an object that its reader is too old for costs one conversion.
func TestTooNewObjectIsConvertedOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	raw, err := current(t).Append(nil, get(5))
	if err != nil {
		t.Fatal(err)
	}
	reader := ovo.Serializer{Registry: older(t), Indirection: s.via}
	var o *thing10
	if err := reader.Deserialize(t.Context(), raw, &o); err != nil || o.ID.Value() != 5 || o.Part.Value().Name.Value() != "p" {
		t.Errorf("read %v, %v", o, err)
	}
	if diff := cmp.Diff(map[string]int{"object_backport_versions": 1}, s.calls); diff != "" {
		t.Error(diff)
	}
}

// TestReadsMayBeRepeated: what the client is told to be a reading is asked about by class and method.
func TestReadsMayBeRepeated(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var asked []string
	s.via.Reads = func(object, method string) bool { asked = append(asked, object+"."+method); return true }
	var remote thingMethods
	bind(t, current(t), s.via, &remote)
	if _, err := remote.Get(context.WithoutCancel(t.Context()), 1); err != nil || !cmp.Equal(asked, []string{"Thing.get"}) {
		t.Errorf("asked %v, %v", asked, err)
	}
}
