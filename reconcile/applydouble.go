package reconcile

import (
	"context"
	"errors"
)

// errDoubled is why a change of a device waits.
var errDoubled = errors.New("a second row of the device has to go first, and something is allocated from its provider")

// doubles removes the free doubles of devices before anything else: both rows
// are on offer as one provider, which must not change while one of them could
// still be bound by the old content. A device keeps waiting while its double
// is there. One that Placement does not let go is off offer, so what goes
// missing need not wait for it; a change does, since it may want a name or a
// function that the double has.
func (u *run) doubles(ctx context.Context, tasks []*task, outcomes []Outcome) {
	left := map[key]error{}
	for _, t := range tasks {
		if !t.plan.double {
			continue
		}
		t.have = *t.plan.Have
		kept, err := u.remove(ctx, t)
		switch {
		case err != nil:
			outcomes[t.index].Err = err
			left[t.plan.key()] = err
		case kept && left[t.plan.key()] == nil:
			left[t.plan.key()] = errDoubled
		}
	}
	if len(left) == 0 {
		return
	}
	for _, t := range tasks {
		if err := left[t.plan.key()]; err != nil && (t.plan.Verdict == Update || !errors.Is(err, errDoubled)) {
			outcomes[t.index].Err = err
		}
	}
}
