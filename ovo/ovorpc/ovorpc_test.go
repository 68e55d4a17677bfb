package ovorpc_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Lamp is an object with one method of each kind.
type Lamp struct {
	ovo.Base
	Room ovo.Field[string] `ovo:"room"`
	Lit  ovo.Field[bool]   `ovo:"lit"`
}

// Lamps are its remotable methods.
type Lamps struct {
	Get    func(ctx context.Context, room string) (*Lamp, error)                 `ovo:"get(cls, context, room)"`
	Switch func(ctx context.Context, l *Lamp, on bool) (changed bool, err error) `ovo:"switch(self, on)"`
}

var errDark = &ovo.ValueError{Message: "the room is dark"}

// local has bodies; lamps are lit or not by room.
func local() Lamps {
	return Lamps{
		Get: func(_ context.Context, room string) (*Lamp, error) {
			if room == "cellar" {
				return nil, errDark
			}
			return &Lamp{Room: ovo.Stored(room), Lit: ovo.Stored(false)}, nil
		},
		Switch: func(_ context.Context, l *Lamp, on bool) (bool, error) {
			changed := l.Lit.Value() != on
			l.Lit.Set(on)
			return changed, nil
		},
	}
}

func registry() (*ovo.Registry, error) {
	return ovo.NewRegistry(ovo.Namespace{Prefix: "house", Project: "house"},
		ovo.NewClass[Lamp]("Lamp", ovo.History{ovo.V("1.0")}, ovo.Methods[Lamps]()))
}

// exceptions is what a program's own table would hold.
func exceptions() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("builtins", "ValueError",
		func(*ovo.ValueError) map[string]any { return nil },
		func(r *rpc.RemoteError) *ovo.ValueError { return &ovo.ValueError{Message: r.Message} })}
}

// house serves the lamps on a bus under names of its own and gives what a caller needs.
func house(t *testing.T, names ovorpc.Names, serializer func(*ovo.Registry) rpc.Serializer) (*ovo.Registry, *ovorpc.Client) {
	t.Helper()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Dispatcher(local())
	if err != nil {
		t.Fatal(err)
	}
	methods, err := ovorpc.NewMethods(names)
	if err != nil {
		t.Fatal(err)
	}
	ep := rpc.NewEndpoint("", names.Version)
	methods.Serve(ep, d)
	bus := memory.New()
	up := make(chan struct{})
	once := sync.OnceFunc(func() { close(up) })
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: "house", Server: "one"}, Endpoints: []*rpc.Endpoint{ep},
		Serializer: serializer(r), Exceptions: exceptions(),
		Ready: func(ready bool) {
			if ready {
				once()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	client := rpc.NewClient(bus, rpc.ClientConfig{Serializer: serializer(r), Exceptions: exceptions()})
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-up
	return r, &ovorpc.Client{Methods: methods, Remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: "house"}}}
}

// TestRemotable: class method, instance method with its changes, failure and conversion, under any names and over
// both serializers.
func TestRemotable(t *testing.T) {
	t.Parallel()
	serializers := map[string]func(*ovo.Registry) rpc.Serializer{
		"ovo":  func(r *ovo.Registry) rpc.Serializer { return ovo.Serializer{Registry: r} },
		"json": func(*ovo.Registry) rpc.Serializer { return rpc.JSON{} },
	}
	for kind, serializer := range serializers {
		for name, names := range map[string]ovorpc.Names{
			"default": ovorpc.DefaultNames(), "own": {ClassAction: "call_class", Action: "call", Backport: "older", Version: "3.2"},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				r, via := house(t, names, serializer)
				var lamps Lamps
				if err := r.Bind(via, &lamps); err != nil {
					t.Fatal(err)
				}
				lamp, err := lamps.Get(t.Context(), "hall")
				if err != nil || lamp.Room.Value() != "hall" {
					t.Fatalf("Get() = %v, %v", lamp, err)
				}
				changed, err := lamps.Switch(t.Context(), lamp, true)
				if err != nil || !changed || !lamp.Lit.Value() || !lamp.Lit.Changed() {
					t.Errorf("Switch() = %t, %v; lit %t, changed %t", changed, err, lamp.Lit.Value(), lamp.Lit.Changed())
				}
				var dark *ovo.ValueError
				if _, err := lamps.Get(t.Context(), "cellar"); !errors.As(err, &dark) || dark.Message != errDark.Message {
					t.Errorf("Get(cellar) = %v, want the body's error", err)
				}
				raw, err := r.Append(nil, lamp)
				if err != nil {
					t.Fatal(err)
				}
				older, err := via.ObjectBackportVersions(t.Context(), raw, ovo.Manifest{"Lamp": "1.0"})
				if err != nil {
					t.Fatal(err)
				}
				if back, err := ovo.Decode[Lamp](r, older); err != nil || back.Room.Value() != "hall" {
					t.Errorf("converted %s: %v", older, err)
				}
			})
		}
	}
}

// TestCap: every operation is refused locally, and Allowed says so beforehand.
func TestCap(t *testing.T) {
	t.Parallel()
	r, via := house(t, ovorpc.DefaultNames(), func(*ovo.Registry) rpc.Serializer { return rpc.JSON{} })
	if err := via.Allowed(); err != nil {
		t.Errorf("without a cap: %v", err)
	}
	via.Remote.Cap = rpc.Version{Major: 1}
	var lamps Lamps
	if err := r.Bind(via, &lamps); err != nil {
		t.Fatal(err)
	}
	_, class := lamps.Get(t.Context(), "hall")
	_, instance := lamps.Switch(t.Context(), &Lamp{}, true)
	_, backport := via.ObjectBackportVersions(t.Context(), nil, nil)
	for name, err := range map[string]error{"allowed": via.Allowed(), "class": class, "instance": instance, "backport": backport} {
		if _, ok := errors.AsType[*rpc.VersionCapError](err); !ok {
			t.Errorf("%s: %v, want *rpc.VersionCapError", name, err)
		}
	}
}

// TestNames: an empty name and a malformed version are refused.
func TestNames(t *testing.T) {
	t.Parallel()
	bad := ovorpc.DefaultNames()
	bad.Action = ""
	unversioned := ovorpc.DefaultNames()
	unversioned.Version = "auto"
	for _, n := range []ovorpc.Names{bad, unversioned, {}} {
		if _, err := ovorpc.NewMethods(n); err == nil {
			t.Errorf("%+v was taken", n)
		}
	}
}
