package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// drop deletes the provider of a name. One that the tree did not show was made
// since by an overlapping run, or it is another host's: two hosts may report
// one name, and the first has the provider.
func (u *run) drop(ctx context.Context, name string) error {
	id, root := ProviderUUID(name), u.root
	if _, ours := u.tree[id]; ours {
		root = ""
	}
	return u.Placement.Drop(ctx, id, root)
}

// dropOne drops the provider of a deployable that goes while its device stays.
// When Placement refuses, the deployable is retained instead.
func (u *run) dropOne(ctx context.Context, t *task, s DropProvider) error {
	err := u.drop(ctx, s.Name)
	if used := new(InUseError); errors.As(err, &used) {
		u.failures.Store(0)
		p := t.row(s.Deployable, s.Name)
		if p == nil {
			return ErrStale
		}
		t.refused = append(t.refused, s.Deployable)
		u.allocated(t, p, used)
		return u.reserve(ctx, t, reserve(&t.have, p))
	}
	u.forget(ProviderUUID(s.Name))
	return u.placement(err)
}

func (u *run) allocated(t *task, p *Deployable, err error) {
	u.add(Problem{Reason: ReasonAllocated, Device: t.plan.Device(), Deployable: p.Name, Detail: err.Error()})
}

// withoutRefused leaves out what Placement did not allow: the deletion of a
// deployable whose provider stays, a change of its resource class.
func (t *task) withoutRefused(rows []Step) []Step {
	if len(t.refused) == 0 && len(t.undescribed) == 0 {
		return rows
	}
	var left []Step
	for _, s := range rows {
		var id int64
		key := ""
		switch s := s.(type) {
		case DeleteDeployable:
			id = s.Deployable
		case SetAttribute:
			id, key = s.Deployable, s.Key
		case InsertAttribute:
			id, key = s.Deployable, s.Key
		case DeleteAttribute:
			id, key = s.Deployable, s.Key
		}
		described := key == keyClass || strings.HasPrefix(key, prefixTrait)
		switch {
		case slices.Contains(t.refused, id) && (key == "" || key == keyClass):
		case slices.Contains(t.undescribed, id) && described:
		default:
			left = append(left, s)
		}
	}
	return left
}

// remove drops the providers of a free device, then deletes its rows. When
// Placement refuses one, every deployable of the device is taken off offer and
// what is left of its providers reserved: the device is kept.
func (u *run) remove(ctx context.Context, t *task) (kept bool, err error) {
	var refused error
	for _, s := range t.plan.Steps {
		drop, ok := s.(DropProvider)
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		id := ProviderUUID(drop.Name)
		err := u.drop(ctx, drop.Name)
		if used := new(InUseError); errors.As(err, &used) {
			u.failures.Store(0)
			u.allocated(t, t.row(drop.Deployable, drop.Name), used)
			refused = used
			break
		}
		if u.placement(err) != nil {
			return false, err
		}
		u.forget(id)
		t.dropped = append(t.dropped, id)
	}
	if refused != nil {
		if !t.plan.double {
			u.keep(t.have.ID)
		}
		return true, u.retainRefused(ctx, t)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return false, database(u.Store.Remove(ctx, &t.have))
}

// keep counts a device that is retained only because something is allocated
// from it.
func (u *run) keep(device int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept == nil {
		u.kept = map[int64]bool{}
	}
	u.kept[device] = true
}

// retainRefused withdraws every deployable of a device whose removal Placement
// refused, and reserves each provider that was to go and still exists. One that
// the row which stays has as well is on offer by that row.
func (u *run) retainRefused(ctx context.Context, t *task) error {
	var seen []Version
	for k := range t.have.Deployables {
		seen = append(seen, Version{ID: t.have.Deployables[k].ID, UpdatedAt: t.have.Deployables[k].UpdatedAt})
	}
	claims, err := u.Store.Withdraw(ctx, seen)
	if err != nil {
		return database(err)
	}
	t.claimed(claims)
	var errs []error
	for k := range t.have.Deployables {
		p := &t.have.Deployables[k]
		if p.Class() == "" || !t.drops(p.Name) || slices.Contains(t.dropped, ProviderUUID(p.Name)) {
			continue
		}
		errs = append(errs, u.reserve(ctx, t, reserve(&t.have, p)))
	}
	return errors.Join(errs...)
}

// drops reports whether the plan drops a provider.
func (t *task) drops(name string) bool {
	return slices.ContainsFunc(t.plan.Steps, func(s Step) bool {
		d, ok := s.(DropProvider)
		return ok && d.Name == name
	})
}

// rowless drops providers that this run wrote and whose rows another run
// deleted meanwhile: DELETE carries no generation, so nothing else would stop
// such a provider from staying for ever.
func (u *run) rowless(ctx context.Context, t *task, err error) {
	if len(t.wrote) == 0 || !errors.Is(err, ErrStale) {
		return
	}
	u.dropRowless(ctx, t.wrote)
}

func (u *run) dropRowless(ctx context.Context, names []string) {
	now, err := u.Store.Inventory(ctx, u.host)
	if err != nil {
		return
	}
	rows := map[string]bool{}
	for j := range now.Devices {
		for k := range now.Devices[j].Deployables {
			rows[now.Devices[j].Deployables[k].Name] = true
		}
	}
	for _, name := range names {
		if rows[name] || ctx.Err() != nil {
			continue
		}
		u.forget(ProviderUUID(name))
		if err := u.placement(u.drop(ctx, name)); err != nil {
			u.add(Problem{Reason: ReasonOrphan, Deployable: name, Detail: err.Error()})
		}
	}
}
