package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Apply carries out a plan made by [Diff]. Devices fail alone: the result says
// what became of each. A device that changed meanwhile is read and planned
// again, at most three times; one that waits for a name or a function that goes
// with the plan is planned again once it has gone. Apply stops between two writes when ctx ends;
// what it leaves half done is off offer and repaired by the next report.
func (r *Runner) Apply(ctx context.Context, p Plan) Result {
	return r.ApplyThen(ctx, p, func() {})
}

// ApplyThen is [Runner.Apply], and calls durable, once, when every new device
// has its rows: from then on a crash costs time only, since rows without an
// offer are what the next report completes. A caller may answer a report then.
func (r *Runner) ApplyThen(ctx context.Context, p Plan, durable func()) Result {
	durable = sync.OnceFunc(durable)
	defer durable()
	res := Result{Host: p.Host, Unchanged: p.Unchanged, Retained: p.Retained()}
	run := &run{Runner: r, host: p.Host, durable: durable}
	run.look(p.tree)
	problems := p.Problems
	devices := p.Devices
	for round := 1; len(devices) > 0; round++ {
		outcomes := run.round(ctx, devices)
		again := map[key]bool{}
		gone := false // something that others may wait for
		for i, o := range outcomes {
			if (errors.Is(o.Err, ErrStale) || errors.Is(o.Err, ErrHeld)) && round < maxRounds {
				again[devices[i].key()] = true
				continue
			}
			gone = gone || o.Err == nil && o.Verdict != Add
			res.note(o, round)
			run.note(&devices[i], o.Err)
		}
		if round == 1 && gone {
			maps.Copy(again, p.waiting)
		}
		if len(again) == 0 {
			break
		}
		next, err := r.Plan(ctx, p.Host, p.want)
		if err != nil {
			res.Devices = append(res.Devices, failed(devices, again, err)...)
			run.add(Problem{Reason: ReasonUnreachable, Detail: "look again: " + err.Error()})
			break
		}
		run.look(next.tree)
		res.Retained = next.Retained()
		problems = append(slices.Clone(next.Problems), p.refused...)
		devices = slices.DeleteFunc(next.Devices, func(d DevicePlan) bool { return !again[d.key()] })
	}
	res.Retained += len(run.kept)
	res.Problems = append(slices.Clone(problems), run.problems...)
	r.report(&res, &p, len(problems))
	return res
}

// note keeps what became of a device; what a later round makes of it counts.
func (r *Result) note(o Outcome, round int) {
	if round > 1 {
		same := func(d Outcome) bool { return d.Device == o.Device && d.Verdict == o.Verdict }
		if i := slices.IndexFunc(r.Devices, same); i >= 0 {
			r.Devices[i] = o
			return
		}
	}
	r.Devices = append(r.Devices, o)
}

// key names the device of a plan across rounds.
func (p *DevicePlan) key() key {
	if p.Have != nil {
		return p.Have.ControlPath.key()
	}
	return p.Want.ControlPath.key()
}

func failed(devices []DevicePlan, which map[key]bool, err error) []Outcome {
	var out []Outcome
	for i := range devices {
		if which[devices[i].key()] {
			out = append(out, Outcome{devices[i].Device(), devices[i].Verdict, err})
		}
	}
	return out
}

// run is one [Runner.Apply].
type run struct {
	*Runner
	host     string
	durable  func()
	root     string
	tree     map[string]Provider // by uuid
	failures atomic.Int32        // consecutive transport failures of Placement

	mu       sync.Mutex
	problems []Problem
	kept     map[int64]bool // free, missing devices whose removal Placement refused, by id
}

// look takes over what a read of Placement showed.
func (u *run) look(t Tree) {
	u.root, u.tree = t.Root, make(map[string]Provider, len(t.Providers))
	for _, p := range t.Providers {
		u.tree[p.UUID] = p
	}
}

// errCircuit is why a device was not tried.
var errCircuit = errors.New("placement was given up: five failures in a row, or the host's own provider is gone")

