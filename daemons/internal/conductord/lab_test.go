package conductord_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// The classes that only these tests register. They become callable at RPC 1.1 by that alone.

// labEcho answers with what it is given.
type labEcho struct{ cyborg.Object }

type labEchoes struct {
	Echo func(ctx context.Context, nonce string) (string, error) `ovo:"echo(cls, context, nonce)"`
}

// labPart is nested in labCounter. 1.1 colour.
type labPart struct {
	cyborg.Object
	Name   ovo.Field[string] `ovo:"name"`
	Colour ovo.Null[string]  `ovo:"colour"`
}

// labCounter has an instance method. 1.1 part 1.1 and note.
type labCounter struct {
	cyborg.Object
	Count ovo.Field[int64]   `ovo:"count"`
	Part  ovo.Null[*labPart] `ovo:"part"`
	Note  ovo.Null[string]   `ovo:"note"`
}

type labCounters struct {
	Get func(ctx context.Context, count int64) (*labCounter, error)        `ovo:"get(cls, context, count)"`
	Add func(ctx context.Context, c *labCounter, by int64) (string, error) `ovo:"add(self, by)"`
}

type labCounterList struct {
	ovo.List[labCounter]
	cyborg.Object
}

type labCounterLists struct {
	Fill func(ctx context.Context, text string, n int64) (*labCounterList, error) `ovo:"fill(cls, context, text, n)"`
}

// extARQList is the requests that the caller may see.
type extARQList struct {
	ovo.List[cyborg.ExtARQ]
	cyborg.Object
}

type extARQLists struct {
	GetAll func(ctx context.Context) (*extARQList, error) `ovo:"get_all(cls, context)"`
}

// labObjects are their method sets.
type labObjects struct {
	Echo    labEchoes
	Counter labCounters
	Lists   labCounterLists
	ExtARQs extARQLists
}

func labClasses() []*ovo.Class {
	return append(cyborg.Classes(),
		ovo.NewClass[labEcho]("LabEcho", ovo.History{ovo.V("1.0")}, ovo.Methods[labEchoes]()),
		ovo.NewClass[labPart]("LabPart", ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Adds("colour"))}),
		ovo.NewClass[labCounter]("LabCounter", ovo.History{
			ovo.V("1.0", ovo.Part("part", "1.0")), ovo.V("1.1", ovo.Part("part", "1.1"), ovo.Adds("note")),
		}, ovo.Methods[labCounters]()),
		ovo.NewClass[labCounterList]("LabCounterList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.1"))},
			ovo.Methods[labCounterLists]()),
		ovo.NewClass[extARQList]("ExtARQList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.3"))}, ovo.Methods[extARQLists]()))
}

func labRegistry() (*ovo.Registry, error) {
	return ovo.NewRegistry(cyborg.Namespace(), labClasses()...)
}

func labRemote(t testing.TB, via ovo.Indirection) (cyborg.Objects, labObjects) {
	t.Helper()
	r, err := labRegistry()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := cyborg.Remote(r, via)
	var lab labObjects
	if err := errors.Join(err, r.Bind(via, &lab.Echo, &lab.Counter, &lab.Lists, &lab.ExtARQs)); err != nil {
		t.Fatal(err)
	}
	return objects, lab
}

func counter(count int64) *labCounter {
	return &labCounter{
		Count: ovo.Stored(count), Note: ovo.NullStored(new("n")),
		Part: ovo.NullOf(&labPart{Name: ovo.Stored("p"), Colour: ovo.NullStored(new("red"))}),
	}
}

// labLocal are the bodies.
func labLocal(db *store.Store) labObjects {
	return labObjects{
		Echo: labEchoes{
			Echo: func(_ context.Context, nonce string) (string, error) { return nonce, nil },
		},
		Counter: labCounters{
			Get: func(_ context.Context, count int64) (*labCounter, error) { return counter(count), nil },
			Add: func(_ context.Context, c *labCounter, by int64) (string, error) {
				c.Count.Set(c.Count.Value() + by)
				return "added", nil
			},
		},
		Lists: labCounterLists{
			Fill: func(_ context.Context, text string, n int64) (*labCounterList, error) {
				list := make([]*labCounter, n)
				for i := range list {
					list[i] = counter(int64(i))
					list[i].Note = ovo.NullStored(&text)
				}
				return ovo.ListOf[labCounterList](list), nil
			},
		},
		ExtARQs: extARQLists{GetAll: func(ctx context.Context) (*extARQList, error) { return visible(ctx, db) }},
	}
}

// visible is what the conductor's own methods show a caller: the requests of its project, all of them to an admin.
func visible(ctx context.Context, db *store.Store) (*extARQList, error) {
	var filter store.RequestFilter
	if caller := rpc.RequestOf(ctx); !caller.IsAdmin {
		filter.Project = &caller.ProjectID
	}
	found, err := db.Requests(ctx, filter)
	if err != nil {
		return nil, err
	}
	list := make([]*cyborg.ExtARQ, len(found))
	for i, r := range found {
		list[i] = &cyborg.ExtARQ{ARQ: ovo.Stored(&cyborg.ARQ{UUID: ovo.Stored(r.UUID), ProjectID: ovo.NullStored(&r.ProjectID)})}
	}
	return ovo.ListOf[extARQList](list), nil
}

// records counts log records.
type records struct{ n atomic.Int64 }

func (r *records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(context.Context, slog.Record) error { r.n.Add(1); return nil }

func (r *records) WithAttrs([]slog.Attr) slog.Handler { return r }

func (r *records) WithGroup(string) slog.Handler { return r }

func (r *records) number() int64 { return r.n.Load() }
