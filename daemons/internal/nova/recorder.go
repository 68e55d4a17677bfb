package nova

import (
	"context"
	"slices"
	"sync"
)

// Recorder keeps every notification instead of sending it. The zero value is ready; it is safe for concurrent
// use.
type Recorder struct {
	mu     sync.Mutex
	bodies []Body
}

// Notify records one notification. It never fails.
func (r *Recorder) Notify(_ context.Context, events []Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, Body{Events: slices.Clone(events)})
	return nil
}

// Bodies returns what Nova would have been sent so far, one body for each notification.
func (r *Recorder) Bodies() []Body {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bodies)
}
