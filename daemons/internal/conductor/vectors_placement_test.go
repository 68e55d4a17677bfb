package conductor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// vectorRequest is one recorded request to Placement.
type vectorRequest struct {
	Method       string          `json:"method"`
	Path         string          `json:"path"`
	Microversion *string         `json:"microversion"`
	Body         json.RawMessage `json:"body"`
	Status       int             `json:"status"`
}

// placementScene is the recorded Placement at a point of the flows: what was sent to it so far.
type placementScene struct {
	past []func(*testing.T, *placementtest.Handler)
}

// vectorRoots are the hosts of the recordings, with the UUIDs that Placement gave them.
var vectorRoots = map[string]string{
	"h4host": "11111111-2222-3333-4444-555555555555", "h4host2": "22222222-2222-3333-4444-555555555555",
}

func newPlacementScene(t *testing.T) *placementScene {
	t.Helper()
	p := &placementScene{}
	p.happened(func(t *testing.T, h *placementtest.Handler) {
		for _, name := range slices.Sorted(maps.Keys(vectorRoots)) {
			if _, err := h.Placement.CreateProvider(vectorRoots[name], name, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	return p
}

func (p *placementScene) happened(f func(*testing.T, *placementtest.Handler)) {
	p.past = append(p.past, f)
}

// now is a Placement in the recorded state.
func (p *placementScene) now(t *testing.T) *placementtest.Handler {
	t.Helper()
	h := placementtest.New(nil)
	for _, f := range p.past {
		f(t, h)
	}
	return h
}

// replay sends a recorded request; the answer must have the recorded status, or the model of Placement is wrong.
func (r vectorRequest) replay(t *testing.T, h *placementtest.Handler) {
	t.Helper()
	if r.Method == http.MethodGet || r.Microversion == nil && strings.HasPrefix(r.Path, "/resource_classes/") {
		return // without a microversion there are no classes: the peer's deletion never does anything
	}
	body := r.Body
	if string(body) == "null" {
		body = nil
	}
	req := httptest.NewRequestWithContext(t.Context(), r.Method, strings.ReplaceAll(r.Path, " ", "%20"), bytes.NewReader(body))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Microversion != nil {
		req.Header.Set("OpenStack-API-Version", *r.Microversion)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != r.Status {
		t.Fatalf("replay of %s %s: status %d, recorded %d: %s", r.Method, r.Path, w.Code, r.Status, w.Body)
	}
}

var (
	setupAllocation = regexp.MustCompile(`placement allocation of (\d+) (\S+) on (\S+) by consumer (\S+) -> 204`)
	setupHandles    = regexp.MustCompile(`attach handle\(s\) allocated: \[(.*?)\](;|$)`)
)

// setup is what the recorder did to Placement before a step. A recorded deletion that succeeded where something was
// allocated shows that the recorder had freed it.
func (s *vectorStep) setup(t *testing.T, h *placementtest.Handler) {
	t.Helper()
	text := ""
	if s.Setup != nil {
		text = *s.Setup
	}
	if m := setupAllocation.FindStringSubmatch(text); m != nil {
		amount, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		err = h.Placement.PutAllocations(m[4], nil, reconciletest.Consumer{
			Project: "p", User: "u", Allocations: map[string]map[string]int{reconcile.ProviderUUID(m[3]): {m[2]: amount}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Placement {
		id, ok := strings.CutPrefix(r.Path, "/resource_providers/")
		if freed := ok && r.Method == http.MethodDelete && r.Status == http.StatusNoContent; !freed {
			continue
		}
		consumers, _, err := h.Placement.ProviderAllocations(id)
		if err != nil {
			continue // deleted by an earlier request of the step
		}
		for consumer := range consumers {
			if err := h.Placement.DeleteAllocations(consumer); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// placementLines writes what a Placement holds, without generations.
func placementLines(t *testing.T, p *reconciletest.Placement) (lines []string) {
	t.Helper()
	names := map[string]string{"": "none"}
	for _, q := range p.Providers("", "", "") {
		names[q.UUID] = q.Name
	}
	for _, q := range p.Providers("", "", "") {
		lines = append(lines, fmt.Sprintf("provider %s %s: parent %s", q.Name, q.UUID, names[q.Parent]))
		inventories, _, err := p.Inventories(q.UUID)
		if err != nil {
			t.Fatal(err)
		}
		for class, v := range inventories {
			lines = append(lines, fmt.Sprintf("inventory %s %s: total=%d reserved=%d max_unit=%d min_unit=%d step_size=%d allocation_ratio=%g",
				q.Name, class, v.Total, v.Reserved, v.MaxUnit, v.MinUnit, v.StepSize, v.AllocationRatio))
		}
		traits, _, err := p.ProviderTraits(q.UUID)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(traits)
		lines = append(lines, fmt.Sprintf("traits %s: %s", q.Name, strings.Join(traits, " ")))
		consumers, _, err := p.ProviderAllocations(q.UUID)
		if err != nil {
			t.Fatal(err)
		}
		for consumer, resources := range consumers {
			lines = append(lines, fmt.Sprintf("allocation %s: %s %v", q.Name, consumer, resources))
		}
	}
	for _, name := range p.CustomTraits() {
		lines = append(lines, "custom trait "+name)
	}
	for _, name := range p.CustomClasses() {
		lines = append(lines, "custom class "+name)
	}
	slices.Sort(lines)
	return lines
}
