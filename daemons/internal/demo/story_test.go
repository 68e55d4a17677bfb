package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// collect plays the story and returns every result by step.
func collect(t *testing.T, o Options) (results map[string]Result, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	results = map[string]Result{}
	ok, err := Run(ctx, o, func(r Result) error {
		results[r.Step] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return results, ok
}

// TestStory: every step holds, and has its fixed keys.
func TestStory(t *testing.T) {
	t.Parallel()
	results, ok := collect(t, Options{})
	for step, keys := range map[string][]string{
		"inventory":            {"selected", "reasons"},
		"report":               {},
		"bind":                 {"v2_4", "v2_3", "events"},
		"indirection":          {"method", "version", "envelope"},
		"cap":                  {"sent", "error"},
		"conflict":             {"error", "info_before", "info_after"},
		"in_place":             {"uuid_before", "uuid_after", "info_before", "info_after"},
		"excluded_while_bound": {"total", "reserved"},
		"class_guard":          {"error", "sent", "warning"},
		"schema":               {"error"},
	} {
		r, played := results[step]
		if !played || !r.OK {
			t.Errorf("%s: played %t, ok %t: %s", step, played, r.OK, compact(r.Detail))
		}
		for _, key := range keys {
			if _, there := r.Detail[key]; !there {
				t.Errorf("%s: the detail has no %s: %s", step, key, compact(r.Detail))
			}
		}
	}
	if !ok || len(results) != len(story()) {
		t.Errorf("Run() = %t after %d of %d steps", ok, len(results), len(story()))
	}
}

// TestStoryElsewhere plays on another tree with other rules: a whole card, managed.
func TestStoryElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := expandHost(dir); err != nil {
		t.Fatal(err)
	}
	results, ok := collect(t, Options{Sysfs: dir, DeviceSpec: `[{"vendor_id": "8086", "product_id": "10ca"}]`})
	if !ok {
		t.Errorf("the story does not hold: %s", compact(results))
	}
	if got := results["inventory"].Detail["selected"].([]string); len(got) != 5 {
		t.Errorf("selected %v, want the five virtual functions of the network cards", got)
	}
}

// TestCounter takes the one mechanism behind each step away: the step must not hold.
func TestCounter(t *testing.T) {
	t.Parallel()
	var db, own standalone.Store // of the cases that need them
	for name, tt := range map[string]struct {
		step  string
		seams standalone.Seams
	}{
		"a matcher that ignores exclusions": {"inventory", standalone.Seams{
			Options: func(o drivers.Options) drivers.Options { o.ExcludeList = nil; return o },
		}},
		"a Placement client that forgets traits": {"report", standalone.Seams{
			Placement: func(p reconcile.Placement) reconcile.Placement { return noTraits{p} },
		}},
		"an API that knows one microversion": {"bind", standalone.Seams{Handler: newestOnly}},
		"a notifier that repeats itself": {"bind", standalone.Seams{
			Notifier: func(n conductor.Notifier) conductor.Notifier { return twice{n} },
		}},
		"a caller with a database of its own": {"indirection", standalone.Seams{
			Store:   func(s standalone.Store) standalone.Store { db = s; return s },
			Objects: func(cyborg.Objects) cyborg.Objects { return cyborg.Local(db) },
		}},
		"an agent with a database of its own": {"indirection", standalone.Seams{
			Inventory: func(agent.Inventory) agent.Inventory { return agent.RemoteInventory(cyborg.Local(own)) },
			Store:     func(s standalone.Store) standalone.Store { own = s; return s },
		}},
		"a client without caps": {"cap", standalone.Seams{
			Limits: func(cyborgrpc.Limits) cyborgrpc.Limits { return cyborgrpc.Limits{} },
		}},
		"an agent that does not see allocations": {"conflict", standalone.Seams{
			Inventory: func(i agent.Inventory) agent.Inventory { return blind{i} },
		}},
		"such an agent and a store without the stale check": {"conflict", standalone.Seams{
			Inventory: func(i agent.Inventory) agent.Inventory { return blind{i} },
			Store:     func(s standalone.Store) standalone.Store { return trusting{s} },
		}},
		"a store that never changes a handle in place": {"in_place", standalone.Seams{
			Store: func(s standalone.Store) standalone.Store { return frozen{s} },
		}},
		"an agent that leaves the update to the report": {"in_place", standalone.Seams{
			Inventory: func(i agent.Inventory) agent.Inventory { return lazy{i} },
		}},
		"a Placement client that does not reserve": {"excluded_while_bound", standalone.Seams{
			Placement: func(p reconcile.Placement) reconcile.Placement { return noReserve{p} },
		}},
		"a driver without class guard": {"class_guard", standalone.Seams{
			Options: func(o drivers.Options) drivers.Options { o.AllowUnsafe = true; return o },
		}},
		"options without a schema": {"schema", standalone.Seams{Options: withoutUnknownKeys}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, ok := collect(t, Options{Seams: tt.seams})
			if ok || results[tt.step].OK {
				t.Errorf("%s holds without its mechanism: %s", tt.step, compact(results[tt.step].Detail))
			}
			for _, s := range story() {
				if s.name == tt.step {
					break
				}
				if !results[s.name].OK {
					t.Errorf("%s does not hold either, before %s: %s", s.name, tt.step, compact(results[s.name].Detail))
				}
			}
		})
	}
}

