package placement_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "compute-1"

// wire is a client in front of an in-process Placement; it records requests
// and lets a test answer some of them.
type wire struct {
	*placement.Client
	service *placementtest.Handler
	root    string

	mu       sync.Mutex
	requests []string
	before   func(*http.Request)                // runs before a request is served
	answer   func(*http.Request) *http.Response // nil: the service answers
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{service: placementtest.New(nil)}
	root, err := w.service.Placement.CreateProvider("", host, "")
	if err != nil {
		t.Fatal(err)
	}
	w.root = root.UUID
	w.Client = placement.NewNoAuth("http://placement.invalid/placement", &http.Client{Transport: w}, placement.Config{})
	return w
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/placement")
	line := r.Method + " " + r.URL.RequestURI()
	if v := r.Header.Get("OpenStack-API-Version"); v != "placement 1.26" {
		line += " at " + v
	}
	w.mu.Lock()
	w.requests = append(w.requests, line)
	before, answer := w.before, w.answer
	w.mu.Unlock()
	if before != nil {
		before(r)
	}
	if answer != nil {
		if resp := answer(r); resp != nil {
			return resp, nil
		}
	}
	return placementtest.Client(w.service).Transport.RoundTrip(r)
}

// sent gives the requests since the last call, uuids of known names shortened.
func (w *wire) sent(names ...string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.requests
	w.requests = nil
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], w.root, "ROOT")
		for _, n := range names {
			out[i] = strings.ReplaceAll(out[i], reconcile.ProviderUUID(n), n)
		}
	}
	return out
}

func (w *wire) state(name string) reconcile.ProviderState {
	return reconcile.ProviderState{
		UUID: reconcile.ProviderUUID(name), Name: name, Parent: w.root,
		Class: "CUSTOM_PCI", Traits: []string{"OWNER_CYBORG", "CUSTOM_T1"}, OldTraits: []string{"CUSTOM_T1"}, Total: 1,
	}
}

func (w *wire) holds(t *testing.T, name string) string {
	t.Helper()
	inventories, generation, err := w.service.Placement.Inventories(reconcile.ProviderUUID(name))
	if err != nil {
		return "gone"
	}
	traits, _, _ := w.service.Placement.ProviderTraits(reconcile.ProviderUUID(name))
	text := fmt.Sprintf("generation %d, %v", generation, traits)
	for class, v := range inventories {
		text += fmt.Sprintf(", %s %d/%d of %d", class, v.Reserved, v.Total, v.MaxUnit)
	}
	return text
}

func status(r *http.Request, code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

func TestTree(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	if _, err := w.Sync(ctx, w.state("child")); err != nil {
		t.Fatal(err)
	}
	w.sent()
	for i, want := range [][]string{
		{"GET /resource_providers?name=compute-1", "GET /resource_providers?in_tree=ROOT"},
		{"GET /resource_providers?in_tree=ROOT"},
	} {
		tree, err := w.Tree(ctx, host)
		if err != nil || tree.Root != w.root || len(tree.Providers) != 2 || tree.Providers[1].Name != "child" || tree.Providers[1].Parent != w.root {
			t.Fatalf("%+v, %v", tree, err)
		}
		if diff := cmp.Diff(want, w.sent()); diff != "" {
			t.Errorf("read %d: %s", i, diff)
		}
	}
	_, err := w.Tree(ctx, "a+b&c#d")
	if missing := new(reconcile.NoRootError); !errors.As(err, &missing) || missing.Host != "a+b&c#d" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"GET /resource_providers?name=a%2Bb%26c%23d"}, w.sent()); diff != "" {
		t.Error(diff)
	}
}

// TestTreeRootMadeAnew: nova-compute deleted and made the host's provider again.
func TestTreeRootMadeAnew(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	if _, err := w.Tree(ctx, host); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Placement.DeleteProvider(w.root); err != nil {
		t.Fatal(err)
	}
	_, err := w.Sync(ctx, w.state("child"))
	if missing := new(reconcile.NoRootError); !errors.As(err, &missing) || missing.Host != host {
		t.Errorf("sync under a root that is gone: %v", err)
	}
	again, err := w.service.Placement.CreateProvider("", host, "")
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := w.Tree(ctx, host); err != nil || tree.Root != again.UUID {
		t.Errorf("%+v, %v", tree, err)
	}
}

