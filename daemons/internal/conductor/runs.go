package conductor

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
)

// errClosing answers a report that comes while the conductor stops; the agent repeats it elsewhere.
var errClosing = errors.New("conductor is stopping: report again")

// carryOut is one report run. It calls durable once rows and intent are in the database, so that a crash from
// then on is repaired by the next report.
type carryOut func(ctx context.Context, host string, reported []cyborgrpc.ReportedDevice, durable func()) error

// runs has at most one report run of a host at a time in this process. A report that comes meanwhile joins the run if
// it says the same, and waits otherwise; a newer one takes the place of one that waits, and the callers of both get the
// newer one's outcome. Between processes runs may
// overlap: that is the store's business.
type runs struct {
	carryOut   carryOut
	background background // the runs of all hosts

	mu    sync.Mutex
	hosts map[string]*hostRuns
}

type hostRuns struct {
	current, waiting *run
}

type run struct {
	reported []cyborgrpc.ReportedDevice
	durable  func()
	safe     chan struct{} // closed by durable
	done     chan struct{}
	err      error // valid once done is closed
}

func newRun(reported []cyborgrpc.ReportedDevice) *run {
	r := &run{reported: reported, safe: make(chan struct{}), done: make(chan struct{})}
	r.durable = sync.OnceFunc(func() { close(r.safe) })
	return r
}

// submit hands a report over and waits until its run is done, or until the budget is used up and what the run
// wants is durable; the run then goes on.
func (s *runs) submit(ctx context.Context, host string, reported []cyborgrpc.ReportedDevice, budget time.Duration) error {
	r, err := s.join(ctx, host, reported)
	if err != nil {
		return err
	}
	timer := time.NewTimer(budget)
	defer timer.Stop()
	var safe chan struct{} // nil until the budget is used up
	for {
		select {
		case <-r.done:
			return r.err
		case <-safe:
			return nil
		case <-timer.C:
			safe = r.safe
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *runs) join(ctx context.Context, host string, reported []cyborgrpc.ReportedDevice) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[host]
	switch {
	case h == nil:
		h = &hostRuns{current: newRun(reported)}
		r := h.current
		if !s.background.start(ctx, func(ctx context.Context) { s.work(ctx, host, h) }) {
			return nil, errClosing
		}
		if s.hosts == nil {
			s.hosts = map[string]*hostRuns{}
		}
		s.hosts[host] = h
		return r, nil
	case s.background.closing():
		return nil, errClosing
	case h.waiting == nil && reflect.DeepEqual(h.current.reported, reported):
		return h.current, nil
	case h.waiting == nil:
		h.waiting = newRun(reported)
	default:
		h.waiting.reported = reported
	}
	return h.waiting, nil
}

// work carries out the runs of one host until none waits. Nobody joins a run any more when its callers hear of the end:
// what they report after it must be looked at again.
func (s *runs) work(ctx context.Context, host string, h *hostRuns) {
	for r := h.current; r != nil; {
		r.err = s.carryOut(ctx, host, r.reported, r.durable)
		following := s.next(host, h)
		close(r.done)
		r = following
	}
}

func (s *runs) next(host string, h *hostRuns) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.current, h.waiting = h.waiting, nil
	if h.current == nil {
		delete(s.hosts, host)
	}
	return h.current
}