// task is one device being worked on.
type task struct {
	index int
	plan  *DevicePlan
	have  Device              // as stored now: claims and new ids included
	skip  []bool              // steps that need not be done
	claim map[int64]time.Time // by deployable

	wrote   []string // names of providers written
	dropped []string // uuids of providers deleted
	refused []int64  // deployables that Placement did not let go or change class
	// undescribed are deployables that keep class and traits, because Placement does not know the new ones.
	undescribed []int64
}

// round works through the plans: new rows first, all of them, then the devices
// in order, several at a time.
func (u *run) round(ctx context.Context, devices []DevicePlan) []Outcome {
	outcomes := make([]Outcome, len(devices))
	tasks := make([]*task, len(devices))
	for i := range devices {
		outcomes[i] = Outcome{Device: devices[i].Device(), Verdict: devices[i].Verdict}
		tasks[i] = &task{index: i, plan: &devices[i], claim: map[int64]time.Time{}}
	}
	u.doubles(ctx, tasks, outcomes)
	u.insert(ctx, tasks, outcomes)
	u.durable()

	offers := newCollector(ctx, u, outcomes)
	queue := make(chan *task)
	var workers sync.WaitGroup
	n := u.Parallel
	if n <= 0 {
		n = parallel
	}
	for range min(n, len(tasks)) {
		workers.Go(func() {
			for t := range queue {
				if err := u.device(ctx, t); err != nil {
					outcomes[t.index].Err = err
					u.rowless(ctx, t, err)
					continue
				}
				offers.add(t)
			}
		})
	}
	for chunk := range slices.Chunk(tasks, withdrawChunk) {
		u.claim(ctx, chunk, outcomes)
		for _, t := range chunk {
			if outcomes[t.index].Err == nil && !t.plan.double {
				queue <- t
			}
		}
	}
	close(queue)
	workers.Wait()
	offers.close()
	return outcomes
}

// insert creates the rows of all new devices.
func (u *run) insert(ctx context.Context, tasks []*task, outcomes []Outcome) {
	var fresh []*task
	for _, t := range tasks {
		if t.plan.Verdict == Add {
			fresh = append(fresh, t)
		}
	}
	for chunk := range slices.Chunk(fresh, insertChunk) {
		u.insertChunk(ctx, chunk, outcomes)
	}
}

// insertChunk inserts devices in one transaction. When the database refuses a
// value the chunk is halved until the device at fault is alone.
func (u *run) insertChunk(ctx context.Context, chunk []*task, outcomes []Outcome) {
	ds := make([]Device, len(chunk))
	for i, t := range chunk {
		ds[i] = *t.plan.Want
	}
	stored, err := u.Store.Insert(ctx, u.host, ds)
	var field *FieldError
	switch {
	case err == nil && len(stored) != len(ds):
		err = fmt.Errorf("store returned %d of %d inserted devices", len(stored), len(ds))
	case (errors.As(err, &field) || errors.Is(err, ErrDuplicate)) && len(chunk) > 1:
		half := len(chunk) / 2
		u.insertChunk(ctx, chunk[:half], outcomes)
		u.insertChunk(ctx, chunk[half:], outcomes)
		return
	case errors.Is(err, ErrDuplicate):
		err = ErrStale
	}
	for i, t := range chunk {
		if err != nil {
			outcomes[t.index].Err = err
			continue
		}
		t.have = stored[i]
		for k := range t.have.Deployables {
			t.claim[t.have.Deployables[k].ID] = t.have.Deployables[k].UpdatedAt
		}
	}
}

// claim takes the deployables off offer whose providers the chunk's plans
// write, and claims their rows: in one statement, and one by one when a row
// changed meanwhile.
func (u *run) claim(ctx context.Context, chunk []*task, outcomes []Outcome) {
	var all []Version
	for _, t := range chunk {
		if t.plan.Have == nil || t.plan.double || outcomes[t.index].Err != nil {
			continue
		}
		t.have = *t.plan.Have
		if t.needsPlacement() && u.open() {
			outcomes[t.index].Err = errCircuit
			continue
		}
		all = append(all, u.versions(t)...)
	}
	if len(all) == 0 {
		return
	}
	claims, err := u.Store.Withdraw(ctx, all)
	for _, t := range chunk {
		if t.plan.Have == nil || t.plan.double || outcomes[t.index].Err != nil {
			continue
		}
		mine, err := claims, err
		if errors.Is(err, ErrStale) {
			if v := u.versions(t); len(v) > 0 {
				mine, err = u.Store.Withdraw(ctx, v)
			} else {
				err = nil
			}
		}
		if err != nil {
			outcomes[t.index].Err = err
			continue
		}
		t.claimed(mine)
	}
}

