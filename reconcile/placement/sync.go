package placement

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/reconcile"
)

const (
	maxTries  = 10
	firstWait = 5 * time.Millisecond
	maxWait   = 250 * time.Millisecond
)

// Sync implements [reconcile.Placement]: POST where the provider is not known,
// then traits, then the whole inventory, so that nothing is scheduled onto a
// provider that is not yet described. Every write carries the generation of
// the one before. Traits that others gave a known provider survive.
//
// Errors: *[reconcile.InUseError] when something is allocated from the class
// that would go, *[reconcile.UnknownNameError], *[reconcile.ForeignProviderError], *[reconcile.NoRootError]
// when the host's provider vanished, *[reconcile.TransportError], *[Error],
// and what the state's Refresh returns.
func (c *Client) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	return c.retry(ctx, s, func(s *reconcile.ProviderState) error {
		fresh := !s.Known
		if fresh {
			if err := c.create(ctx, s); err != nil {
				return err
			}
		}
		if err := c.traits(ctx, s, fresh); err != nil {
			return err
		}
		return c.inventory(ctx, s)
	})
}

// Reserve implements [reconcile.Placement]. A provider that is gone needs no
// reservation: that is no error.
func (c *Client) Reserve(ctx context.Context, s reconcile.ProviderState) (int, error) {
	generation, err := c.retry(ctx, s, func(s *reconcile.ProviderState) error {
		if !s.Known {
			return &Error{Status: http.StatusNotFound}
		}
		return c.inventory(ctx, s)
	})
	if hasStatus(err, http.StatusNotFound) {
		return 0, nil
	}
	return generation, err
}

// retry writes a provider again as a whole after a generation conflict, from a
// fresh read: the other writer may have changed anything. The provider is read
// before the row, so a state that is older than the generation is never
// written.
func (c *Client) retry(ctx context.Context, s reconcile.ProviderState, write func(*reconcile.ProviderState) error) (int, error) {
	for try := 1; ; try++ {
		err := write(&s)
		switch {
		case err == nil:
			return s.Generation, nil
		case hasCode(err, codeInventoryInUse):
			return s.Generation, &reconcile.InUseError{UUID: s.UUID, Generation: s.Generation, Detail: detail(err)}
		case unknownName(err):
			return s.Generation, s.Unknown(detail(err))
		case try == maxTries:
			return s.Generation, err
		case hasCode(err, codeConcurrentUpdate), s.Known && hasStatus(err, http.StatusNotFound):
		default:
			return s.Generation, err
		}
		if err := pause(ctx, try); err != nil {
			return s.Generation, err
		}
		if s, err = c.again(ctx, s); err != nil {
			return 0, err
		}
	}
}

// again reads the provider, then asks for the state to write now.
func (c *Client) again(ctx context.Context, s reconcile.ProviderState) (reconcile.ProviderState, error) {
	now, err := c.provider(ctx, s.UUID)
	if err != nil && !hasStatus(err, http.StatusNotFound) {
		return s, err
	}
	known := err == nil
	if refresh := s.Refresh; refresh != nil {
		if s, err = refresh(ctx); err != nil {
			return s, err
		}
		s.Refresh = refresh
	}
	s.Known, s.Generation, s.SameTraits = known, now.Generation, false
	return s, nil
}

