package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// errDatabase marks what the store could not do.
var errDatabase = errors.New("database")

// database gives a store's error its mark, but for those that ask for another
// look.
func database(err error) error {
	var field *FieldError
	if err == nil || errors.Is(err, ErrStale) || errors.Is(err, ErrHeld) || errors.As(err, &field) {
		return err
	}
	return fmt.Errorf("%w: %w", errDatabase, err)
}

// device does the work of one plan up to the offer, which the collector makes.
func (u *run) device(ctx context.Context, t *task) error {
	if t.needsPlacement() && u.open() {
		return errCircuit
	}
	switch t.plan.Verdict {
	case Remove:
		_, err := u.remove(ctx, t)
		return err
	case Update:
		return u.update(ctx, t)
	default:
		return u.providers(ctx, t)
	}
}

// needsPlacement reports whether a step of the plan goes to Placement.
func (t *task) needsPlacement() bool {
	for i, s := range t.plan.Steps {
		switch s.(type) {
		case SyncProvider, Reserve, DropProvider:
			if t.skip == nil || !t.skip[i] {
				return true
			}
		}
	}
	return false
}

// update creates new deployables, writes the providers, then the rows.
func (u *run) update(ctx context.Context, t *task) error {
	var inserts, rows []Step
	for _, s := range t.plan.Steps {
		switch s.(type) {
		case InsertDeployable:
			inserts = append(inserts, s)
		case Withdraw, SyncProvider, Reserve, DropProvider:
		default:
			rows = append(rows, s)
		}
	}
	if err := u.commit(ctx, t, inserts); err != nil {
		return err
	}
	if err := u.providers(ctx, t); err != nil {
		return err
	}
	return u.commit(ctx, t, t.withoutRefused(rows))
}

// commit writes row steps and takes over the rows as they are then.
func (u *run) commit(ctx context.Context, t *task, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	have := t.have
	now, err := u.Store.Commit(ctx, DevicePlan{Verdict: t.plan.Verdict, Have: &have, Want: t.plan.Want, Steps: steps})
	if err != nil {
		return database(err)
	}
	t.have = now
	for k := range now.Deployables {
		p := &now.Deployables[k]
		if _, ok := t.claim[p.ID]; ok || p.Offer == "" && t.isNew(p) {
			t.claim[p.ID] = p.UpdatedAt
		}
	}
	return nil
}

// isNew reports whether the plan inserted a deployable.
func (t *task) isNew(p *Deployable) bool {
	for _, s := range t.plan.Steps {
		if i, ok := s.(InsertDeployable); ok && i.Name == p.Name {
			return true
		}
	}
	return false
}