func TestSync(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	sync := func(s reconcile.ProviderState, want []string, holds string) int {
		t.Helper()
		generation, err := w.Sync(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.sent("p", "q")); diff != "" {
			t.Error(diff)
		}
		if got := w.holds(t, s.Name); got != holds {
			t.Errorf("%s, want %s", got, holds)
		}
		return generation
	}
	s := w.state("p")
	s.Generation = sync(s, []string{
		"POST /resource_providers", "PUT /traits/CUSTOM_T1", "PUT /resource_providers/p/traits",
		"PUT /resource_classes/CUSTOM_PCI", "PUT /resource_providers/p/inventories",
	}, "generation 2, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 0/1 of 1")

	q := w.state("q") // trait and class are known by now
	sync(q, []string{"POST /resource_providers", "PUT /resource_providers/q/traits", "PUT /resource_providers/q/inventories"},
		"generation 2, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 0/1 of 1")

	s.Known, s.SameTraits, s.Total, s.Reserved = true, true, 2, 1 // only the count
	s.Generation = sync(s, []string{"PUT /resource_providers/p/inventories"}, "generation 3, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	// Somebody else's trait stays, the row's old one goes.
	_, _ = w.service.Placement.EnsureTrait("CUSTOM_FOREIGN")
	s.Generation, _ = w.service.Placement.PutTraits(s.UUID, s.Generation, []string{"CUSTOM_T1", "OWNER_CYBORG", "CUSTOM_FOREIGN"})
	s.SameTraits, s.Traits, s.OldTraits = false, []string{"OWNER_CYBORG", "CUSTOM_T2"}, []string{"OWNER_CYBORG", "CUSTOM_T1"}
	s.Generation = sync(s, []string{
		"GET /resource_providers/p/traits", "PUT /traits/CUSTOM_T2", "PUT /resource_providers/p/traits", "PUT /resource_providers/p/inventories",
	}, "generation 6, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	s.OldTraits = s.Traits // nothing to change: no write of the traits
	s.Generation = sync(s, []string{"GET /resource_providers/p/traits", "PUT /resource_providers/p/inventories"},
		"generation 7, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG], CUSTOM_PCI 1/2 of 2")

	s.Total, s.Reserved = 0, 0 // nothing to offer
	sync(s, []string{"GET /resource_providers/p/traits", "PUT /resource_providers/p/inventories"},
		"generation 8, [CUSTOM_FOREIGN CUSTOM_T2 OWNER_CYBORG]")

	bare := reconcile.ProviderState{UUID: reconcile.ProviderUUID("q2"), Name: "q2", Parent: w.root, Class: "FPGA", Total: 3, Reserved: 3}
	if _, err := w.Sync(ctx, bare); err != nil || len(w.sent()) != 2 {
		t.Errorf("a provider without traits and of a standard class takes two requests: %v", err)
	}
}

// TestSyncForgetsVanishedNames: an operator deleted a trait that the client had
// made.
func TestSyncForgetsVanishedNames(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	if err := w.Drop(ctx, reconcile.ProviderUUID("p")); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Placement.DeleteTrait("CUSTOM_T1"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	s := w.state("q")
	s.Traits = []string{"no trait at all"}
	if _, err := w.Sync(ctx, s); err == nil {
		t.Error("an unknown standard trait was accepted")
	}
}

// TestSyncConflict: somebody else writes between our read and our write.
func TestSyncConflict(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	s := w.state("p")
	generation, err := w.Sync(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Known, s.Generation = true, generation
	foreign := 3
	w.before = func(r *http.Request) {
		if r.Method == http.MethodPut && foreign > 0 && strings.HasSuffix(r.URL.Path, "/inventories") {
			foreign--
			v := reconciletest.NewResourceInventory()
			v.Total, v.MaxUnit = 9, 9
			have, _ := w.service.Placement.Provider(s.UUID)
			_, _ = w.service.Placement.PutInventories(s.UUID, have.Generation, map[string]reconciletest.ResourceInventory{"CUSTOM_PCI": v}, true)
		}
	}
	asked := 0
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) {
		asked++
		now := s
		now.Total, now.Reserved = 4, 4 // as the row is now
		return now, nil
	}
	if _, err := w.Sync(ctx, s); err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if got := w.holds(t, "p"); !strings.HasSuffix(got, "CUSTOM_PCI 4/4 of 4") {
		t.Error(got)
	}
	foreign = 1
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) { return s, reconcile.ErrStale }
	if _, err := w.Sync(ctx, s); !errors.Is(err, reconcile.ErrStale) {
		t.Errorf("a lost claim: %v", err)
	}
	foreign = 1000
	s.Refresh = nil
	var refused *placement.Error
	if _, err := w.Sync(ctx, s); !errors.As(err, &refused) || refused.Code != "placement.concurrent_update" {
		t.Errorf("a conflict without end: %v", err)
	}
}

// TestSyncCreatedMeanwhile: another run made the provider since the tree was
// read, so the claim has to be looked at.
func TestSyncCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	s := w.state("p")
	if _, err := w.Sync(ctx, s); err != nil {
		t.Fatal(err)
	}
	asked := false
	s.Refresh = func(context.Context) (reconcile.ProviderState, error) { asked = true; return s, nil }
	if _, err := w.Sync(ctx, s); err != nil || !asked {
		t.Errorf("asked %t, %v", asked, err)
	}
}

// TestSyncVanished: the provider is deleted between two writes.
func TestSyncVanished(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	deleted := false
	w.before = func(r *http.Request) {
		if !deleted && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/inventories") {
			deleted = true
			_ = w.service.Placement.DeleteProvider(reconcile.ProviderUUID("p"))
		}
	}
	if _, err := w.Sync(ctx, w.state("p")); err != nil {
		t.Fatal(err)
	}
	if got := w.holds(t, "p"); !strings.HasSuffix(got, "CUSTOM_PCI 0/1 of 1") {
		t.Error(got)
	}
	s := w.state("never")
	if generation, err := w.Reserve(ctx, s); err != nil || generation != 0 || len(w.holds(t, "never")) != 4 {
		t.Errorf("reserving what is gone: %v", err)
	}
}

