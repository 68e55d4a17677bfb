package conductor

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// inFlight is what a conductor is at, for the report that an operator asks for.
type inFlight struct {
	mu   sync.Mutex
	work map[int]undertaking
	next int
}

type undertaking struct {
	text  string
	since time.Time
}

// begin notes that something is worked on until the function that it returns is called.
func (f *inFlight) begin(text string) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.work == nil {
		f.work = map[int]undertaking{}
	}
	n := f.next
	f.next++
	f.work[n] = undertaking{text, time.Now()}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.work, n)
	}
}

// WriteInFlight writes one line for each report, bind and unbind that is being carried out, the oldest first.
func (m *Manager) WriteInFlight(w io.Writer) {
	m.busy.mu.Lock()
	work := make([]undertaking, 0, len(m.busy.work))
	for _, u := range m.busy.work {
		work = append(work, u)
	}
	m.busy.mu.Unlock()
	slices.SortFunc(work, func(a, b undertaking) int { return a.since.Compare(b.since) })
	for _, u := range work {
		fmt.Fprintf(w, "%s, for %s\n", u.text, time.Since(u.since).Round(time.Millisecond))
	}
}
