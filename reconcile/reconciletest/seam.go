package reconciletest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/reconcile"
)

var _ reconcile.Placement = (*Placement)(nil)

// maxTries bounds the retries of a generation conflict.
const maxTries = 10

// Tree implements [reconcile.Placement].
func (p *Placement) Tree(ctx context.Context, host string) (reconcile.Tree, error) {
	if err := ctx.Err(); err != nil {
		return reconcile.Tree{}, err
	}
	roots := p.Providers(host, "", "")
	if len(roots) != 1 {
		return reconcile.Tree{}, &reconcile.NoRootError{Host: host}
	}
	t := reconcile.Tree{Root: roots[0].UUID}
	for _, q := range p.Providers("", "", t.Root) {
		t.Providers = append(t.Providers, reconcile.Provider{UUID: q.UUID, Name: q.Name, Parent: q.Parent, Generation: q.Generation})
	}
	return t, nil
}

// Sync implements [reconcile.Placement].
func (p *Placement) Sync(ctx context.Context, s reconcile.ProviderState) (int, error) {
	return p.retry(ctx, s, func(s *reconcile.ProviderState) error {
		fresh := !s.Known
		if fresh {
			if err := p.create(s); err != nil {
				return err
			}
		}
		if !s.SameTraits && (!fresh || len(s.Traits) > 0) {
			if err := p.syncTraits(s); err != nil {
				return err
			}
		}
		return p.syncInventory(s)
	})
}

// Reserve implements [reconcile.Placement].
func (p *Placement) Reserve(ctx context.Context, s reconcile.ProviderState) (int, error) {
	generation, err := p.retry(ctx, s, p.syncInventory)
	if e := new(PlacementError); errors.As(err, &e) && e.Status == 404 {
		return 0, nil
	}
	return generation, err
}

// Drop implements [reconcile.Placement].
func (p *Placement) Drop(ctx context.Context, id, root string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if root != "" {
		if q, err := p.Provider(id); err != nil || q.Root != root {
			return nil
		}
	}
	err := p.DeleteProvider(id)
	var e *PlacementError
	switch {
	case !errors.As(err, &e):
		return err
	case e.Status == 404:
		return nil
	case e.Code == CodeProviderInUse:
		return &reconcile.InUseError{UUID: id, Detail: e.Detail}
	}
	return err
}

// retry does the whole provider again after a generation conflict: the other
// writer may have changed anything. The provider is read before the row.
func (p *Placement) retry(ctx context.Context, s reconcile.ProviderState, write func(*reconcile.ProviderState) error) (int, error) {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		err := write(&s)
		var e *PlacementError
		if !errors.As(err, &e) {
			return s.Generation, err
		}
		switch {
		case e.Code == CodeInventoryInUse:
			return s.Generation, &reconcile.InUseError{UUID: s.UUID, Generation: s.Generation, Detail: e.Detail}
		case e.Status == 400 && strings.Contains(e.Detail, "No such "):
			return s.Generation, s.Unknown(e.Detail)
		case try == maxTries, e.Code != CodeConcurrentUpdate && (e.Status != 404 || !s.Known):
			return s.Generation, err
		}
		now, err := p.Provider(s.UUID)
		known := err == nil
		if refresh := s.Refresh; refresh != nil {
			if s, err = refresh(ctx); err != nil {
				return 0, err
			}
			s.Refresh = refresh
		}
		s.Known, s.Generation, s.SameTraits = known, now.Generation, false
	}
}

// create makes the provider, or finds out whose it is. One that another run
// made since the tree was read is a conflict: the claim on the row may be lost.
func (p *Placement) create(s *reconcile.ProviderState) error {
	q, err := p.CreateProvider(s.UUID, s.Name, s.Parent)
	var e *PlacementError
	if errors.As(err, &e) && e.Code == CodeDuplicateName {
		q, err = p.Provider(s.UUID)
		switch {
		case err != nil:
			return &reconcile.ForeignProviderError{UUID: s.UUID, Name: s.Name}
		case q.Root != s.Parent:
			return &reconcile.ForeignProviderError{UUID: s.UUID, Name: s.Name, Root: q.Root}
		}
		return &PlacementError{409, CodeConcurrentUpdate, "created meanwhile"}
	}
	if err != nil {
		return err
	}
	s.Known, s.Generation = true, q.Generation
	return nil
}

func (p *Placement) syncTraits(s *reconcile.ProviderState) error {
	for _, t := range s.Traits {
		if strings.HasPrefix(t, "CUSTOM_") {
			if _, err := p.EnsureTrait(t); err != nil {
				return err
			}
		}
	}
	have, generation, err := p.ProviderTraits(s.UUID)
	if err != nil {
		return err
	}
	if generation != s.Generation {
		return &PlacementError{409, CodeConcurrentUpdate, "read again"}
	}
	want := slices.DeleteFunc(have, func(t string) bool { return slices.Contains(s.OldTraits, t) })
	generation, err = p.PutTraits(s.UUID, s.Generation, append(want, s.Traits...))
	if err == nil {
		s.Generation = generation
	}
	return err
}

func (p *Placement) syncInventory(s *reconcile.ProviderState) error {
	inventories := map[string]ResourceInventory{}
	if s.Total > 0 {
		if strings.HasPrefix(s.Class, "CUSTOM_") {
			if _, err := p.EnsureClass(s.Class); err != nil {
				return err
			}
		}
		v := NewResourceInventory()
		v.Total, v.MaxUnit, v.Reserved = s.Total, s.Total, s.Reserved
		inventories[s.Class] = v
	}
	generation, err := p.PutInventories(s.UUID, s.Generation, inventories, true)
	if err == nil {
		s.Generation = generation
	}
	return err
}