func TestForeignProvider(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	other, _ := w.service.Placement.CreateProvider("", "compute-2", "")
	_, _ = w.service.Placement.CreateProvider("", "theirs", other.UUID)                             // our name, their uuid
	_, _ = w.service.Placement.CreateProvider(reconcile.ProviderUUID("moved"), "moved", other.UUID) // ours, under their root
	for name, root := range map[string]string{"theirs": "", "moved": other.UUID} {
		_, err := w.Sync(ctx, w.state(name))
		var foreign *reconcile.ForeignProviderError
		if !errors.As(err, &foreign) || foreign.Root != root {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInUse(t *testing.T) {
	t.Parallel()
	w, ctx := newWire(t), context.Background()
	s := w.state("p")
	generation, err := w.Sync(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	consumer := reconciletest.Consumer{Project: "p", User: "u", Allocations: map[string]map[string]int{s.UUID: {"CUSTOM_PCI": 1}}}
	if err := w.service.Placement.PutAllocations("instance", nil, consumer); err != nil {
		t.Fatal(err)
	}
	var used *reconcile.InUseError
	if err := w.Drop(ctx, s.UUID); !errors.As(err, &used) || !strings.Contains(used.Error(), "has allocations") {
		t.Errorf("drop: %v", err)
	}
	s.Known, s.Generation, s.Class, s.Traits = true, generation+1, "PGPU", []string{"CUSTOM_T2"}
	if _, err := w.Sync(ctx, s); !errors.As(err, &used) || used.Generation != generation+2 {
		t.Errorf("another class: %v", err)
	}
	// With a reserved provider a new consumer gets 409, the old one stays.
	s.Class, s.Generation, s.Reserved = "CUSTOM_PCI", used.Generation, 1
	if _, err := w.Reserve(ctx, s); err != nil {
		t.Fatal(err)
	}
	var refused *reconciletest.PlacementError
	if err := w.service.Placement.PutAllocations("other", nil, consumer); !errors.As(err, &refused) || refused.Status != 409 {
		t.Errorf("a new consumer: %v", err)
	}
	if err := w.Drop(ctx, reconcile.ProviderUUID("absent")); err != nil {
		t.Errorf("dropping what is absent: %v", err)
	}
}

// TestFailures: every status is looked at, at every request of a Sync.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 400, 401, 403, 404, 406, 429, 500, 503} {
		for at := range 5 {
			w, n := newWire(t), 0
			w.answer = func(r *http.Request) *http.Response {
				if n++; n-1 == at {
					return status(r, code, `{"errors": [{"status": 1, "detail": "Sentence.\n\n Own words.  ", "code": "c"}]}`)
				}
				return nil
			}
			_, err := w.Sync(context.Background(), w.state("p"))
			var transport *reconcile.TransportError
			var refused *placement.Error
			wantTransport := code == 401 || code == 403 || code == 429 || code >= 500
			switch {
			case err == nil && code == 404 && at > 0: // the provider vanished: made anew
			case err == nil:
				t.Errorf("%d at request %d: accepted", code, at)
			case errors.As(err, &transport) != wantTransport && code != 301: // net/http itself refuses a redirect to nowhere
				t.Errorf("%d at request %d: %v", code, at, err)
			case !wantTransport && code != 301 && (!errors.As(err, &refused) || refused.Status != code || refused.Detail != "Own words."):
				t.Errorf("%d at request %d: %v", code, at, err)
			}
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	blocked := roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	statuses := make(chan int, 1)
	c := placement.NewNoAuth("http://placement.invalid", &http.Client{Transport: blocked}, placement.Config{
		Timeout: time.Millisecond,
		Observe: func(_, route string, status int, _ time.Duration) {
			if route == "/resource_providers" {
				statuses <- status
			}
		},
	})
	_, err := c.Tree(context.Background(), host)
	if transport := new(reconcile.TransportError); !errors.As(err, &transport) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if s := <-statuses; s != 0 {
		t.Errorf("observed status %d", s)
	}
	garbage := roundTripper(func(r *http.Request) (*http.Response, error) { return status(r, 200, "<html>"), nil })
	c = placement.NewNoAuth("http://placement.invalid", &http.Client{Transport: garbage}, placement.Config{})
	if _, err := c.Tree(context.Background(), host); err == nil {
		t.Error("a page of HTML is no tree")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestParallelWriters: eight writers of one provider; every one gets through.
func TestParallelWriters(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	s := w.state("p")
	if _, err := w.Sync(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			mine := s
			mine.Known, mine.Generation, mine.Total = true, 2, i+1
			mine.Refresh = func(context.Context) (reconcile.ProviderState, error) { return mine, nil }
			if _, err := w.Sync(context.Background(), mine); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
}
