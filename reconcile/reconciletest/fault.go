package reconciletest

import (
	"errors"
	"sync"
)

// ErrFault is the error of a write that a [Fault] made fail.
var ErrFault = errors.New("injected fault")

// Fault counts writes and fails some of them. Its Next is the Fault function
// of a [Store] and a [Placement] together, so that their writes share one
// count. It is safe for concurrent use.
type Fault struct {
	// At is the index of the write that fails, counted from 0; negative never.
	At int
	// Crash fails every later write too: the process is gone.
	Crash bool

	mu    sync.Mutex
	count int
	ops   []string
}

// Next counts a write and says whether it fails.
func (f *Fault) Next(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.count
	f.count++
	f.ops = append(f.ops, op)
	if f.At >= 0 && (n == f.At || f.Crash && n > f.At) {
		return ErrFault
	}
	return nil
}

// Count is the number of writes so far.
func (f *Fault) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Ops are the names of the writes so far.
func (f *Fault) Ops() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.ops...)
}
