package ovorpc_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// part is nested in thing; 1.1 colour.
type part struct {
	ovo.Base
	Name   ovo.Field[string] `ovo:"name"`
	Colour ovo.Null[string]  `ovo:"colour"`
}

// thing has a method of each kind; 1.1 part 1.1 and note.
type thing struct {
	ovo.Base
	ID    ovo.Field[int64] `ovo:"id"`
	Count ovo.Field[int64] `ovo:"count"`
	Part  ovo.Null[*part]  `ovo:"part"`
	Note  ovo.Null[string] `ovo:"note"`
}

type thingMethods struct {
	Get     func(ctx context.Context, id int64) (*thing, error)                         `ovo:"get(cls, context, id)"`
	Add     func(ctx context.Context, t *thing, by int64, note *string) (string, error) `ovo:"add(self, by, note=None)"`
	Project func(ctx context.Context) (string, error)                                   `ovo:"project(cls, context)"`
}

// thingList is 500 things; its own version never changes.
type thingList struct {
	ovo.List[thing]
	ovo.Base
}

type thingLists struct {
	All func(ctx context.Context, n int64) (*thingList, error) `ovo:"all(cls, context, n)"`
}

// part10 and thing10 are the same classes one version back.
type part10 struct {
	ovo.Base
	Name ovo.Field[string] `ovo:"name"`
}

type thing10 struct {
	ovo.Base
	ID    ovo.Field[int64]  `ovo:"id"`
	Count ovo.Field[int64]  `ovo:"count"`
	Part  ovo.Null[*part10] `ovo:"part"`
}

type thing10Methods struct {
	Get func(ctx context.Context, id int64) (*thing10, error)                         `ovo:"get(cls, context, id)"`
	Add func(ctx context.Context, t *thing10, by int64, note *string) (string, error) `ovo:"add(self, by, note=None)"`
}

type thing10List struct {
	ovo.List[thing10]
	ovo.Base
}

type thing10Lists struct {
	All func(ctx context.Context, n int64) (*thing10List, error) `ovo:"all(cls, context, n)"`
}

func space() ovo.Namespace { return ovo.Namespace{Prefix: "lab_object", Project: "lab"} }

func current(t testing.TB) *ovo.Registry {
	t.Helper()
	return registered(t,
		ovo.NewClass[part]("Part", ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Adds("colour"))}),
		ovo.NewClass[thing]("Thing", ovo.History{
			ovo.V("1.0", ovo.Part("part", "1.0")), ovo.V("1.1", ovo.Part("part", "1.1"), ovo.Adds("note")),
		}, ovo.Methods[thingMethods]()),
		ovo.NewClass[thingList]("ThingList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.1"))}, ovo.Methods[thingLists]()))
}

func older(t testing.TB) *ovo.Registry {
	t.Helper()
	return registered(t,
		ovo.NewClass[part10]("Part", ovo.History{ovo.V("1.0")}),
		ovo.NewClass[thing10]("Thing", ovo.History{ovo.V("1.0", ovo.Part("part", "1.0"))}, ovo.Methods[thing10Methods]()),
		ovo.NewClass[thing10List]("ThingList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.0"))}, ovo.Methods[thing10Lists]()))
}

func registered(t testing.TB, classes ...*ovo.Class) *ovo.Registry {
	t.Helper()
	r, err := ovo.NewRegistry(space(), classes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var errGone = errors.New("gone")

func get(id int64) *thing {
	return &thing{
		ID: ovo.Stored(id), Count: ovo.Stored[int64](0), Note: ovo.NullStored(new("n")),
		Part: ovo.NullOf(&part{Name: ovo.Stored("p"), Colour: ovo.NullStored(new("red"))}),
	}
}

func localThings() thingMethods {
	return thingMethods{
		Get: func(_ context.Context, id int64) (*thing, error) {
			if id == 404 {
				return nil, errGone
			}
			return get(id), nil
		},
		Add: func(_ context.Context, t *thing, by int64, note *string) (string, error) {
			if by < 0 {
				return "", errGone
			}
			t.Count.Set(t.Count.Value() + by)
			if note != nil {
				t.Note.Set(*note)
			}
			return "added", nil
		},
		Project: func(ctx context.Context) (string, error) { return rpc.RequestOf(ctx).ProjectID, nil },
	}
}

func localLists() thingLists {
	return thingLists{All: func(_ context.Context, n int64) (*thingList, error) {
		members := make([]*thing, n)
		for i := range members {
			members[i] = get(int64(i))
		}
		return ovo.ListOf[thingList](members), nil
	}}
}

// thingExceptions let an undeclared method be told apart.
func thingExceptions() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("builtins", "AttributeError",
		func(*ovo.AttributeError) map[string]any { return nil }, func(r *rpc.RemoteError) *ovo.AttributeError {
			return &ovo.AttributeError{Message: r.Message}
		})}
}

// served is a client of a server that has the current classes; calls counts its requests by operation.
type served struct {
	via   *ovorpc.Client
	mu    sync.Mutex
	calls map[string]int
}

func (s *served) count(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
	s.mu.Lock()
	s.calls[c.Method]++
	s.mu.Unlock()
	return next(ctx)
}

func serve(t testing.TB) *served {
	t.Helper()
	methods, err := ovorpc.NewMethods(ovorpc.DefaultNames())
	if err != nil {
		t.Fatal(err)
	}
	dispatcher, err := current(t).Dispatcher(localThings(), localLists())
	if err != nil {
		t.Fatal(err)
	}
	ep := rpc.NewEndpoint("", ovorpc.DefaultNames().Version)
	methods.Serve(ep, dispatcher)
	s, bus, up := &served{calls: map[string]int{}}, memory.New(), make(chan struct{})
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: "things", Server: "h"}, Endpoints: []*rpc.Endpoint{ep}, Exceptions: thingExceptions(),
		Interceptors: []rpc.Interceptor{s.count}, Ready: func(ready bool) {
			if ready {
				close(up)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	<-up
	client := rpc.NewClient(bus, rpc.ClientConfig{Exceptions: thingExceptions()})
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.via = &ovorpc.Client{Methods: methods, Remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: "things"}}}
	return s
}

func bind(t testing.TB, r *ovo.Registry, via ovo.Indirection, sets ...any) {
	t.Helper()
	if err := r.Bind(via, sets...); err != nil {
		t.Fatal(err)
	}
}
