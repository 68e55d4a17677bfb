package rpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
)

type embedded struct{}

func TestNewMethodRefuses(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"no name":        func() { rpc.NewMethod[struct{}, string]("", "1.0") },
		"private name":   func() { rpc.NewMethod[struct{}, string]("_x", "1.0") },
		"name not UTF-8": func() { rpc.NewMethod[struct{}, string]("\xff", "1.0") },
		"version 1":      func() { rpc.NewMethod[struct{}, string]("m", "1") },
		"version auto":   func() { rpc.NewMethod[struct{}, string]("m", "auto") },
		"scalar":         func() { rpc.NewMethod[int, string]("m", "1.0") },
		"map of ints":    func() { rpc.NewMethod[map[int]string, string]("m", "1.0") },
		"untagged": func() {
			rpc.NewMethod[struct{ A int }, string]("m", "1.0")
		},
		"unnamed": func() {
			rpc.NewMethod[struct {
				A int `json:",omitempty"`
			}, string]("m", "1.0")
		},
		"ignored": func() {
			rpc.NewMethod[struct {
				A int `json:"-"`
			}, string]("m", "1.0")
		},
		"embedded": func() {
			rpc.NewMethod[struct {
				embedded `json:"a"`
			}, string]("m", "1.0")
		},
		"endpoint version": func() { rpc.NewEndpoint("", "1") },
		"method above the endpoint": func() {
			rpc.NewMethod[struct{}, string]("m", "1.1").Handle(rpc.NewEndpoint("", "1.0"), nil)
		},
		"registered twice": func() {
			e, m := rpc.NewEndpoint("", "1.0"), rpc.NewMethod[struct{}, string]("m", "1.0")
			m.Handle(e, nil)
			m.Handle(e, nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

type optionalArgs struct {
	Name  string   `json:"name"`
	Count int      `json:"count,omitempty"`
	List  []string `json:"list,omitzero"`
	When  *int     `json:"when"`
}

// TestArgumentsOnTheWire shows what is sent: values that have a default in Python may be absent.
func TestArgumentsOnTheWire(t *testing.T) {
	t.Parallel()
	m := rpc.NewMethod[optionalArgs, rpc.Null]("m", "1.0")
	for want, args := range map[string]optionalArgs{
		`{"name": "", "when": null}`:                               {},
		`{"name": "\u00e9", "count": 1, "list": [], "when": null}`: {Name: "é", Count: 1, List: []string{}},
	} {
		bus := newTap()
		if err := m.Cast(t.Context(), remoteOf(bus), args); err != nil {
			t.Fatal(err)
		}
		same(t, "arguments", want, string(decodeRequest(t, (<-bus.sent).Body).Args))
	}
	bus := newTap()
	loose := rpc.NewMethod[map[string]any, rpc.Null]("m", "1.0")
	if err := loose.Cast(t.Context(), remoteOf(bus), map[string]any{"b": 1, "a": "x"}); err != nil {
		t.Fatal(err)
	}
	same(t, "arguments", `{"a": "x", "b": 1}`, string(decodeRequest(t, (<-bus.sent).Body).Args))
	if err := loose.Cast(t.Context(), remoteOf(bus), map[string]any{"b": func() {}}); err == nil {
		t.Error("an argument that cannot be encoded was sent")
	}
}

// TestArgumentTexts compares the complaints with those of a Python server, less the class in front of the method.
func TestArgumentTexts(t *testing.T) {
	t.Parallel()
	type three struct {
		A int    `json:"a"`
		B string `json:"b"`
		C *bool  `json:"c"`
		D int    `json:"d,omitempty"`
	}
	type kwargs = map[string]any
	for _, c := range []struct {
		args kwargs
		want string
	}{
		{kwargs{"a": 1, "b": "x", "c": true}, ""},
		{kwargs{"a": 1, "b": "x", "c": nil, "d": 4}, ""},
		{kwargs{"a": 1, "b": "x", "c": true, "zz": 1}, "builtins.TypeError: m() got an unexpected keyword argument 'zz'"},
		{kwargs{"b": "x", "c": true}, "builtins.TypeError: m() missing 1 required positional argument: 'a'"},
		{kwargs{"c": true}, "builtins.TypeError: m() missing 2 required positional arguments: 'a' and 'b'"},
		{kwargs{}, "builtins.TypeError: m() missing 3 required positional arguments: 'a', 'b', and 'c'"},
		{kwargs{"a": "one", "b": "x", "c": true}, "builtins.ValueError: m(): argument 'a': a string does not fit"},
		{kwargs{"a": []int{1}, "b": "x", "c": true}, "builtins.ValueError: m(): argument 'a': an array does not fit"},
		{kwargs{"a": kwargs{}, "b": "x", "c": true}, "builtins.ValueError: m(): argument 'a': an object does not fit"},
		{kwargs{"a": 1.5, "b": "x", "c": true, "zz": 1}, "builtins.ValueError: m(): argument 'a': a number 1.5 does not fit"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := rpc.NewEndpoint("", "1.0")
			rpc.NewMethod[three, rpc.Null]("m", "1.0").Handle(e, func(context.Context, three) (rpc.Null, error) { return rpc.Null{}, nil })
			remote := serveMemory(t, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}}, rpc.ClientConfig{})
			_, err := rpc.NewMethod[kwargs, rpc.Null]("m", "1.0").Call(t.Context(), remote, c.args)
			got := ""
			if remoteErr, ok := errors.AsType[*rpc.RemoteError](err); ok {
				got = remoteErr.Class.Error() + ": " + remoteErr.Message
			} else if err != nil {
				t.Fatal(err)
			}
			same(t, "failure", c.want, got)
		})
	}
}

func TestRefusedLocally(t *testing.T) {
	t.Parallel()
	bus := newTap()
	m := rpc.NewMethod[struct{}, rpc.Null]("m", "1.1")
	capped := remoteOf(bus)
	capped.Cap = rpc.Version{Major: 1}
	var tooNew *rpc.VersionCapError
	if _, err := m.Call(t.Context(), capped, struct{}{}); !errors.As(err, &tooNew) || tooNew.Version != m.Version() || tooNew.Cap != capped.Cap {
		t.Errorf("a call above the cap: %v", err)
	}
	if err := m.Allowed(capped); !errors.As(err, &tooNew) {
		t.Errorf("Allowed: %v", err)
	}
	if capped.CanSendVersion(rpc.Version{Major: 1, Minor: 1}) || !capped.CanSendVersion(rpc.Version{Major: 1}) {
		t.Error("CanSendVersion disagrees")
	}
	unversioned := rpc.NewMethod[struct{}, rpc.Null]("m", "")
	if err := unversioned.Cast(t.Context(), capped, struct{}{}); !errors.As(err, &tooNew) {
		t.Errorf("a message without version under a cap: %v", err)
	}
	if err := m.CastAll(t.Context(), rpc.Remote{Client: capped.Client}, struct{}{}); !errors.Is(err, rpc.ErrNoTopic) {
		t.Errorf("no topic: %v", err)
	}
	if len(bus.sent) != 0 {
		t.Error("something was sent")
	}
	capped.Cap = rpc.Version{Major: 1, Minor: 5}
	if err := m.Cast(t.Context(), capped, struct{}{}); err != nil {
		t.Error(err)
	}
	same(t, "version", `"1.1"`, string(decodeRequest(t, (<-bus.sent).Body).Version)) // a cap never relabels
}
