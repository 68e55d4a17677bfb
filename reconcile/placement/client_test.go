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
// TestTreeOfAnotherCase: Placement on MySQL compares names without their case.
func TestTreeOfAnotherCase(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.answer = func(r *http.Request) *http.Response {
		if r.URL.Query().Get("name") != "" {
			return status(r, http.StatusOK, fmt.Sprintf(`{"resource_providers": [{"uuid": %q, "name": %q}]}`, w.root, host))
		}
		return nil
	}
	tree, err := w.Tree(t.Context(), strings.ToUpper(host))
	if err != nil || tree.Root != w.root || len(tree.Providers) != 1 {
		t.Errorf("tree %+v, %v", tree, err)
	}
	var noRoot *reconcile.NoRootError
	if _, err := w.Tree(t.Context(), "compute-2"); !errors.As(err, &noRoot) {
		t.Errorf("somebody else's provider: %v", err)
	}
}

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
	if err := w.Drop(ctx, s.UUID, ""); !errors.As(err, &used) || !strings.Contains(used.Error(), "has allocations") {
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
	if err := w.Drop(ctx, reconcile.ProviderUUID("absent"), ""); err != nil {
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