type noTraits struct{ reconcile.Placement }

func (p noTraits) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	s.Traits = nil
	return p.Placement.Sync(ctx, s)
}

type noReserve struct{ reconcile.Placement }

func (p noReserve) Reserve(_ context.Context, s reconcile.ProviderState) (int, error) {
	return s.Generation, nil
}

// newestOnly answers every request at the newest microversion.
func newestOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("OpenStack-API-Version", "accelerator latest")
		h.ServeHTTP(w, r)
	})
}

type twice struct{ conductor.Notifier }

func (n twice) Notify(ctx context.Context, events []nova.Event) error {
	return n.Notifier.Notify(ctx, append(events, events...))
}

// blind shows every attach handle as free.
type blind struct{ agent.Inventory }

func (b blind) AttachHandles(ctx context.Context, host string) (handles, referenced *cyborg.AttachHandleList, err error) {
	handles, _, err = b.Inventory.AttachHandles(ctx, host)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range handles.All() {
		h.InUse.Set(false)
	}
	return handles, ovo.ListOf[cyborg.AttachHandleList]([]*cyborg.AttachHandle{}), nil
}

// trusting updates whatever the caller expected.
type trusting struct{ standalone.Store }

func (s trusting) UpdateAttachInfo(ctx context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	u.Expected.InUse, u.Expected.Referenced, u.RequireUnallocated = true, true, false
	return s.Store.UpdateAttachInfo(ctx, u)
}

// frozen keeps the text of every attach handle and says that it changed.
type frozen struct{ standalone.Store }

func (s frozen) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	return updated(u), nil
}

func (s frozen) Commit(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(step reconcile.Step) bool {
		_, info := step.(reconcile.SetHandleInfo)
		return info
	})
	return s.Store.Commit(ctx, p)
}

func updated(u cyborg.AttachInfoUpdate) *cyborg.AttachHandleRow {
	return &cyborg.AttachHandleRow{UUID: u.UUID, AttachType: u.Expected.AttachType, AttachInfo: u.AttachInfo}
}

// lazy says that it updated and did not.
type lazy struct{ agent.Inventory }

func (lazy) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandle, error) {
	return &cyborg.AttachHandle{UUID: ovo.Of(u.UUID), AttachInfo: ovo.Of(u.AttachInfo)}, nil
}

// withoutUnknownKeys drops what a schema would refuse.
func withoutUnknownKeys(o drivers.Options) drivers.Options {
	known := []string{"address", "devname", "managed", "physical_network", "product_id", "vendor_id"}
	o.DeviceSpec = slices.Clone(o.DeviceSpec)
	for i, v := range o.DeviceSpec {
		rules, _, err := rulesOf(v.Text)
		if err != nil {
			continue
		}
		for _, r := range rules {
			for key := range r {
				if !slices.Contains(known, key) {
					delete(r, key)
				}
			}
		}
		raw, err := json.Marshal(rules)
		if err != nil {
			continue
		}
		o.DeviceSpec[i].Text = strings.TrimSpace(string(raw))
	}
	return o
}
