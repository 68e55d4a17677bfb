package reconcile

import (
	"context"
	"log/slog"
	"sync"
)

// Bounds of a run.
const (
	insertChunk   = 256 // devices in one insert
	withdrawChunk = 64  // deployables taken off offer ahead of the workers
	maxRounds     = 3   // looks at a device that keeps changing
	maxFailures   = 5   // consecutive failures after which Placement is given up
	parallel      = 4
)

// Runner carries out plans. It is safe for concurrent use, also for several
// runs of one host; a caller that joins such runs saves work, nothing else.
type Runner struct {
	Store     Store
	Placement Placement
	// Log gets one record per change of a host's problems; nil discards.
	Log *slog.Logger
	// Parallel is the number of devices written to Placement at a time; 0 is
	// 4, and more bought nothing with one or two Placement workers.
	Parallel int

	mu       sync.Mutex
	problems map[string]map[Problem]origin // by host, as last logged
	written  map[string]lastWrite          // by provider uuid
}

// lastWrite is what this process last wrote to a provider. It saves repeating
// a write that is only made sure of, and is safe to lose.
type lastWrite struct {
	generation, total, reserved int
	class                       string
}

// Result is what became of a plan.
type Result struct {
	Host      string
	Devices   []Outcome // in the order of the plan
	Problems  []Problem // of the plan and of carrying it out
	Unchanged int
	Retained  int // devices kept although they are not reported
}

// Outcome is what became of one device.
type Outcome struct {
	Device  string // control path, as stored or reported
	Verdict Verdict
	Err     error // nil when everything was done
}

// Run reconciles one report: it reads Placement, then the rows, diffs and
// applies. Only a failure of the two reads is an error (among them
// *[NoRootError]); what goes wrong with single devices is in the result.
func (r *Runner) Run(ctx context.Context, host string, want []Device) (Result, error) {
	p, err := r.Plan(ctx, host, want)
	if err != nil {
		return Result{}, err
	}
	return r.Apply(ctx, p), nil
}

// Plan reads Placement, then the rows (in this order: rows precede providers,
// so a provider without a row is never merely one that is being made), and
// says what a report would change. It writes nothing.
func (r *Runner) Plan(ctx context.Context, host string, want []Device) (Plan, error) {
	tree, err := r.Placement.Tree(ctx, host)
	if err != nil {
		return Plan{}, err
	}
	have, err := r.Store.Inventory(ctx, host)
	if err != nil {
		return Plan{}, err
	}
	return Diff(have, want, tree), nil
}

func (r *Runner) remember(uuid string, w lastWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written == nil {
		r.written = map[string]lastWrite{}
	}
	r.written[uuid] = w
}

// standing reports whether the provider still is as this process last wrote
// it, w included.
func (r *Runner) standing(uuid string, w lastWrite) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.written[uuid]
	return ok && last == w
}

func (r *Runner) forget(uuid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, uuid)
}