// versions lists the rows of a plan whose providers will be written, and marks
// the steps that need not be done because nobody touched the provider since
// this process last wrote it.
func (u *run) versions(t *task) []Version {
	t.skip = make([]bool, len(t.plan.Steps))
	ids := map[int64]bool{}
	for i, s := range t.plan.Steps {
		switch s := s.(type) {
		case Withdraw:
			ids[s.Deployable] = true
		case SyncProvider:
			if s.repeated && u.unchanged(s.Name, s.Class, s.Total, s.Reserved) {
				t.skip[i] = true
				delete(ids, s.Deployable)
			} else if s.Deployable != 0 {
				ids[s.Deployable] = true
			}
		case Reserve:
			if u.unchanged(s.Name, s.Class, s.Total, s.Reserved) {
				t.skip[i] = true
			} else {
				ids[s.Deployable] = true
			}
		}
	}
	var vs []Version
	for k := range t.plan.Have.Deployables {
		if p := &t.plan.Have.Deployables[k]; ids[p.ID] {
			vs = append(vs, Version{ID: p.ID, UpdatedAt: p.UpdatedAt})
		}
	}
	return vs
}

// unchanged reports whether the tree shows a provider at the generation of
// this process's own last write of the same inventory.
func (u *run) unchanged(name, class string, total, reserved int) bool {
	id := ProviderUUID(name)
	p, ok := u.tree[id]
	return ok && u.standing(id, lastWrite{p.Generation, total, reserved, class})
}

// claimed notes the claims on the task's rows.
func (t *task) claimed(claims []Claim) {
	t.have.Deployables = slices.Clone(t.have.Deployables)
	for _, c := range claims {
		for k := range t.have.Deployables {
			if p := &t.have.Deployables[k]; p.ID == c.ID {
				p.Offer, p.UpdatedAt = "", c.UpdatedAt
				t.claim[p.ID] = c.UpdatedAt
			}
		}
	}
}

func (u *run) open() bool { return u.failures.Load() >= maxFailures }

// placement counts consecutive transport failures. Without the host's own
// provider there is no use in going on.
func (u *run) placement(err error) error {
	_, unreachable := errors.AsType[*TransportError](err)
	_, rootless := errors.AsType[*NoRootError](err)
	switch {
	case unreachable:
		u.failures.Add(1)
	case rootless:
		u.failures.Store(maxFailures)
	default:
		u.failures.Store(0)
	}
	return err
}

func (u *run) add(p Problem) {
	p.Host = u.host
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Contains(u.problems, p) {
		u.problems = append(u.problems, p)
	}
}

// note turns what went wrong with a device into a problem.
func (u *run) note(d *DevicePlan, err error) {
	var (
		transport *TransportError
		rootless  *NoRootError
		foreign   *ForeignProviderError
		unknown   *UnknownNameError
		field     *FieldError
	)
	p := Problem{Device: d.Device()}
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return
	case errors.Is(err, ErrStale), errors.Is(err, ErrHeld):
		p.Reason = ReasonBusy
	case errors.Is(err, errCircuit):
		p.Reason = ReasonUnreachable
	case errors.As(err, &transport), errors.As(err, &rootless), errors.Is(err, context.DeadlineExceeded):
		p.Reason = ReasonUnreachable
	case errors.As(err, &unknown) && d.Want != nil:
		p = d.unknown("", unknown)
	case errors.As(err, &foreign):
		p.Reason, p.Deployable = ReasonForeign, foreign.Name
	case errors.As(err, &field):
		p.Reason, p.Field = ReasonDatabase, field.column()
	case errors.Is(err, errDatabase):
		p.Reason = ReasonDatabase
	default:
		p.Reason = ReasonRefused
	}
	p.Detail = err.Error()
	u.add(p)
}