// pause waits a random time that grows with every try.
func pause(ctx context.Context, try int) error {
	limit := min(firstWait<<try, maxWait)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// create posts the provider. Placement says "duplicate" for an existing uuid
// and for somebody else's name alike, so the provider is read then: under our
// root it is ours, made by another run since the tree was read, which is a
// conflict like one of generations: the claim on the row may be lost.
func (c *Client) create(ctx context.Context, s *reconcile.ProviderState) error {
	var p provider
	err := c.do(ctx, request{
		method: http.MethodPost, route: "/resource_providers", path: "resource_providers",
		body:   map[string]string{"uuid": s.UUID, "name": s.Name, "parent_provider_uuid": s.Parent},
		answer: &p, ok: []int{http.StatusOK}, says: func() bool { return p.UUID == s.UUID },
	})
	switch {
	case err == nil:
		s.Known, s.Generation = true, p.Generation
		return nil
	case hasStatus(err, http.StatusBadRequest):
		return c.rootGone(ctx, s.Parent, err)
	case !hasCode(err, codeDuplicateName):
		return err
	}
	p, err = c.provider(ctx, s.UUID)
	switch {
	case hasStatus(err, http.StatusNotFound):
		return &reconcile.ForeignProviderError{UUID: s.UUID, Name: s.Name}
	case err != nil:
		return err
	case p.Root != s.Parent:
		return &reconcile.ForeignProviderError{UUID: s.UUID, Name: s.Name, Root: p.Root}
	}
	return changed("the provider was created meanwhile")
}

// changed is a generation conflict that Placement need not be asked about.
func changed(detail string) error {
	return &Error{Status: http.StatusConflict, Code: codeConcurrentUpdate, Detail: detail}
}

// rootGone finds out whether a refused POST means that the host's own provider
// vanished: Placement answers 400 then, not 404.
func (c *Client) rootGone(ctx context.Context, root string, refused error) error {
	if _, err := c.provider(ctx, root); hasStatus(err, http.StatusNotFound) {
		return &reconcile.NoRootError{Host: c.dropRoot(root)}
	}
	return refused
}

// traits gives the provider the wanted traits, takes off those only the stored
// row asked for, and keeps all others.
func (c *Client) traits(ctx context.Context, s *reconcile.ProviderState, fresh bool) error {
	if s.SameTraits || fresh && len(s.Traits) == 0 {
		return nil
	}
	want := s.Traits
	if !fresh {
		var have providerTraits
		err := c.do(ctx, request{
			method: http.MethodGet, route: "/resource_providers/{uuid}/traits", path: "resource_providers/" + s.UUID + "/traits",
			answer: &have, ok: []int{http.StatusOK}, says: have.said,
		})
		if err != nil {
			return err
		}
		if *have.Generation != s.Generation {
			return changed("the provider changed since it was read")
		}
		if want = merged(have.Traits, s.OldTraits, s.Traits); sameNames(want, have.Traits) {
			return nil
		}
	}
	var answer providerTraits
	err := c.ensuring(ctx, "traits", s.Traits, func() error {
		return c.do(ctx, request{
			method: http.MethodPut, route: "/resource_providers/{uuid}/traits", path: "resource_providers/" + s.UUID + "/traits",
			body:   providerTraits{Traits: want, Generation: &s.Generation},
			answer: &answer, ok: []int{http.StatusOK}, says: func() bool { return answer.said() && sameNames(slices.Sorted(slices.Values(want)), answer.Traits) },
		})
	})
	if err == nil {
		s.Generation = *answer.Generation
	}
	return err
}

type providerTraits struct {
	Traits     []string `json:"traits"`
	Generation *int     `json:"resource_provider_generation"`
}

func (t *providerTraits) said() bool { return t.Generation != nil && t.Traits != nil }

// merged is have without old, with want; sorted.
func merged(have, old, want []string) []string {
	kept := slices.DeleteFunc(slices.Clone(have), func(t string) bool { return slices.Contains(old, t) })
	return slices.Compact(slices.Sorted(slices.Values(append(kept, want...))))
}

func sameNames(sorted, b []string) bool {
	return slices.Equal(sorted, slices.Sorted(slices.Values(b)))
}

type inventory struct {
	Total    int `json:"total"`
	MaxUnit  int `json:"max_unit"`
	Reserved int `json:"reserved"`
}

type inventories struct {
	Generation  *int                 `json:"resource_provider_generation"`
	Inventories map[string]inventory `json:"inventories"`
}

// inventory replaces the whole inventory: one class, or none when there is
// nothing to offer, for Placement refuses a total of 0. A single class cannot
// be written alone: that is refused where the class is not there yet.
func (c *Client) inventory(ctx context.Context, s *reconcile.ProviderState) error {
	body := inventories{Generation: &s.Generation, Inventories: map[string]inventory{}}
	var classes []string
	if s.Total > 0 {
		classes = []string{s.Class}
		body.Inventories[s.Class] = inventory{Total: s.Total, MaxUnit: s.Total, Reserved: s.Reserved}
	}
	var answer inventories
	err := c.ensuring(ctx, "resource_classes", classes, func() error {
		return c.do(ctx, request{
			method: http.MethodPut, route: "/resource_providers/{uuid}/inventories", path: "resource_providers/" + s.UUID + "/inventories",
			body: body, answer: &answer, ok: []int{http.StatusOK},
			says: func() bool { return answer.Generation != nil && maps.Equal(answer.Inventories, body.Inventories) },
		})
	})
	if err == nil {
		s.Generation = *answer.Generation
	}
	return err
}

// ensuring creates the custom names of a kind that this client has not seen
// yet, then sends. When Placement does not know one after all, they are
// forgotten, created and sent once more.
func (c *Client) ensuring(ctx context.Context, kind string, names []string, send func() error) error {
	for again := false; ; again = true {
		for _, name := range names {
			if err := c.ensure(ctx, kind, name, again); err != nil {
				return err
			}
		}
		err := send()
		if again || !unknownName(err) {
			return err
		}
	}
}

// unknownName reports whether Placement has no such trait or resource class.
func unknownName(err error) bool {
	return hasStatus(err, http.StatusBadRequest) && strings.Contains(detail(err), "No such ")
}

// ensure creates a custom name. Callers that come while one asks for the same
// name wait for its answer; when it failed, each asks for itself, so that no
// provider fails for another's request.
func (c *Client) ensure(ctx context.Context, kind, name string, again bool) error {
	if !strings.HasPrefix(name, "CUSTOM_") {
		return nil // standard names exist; Placement refuses to create them
	}
	key := kind + "/" + name
	n := c.name(key, again)
	if n.asked != nil {
		select {
		case <-n.asked:
		case <-ctx.Done():
			return ctx.Err()
		}
		n = c.name(key, false)
	}
	if n.known {
		return nil
	}
	err := c.do(ctx, request{
		method: http.MethodPut, route: "/" + kind + "/{name}", path: key,
		ok: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent},
	})
	c.answered(key, err == nil)
	return err
}

// customName is a custom trait or class.
type customName struct {
	known bool
	asked chan struct{} // not nil while one asks for it; closed by the answer
}

// name looks a name up; forget says that Placement does not know it after all.
// Who is the first to find it neither known nor asked for is to ask.
func (c *Client) name(key string, forget bool) customName {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.names[key]
	if forget {
		n.known = false
	}
	now := n
	if !n.known && n.asked == nil {
		n.asked = make(chan struct{})
	}
	c.names[key] = n
	return now
}

func (c *Client) answered(key string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.names[key]
	if n.asked != nil {
		close(n.asked)
	}
	c.names[key] = customName{known: known || n.known}
}

// detail is what Placement said.
func detail(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Detail
	}
	return ""
}