// providers does the provider steps of a plan in their order. A provider that
// Placement refuses does not keep the others from being written.
func (u *run) providers(ctx context.Context, t *task) error {
	var first error
	for i, s := range t.plan.Steps {
		if t.skip != nil && t.skip[i] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch s := s.(type) {
		case SyncProvider:
			err = u.sync(ctx, t, s)
		case Reserve:
			err = u.reserve(ctx, t, s)
		case DropProvider:
			err = u.dropOne(ctx, t, s)
		}
		if transport := new(TransportError); errors.Is(err, ErrStale) || errors.As(err, &transport) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// row finds the task's deployable by id, or by name when it is new.
func (t *task) row(id int64, name string) *Deployable {
	for k := range t.have.Deployables {
		p := &t.have.Deployables[k]
		if id != 0 && p.ID == id || id == 0 && p.Name == name {
			return p
		}
	}
	return nil
}

// sync makes Placement hold what a step says.
func (u *run) sync(ctx context.Context, t *task, s SyncProvider) error {
	p := t.row(s.Deployable, s.Name)
	if p == nil {
		return ErrStale
	}
	t.wrote = append(t.wrote, s.Name)
	state := u.desired(t, p, &s)
	err := u.write(ctx, state, u.Placement.Sync)
	if used := new(InUseError); errors.As(err, &used) && t.plan.Verdict == Update && (s.Class != p.Class() || s.Total == 0) {
		return u.keepInventory(ctx, t, p, s, used.Generation)
	}
	unknown := new(UnknownNameError)
	if !errors.As(err, &unknown) || t.plan.Verdict != Update || s.Class == p.Class() && sameSet(s.Traits, p.Traits()) {
		return err
	}
	u.add(t.plan.unknown(s.Name, unknown))
	return u.keepDescription(ctx, t, p, s)
}

// keepDescription writes a provider again as its row describes it, when
// Placement does not know what the report wants; the row keeps its class and
// traits then.
func (u *run) keepDescription(ctx context.Context, t *task, p *Deployable, s SyncProvider) error {
	u.failures.Store(0)
	t.undescribed = append(t.undescribed, p.ID)
	s.Class, s.Traits, s.oldTraits, s.sameTraits = p.Class(), p.Traits(), s.Traits, false
	state := u.desired(t, p, &s)
	return u.write(ctx, state, u.Placement.Sync)
}

// unknown is the problem of a deployable whose class or trait Placement does
// not know.
func (p *DevicePlan) unknown(name string, err *UnknownNameError) Problem {
	q := Problem{Reason: ReasonInvalid, Device: p.Device(), Deployable: name, Reported: err.Name, Detail: err.Error()}
	for i := range p.Want.Deployables {
		d := &p.Want.Deployables[i]
		for _, a := range d.Attributes {
			if err.Name != "" && a.Value == err.Name && (name == "" || d.Name == name) && (a.Key == keyClass || strings.HasPrefix(a.Key, prefixTrait)) {
				q.Deployable, q.Field = d.Name, "attribute "+a.Key
			}
		}
	}
	return q
}

// desired is the provider of a step, its inventory kept true to the row while
// it is being written.
func (u *run) desired(t *task, p *Deployable, s *SyncProvider) *ProviderState {
	state := u.state(s.Name)
	state.Class, state.Traits, state.OldTraits, state.SameTraits = s.Class, s.Traits, s.oldTraits, s.sameTraits
	state.Total, state.Reserved = s.Total, s.Reserved
	state.Refresh = u.refresh(t, p.ID, &state, true, s.retained, s.accelerators)
	return &state
}

// write sends a state to Placement and remembers what was written.
func (u *run) write(ctx context.Context, state *ProviderState, send func(context.Context, ProviderState) (int, error)) error {
	generation, err := send(ctx, *state)
	if u.placement(err) != nil {
		u.forget(state.UUID)
		return err
	}
	u.remember(state.UUID, lastWrite{generation, state.Total, state.Reserved, state.Class})
	return nil
}

// keepInventory writes a provider again whose inventory may not go while
// something is allocated from it: with the stored class, which its row then
// keeps too, and with at least one unit, all of it reserved when the report
// says none.
func (u *run) keepInventory(ctx context.Context, t *task, p *Deployable, s SyncProvider, generation int) error {
	u.failures.Store(0)
	if s.Class != p.Class() {
		u.add(Problem{
			Reason: ReasonClassHeld, Device: t.plan.Device(), Deployable: s.Name, Field: "attribute rc",
			Stored: p.Class(), Reported: s.Class, Detail: "something is allocated from the provider",
		})
		t.refused = append(t.refused, p.ID)
		s.Class = p.Class()
	}
	if s.Total == 0 {
		s.Total, s.retained = 1, s.retained+1
		s.Reserved = 1
	}
	state := u.desired(t, p, &s)
	state.Known, state.Generation, state.SameTraits = true, generation, true
	return u.write(ctx, state, u.Placement.Sync)
}

// reserve makes a provider's inventory unavailable. One without units cannot
// go while something is allocated from it: a reserved unit stays then.
func (u *run) reserve(ctx context.Context, t *task, s Reserve) error {
	p := t.row(s.Deployable, s.Name)
	if p == nil {
		return ErrStale
	}
	state := u.state(s.Name)
	if !state.Known {
		return nil
	}
	state.Class, state.Total, state.Reserved = s.Class, s.Total, s.Reserved
	state.Refresh = u.refresh(t, p.ID, &state, false, s.retained, p.NumAccelerators)
	err := u.write(ctx, &state, u.Placement.Reserve)
	if used := new(InUseError); errors.As(err, &used) && s.Total == 0 {
		state.Generation, state.Total, state.Reserved = used.Generation, 1, 1
		state.Refresh = u.refresh(t, p.ID, &state, false, s.retained+1, p.NumAccelerators)
		return u.write(ctx, &state, u.Placement.Reserve)
	}
	return err
}

// state starts a provider's state from what the tree showed.
func (u *run) state(name string) ProviderState {
	id := ProviderUUID(name)
	p, ok := u.tree[id]
	return ProviderState{UUID: id, Name: name, Parent: u.root, Generation: p.Generation, Known: ok}
}

// refresh answers a generation conflict: the inventory follows the row as it
// is now, if the claim on it still holds. last is kept true to what is written.
func (u *run) refresh(t *task, id int64, last *ProviderState, reported bool, retained, accelerators int) func(context.Context) (ProviderState, error) {
	claim := t.claim[id]
	return func(ctx context.Context) (ProviderState, error) {
		now, err := u.Store.Inventory(ctx, u.host)
		if err != nil {
			return ProviderState{}, database(err)
		}
		for j := range now.Devices {
			d := &now.Devices[j]
			for k := range d.Deployables {
				p := d.Deployables[k]
				if p.ID != id {
					continue
				}
				if p.Offer != "" || !p.UpdatedAt.Equal(claim) {
					return ProviderState{}, ErrStale
				}
				p.NumAccelerators = accelerators
				last.Total, last.Reserved = DesiredReserved(d, &p, reported, retained)
				last.SameTraits = false
				return *last, nil
			}
		}
		return ProviderState{}, ErrStale
	}
}
