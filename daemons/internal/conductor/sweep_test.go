package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// sweeper is a rig whose conductor thinks that it is later.
type sweeper struct {
	*rig
	h       *placementtest.Handler
	manager *conductor.Manager
}

func newSweeper(t *testing.T, later time.Duration, reported ...*cyborg.DriverDevice) *sweeper {
	t.Helper()
	s := &sweeper{h: newHosts(t, hostname)}
	s.rig = newRig(t, rigConfig{Placement: placementtest.Client(s.h).Transport, Configure: func(c *conductor.Config) {
		c.Now = func() time.Time { return time.Now().Add(later) }
		var err error
		if s.manager, err = conductor.New(*c); err != nil {
			t.Fatal(err)
		}
	}})
	if err := s.conductor.ReportData(as(t, true, ""), hostname, reported); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sweeper) sweep(t *testing.T) {
	t.Helper()
	if err := s.manager.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *sweeper) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// begun is a request whose bind has begun.
func (s *sweeper) begun(t *testing.T, i int) arq.Request {
	t.Helper()
	id := s.request(t, s.profile(t), "p")
	q, err := s.store.Begin(t.Context(), arq.Bind{UUID: id, Hostname: hostname, DeviceRPUUID: reconcile.ProviderUUID(crashName(i)), InstanceUUID: instance})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (s *sweeper) told() (out []string) {
	for _, b := range s.nova.Bodies() {
		for _, e := range b.Events {
			out = append(out, e.Tag+" "+e.Status)
		}
	}
	return out
}

// TestSweepLeakedHandles frees a handle in use without a request after 600 s, unless something is allocated.
func TestSweepLeakedHandles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		later     time.Duration
		allocated bool
		freed     bool
	}{
		"young":     {590 * time.Second, false, false},
		"old":       {610 * time.Second, false, true},
		"allocated": {610 * time.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSweeper(t, tt.later, device(hostname, 0, 1))
			s.exec(t, "UPDATE attach_handles SET in_use = 1")
			if tt.allocated {
				err := s.h.Placement.PutAllocations("c", nil, reconciletest.Consumer{
					Project: "p", User: "u", Allocations: map[string]map[string]int{reconcile.ProviderUUID(crashName(0)): {"CUSTOM_PCI": 1}},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			s.sweep(t)
			have, err := s.store.Inventory(t.Context(), hostname)
			if err != nil {
				t.Fatal(err)
			}
			if got := have.Devices[0].Deployables[0].Handles[0].InUse; got == tt.freed {
				t.Errorf("in use: %t", got)
			}
		})
	}
}

// TestSweepStuckBind: a bind that nobody works on fails after its time and Nova is told; the handle of an mdev, which
// may exist, stays with the request.
func TestSweepStuckBind(t *testing.T) {
	t.Parallel()
	mdev := device(hostname, 0, 1)
	handle := mdev.DeployableList.Value()[0].AttachHandleList.Value()[0]
	handle.AttachType = ovo.Of("MDEV")
	handle.AttachInfo = ovo.Of(`{"asked_type": "nvidia-223", "bus": "01", "device": "00", "domain": "0000", "function": "0", "vgpu_mark": "a"}`)
	for name, tt := range map[string]struct {
		later  time.Duration
		device *cyborg.DriverDevice
		state  arq.State
		keeps  bool
	}{
		"young": {80 * time.Second, nvmeDevice(0), arq.BindStarted, true},
		"nvme":  {100 * time.Second, nvmeDevice(0), arq.BindFailed, false},
		"mdev":  {100 * time.Second, mdev, arq.BindFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSweeper(t, tt.later, tt.device)
			q := s.begun(t, 0)
			if q.State != arq.BindStarted {
				t.Fatalf("the bind is %s", q.State)
			}
			s.sweep(t)
			s.sweep(t)
			now, err := s.store.Request(t.Context(), q.UUID)
			if err != nil || now.State != tt.state || (now.Handle != nil) != tt.keeps {
				t.Errorf("%s, handle %v, %v", now.State, now.Handle, err)
			}
			want := ""
			if tt.state == arq.BindFailed {
				want = q.UUID + " " + nova.StatusFailed
			}
			if got := strings.Join(s.told(), ","); got != want {
				t.Errorf("Nova was told %q, want %q", got, want)
			}
		})
	}
}

// unfinishable is a store that cannot finish one bind.
type unfinishable struct {
	conductor.Store
	uuid string
}

var errUnfinishable = errors.New("the row is broken")

func (u unfinishable) Finish(ctx context.Context, uuid string, o arq.Outcome) (arq.Request, error) {
	if uuid == u.uuid {
		return arq.Request{}, errUnfinishable
	}
	return u.Store.Finish(ctx, uuid, o)
}

// TestSweepGoesOn: a stuck bind that cannot be ended neither stands in the way of the others nor keeps Nova from being
// told of them, since no later sweep finds them again.
func TestSweepGoesOn(t *testing.T) {
	t.Parallel()
	const later = 100 * time.Second
	s := newSweeper(t, later, nvmeDevice(0), nvmeDevice(1), nvmeDevice(2))
	var stuck []string
	for i, p := 0, s.profile(t); i < 3; i++ {
		id := s.request(t, p, "p")
		if _, err := s.store.Begin(t.Context(), arq.Bind{UUID: id, Hostname: hostname, DeviceRPUUID: reconcile.ProviderUUID(crashName(i)), InstanceUUID: instance}); err != nil {
			t.Fatal(err)
		}
		stuck = append(stuck, id)
	}
	var manager *conductor.Manager
	broken := newRig(t, rigConfig{File: s.file, Placement: placementtest.Client(s.h).Transport, Configure: func(c *conductor.Config) {
		c.Now = func() time.Time { return time.Now().Add(later) }
		c.Store = unfinishable{c.Store, stuck[1]}
		var err error
		if manager, err = conductor.New(*c); err != nil {
			t.Fatal(err)
		}
	}})
	for range 2 {
		if err := manager.Sweep(t.Context()); !errors.Is(err, errUnfinishable) {
			t.Errorf("Sweep() = %v", err)
		}
	}
	if diff := cmp.Diff([]arq.State{arq.BindFailed, arq.BindStarted, arq.BindFailed}, s.states(t, stuck)); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, b := range broken.nova.Bodies() {
		for _, e := range b.Events {
			told = append(told, e.Tag)
		}
	}
	if diff := cmp.Diff([]string{stuck[0], stuck[2]}, told); diff != "" {
		t.Error(diff)
	}
}

// TestSweepOwedCleanup: an NVMe device whose request a Python API deleted has to be erased before anybody gets it.
func TestSweepOwedCleanup(t *testing.T) {
	t.Parallel()
	s := newSweeper(t, 2*time.Minute, nvmeDevice(0))
	q := s.begun(t, 0)
	if _, err := s.store.Finish(t.Context(), q.UUID, arq.Outcome{Event: arq.EventStepDone}); err != nil {
		t.Fatal(err)
	}
	s.sweep(t)
	state := func() string {
		have, err := s.store.Inventory(t.Context(), hostname)
		if err != nil {
			t.Fatal(err)
		}
		d := have.Devices[0]
		return fmt.Sprintf("%s, in use %t, offer %t", d.State, d.Deployables[0].Handles[0].InUse, d.Deployables[0].Offer != "")
	}
	if got := state(); got != "allocated, in use true, offer true" {
		t.Fatalf("a bound device was touched: %s", got)
	}
	s.exec(t, "DELETE FROM extended_accelerator_requests")
	s.exec(t, "UPDATE attach_handles SET in_use = 0")
	s.sweep(t)
	if got := state(); got != "pending_cleaning, in use true, offer false" {
		t.Errorf("the device is %s", got)
	}
}

// heard tells when Nova has been told something.
type heard struct {
	*nova.Recorder
	told chan struct{}
}

func (h heard) Notify(ctx context.Context, events []nova.Event) error {
	close(h.told)
	return h.Recorder.Notify(ctx, events)
}

// TestAnnounceAgain: at start the requests resolved within the last 300 s are announced, older ones are not.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	s := newSweeper(t, 0, device(hostname, 0, 2))
	young := s.begun(t, 0)
	more, err := s.store.CreateARQs(t.Context(), []arq.New{{ProfileID: young.ProfileID}})
	if err != nil {
		t.Fatal(err)
	}
	old := more[0].UUID
	_, err = s.store.Begin(t.Context(), arq.Bind{UUID: old, Hostname: hostname, DeviceRPUUID: reconcile.ProviderUUID(crashName(0)), InstanceUUID: "older"})
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "UPDATE extended_accelerator_requests SET updated_at = '2026-01-01 00:00:00.000000' WHERE uuid = ?", old)
	told := heard{&nova.Recorder{}, make(chan struct{})}
	var manager *conductor.Manager
	newRig(t, rigConfig{File: s.file, Placement: placementtest.Client(s.h).Transport, Configure: func(c *conductor.Config) {
		c.Notifier = told
		if manager, err = conductor.New(*c); err != nil {
			t.Fatal(err)
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- manager.Run(ctx) }()
	<-told.told
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := told.Bodies(); len(got) != 1 || len(got[0].Events) != 1 || got[0].Events[0].Tag != young.UUID || got[0].Events[0].Status != nova.StatusCompleted {
		t.Errorf("Nova was told %v", got)
	}
}

// silent is a Nova that takes what it is told and never answers.
type silent struct{ tags chan string }

func (n silent) Notify(ctx context.Context, events []nova.Event) error {
	for _, e := range events {
		n.tags <- e.Tag
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestSweepBesideAnnouncement: the sweeps do not wait until Nova has heard of earlier binds.
func TestSweepBesideAnnouncement(t *testing.T) {
	t.Parallel()
	const later = 100 * time.Second
	s := newSweeper(t, later, device(hostname, 0, 1), nvmeDevice(1))
	bound := s.begun(t, 0)
	made, err := s.store.CreateARQs(t.Context(), []arq.New{{ProfileID: bound.ProfileID}})
	if err != nil {
		t.Fatal(err)
	}
	stuck, err := s.store.Begin(t.Context(), arq.Bind{UUID: made[0].UUID, Hostname: hostname, DeviceRPUUID: reconcile.ProviderUUID(crashName(1)), InstanceUUID: "other"})
	if err != nil || bound.State != arq.Bound || stuck.State != arq.BindStarted {
		t.Fatal(bound.State, stuck.State, err)
	}
	told := silent{make(chan string, 16)}
	var manager *conductor.Manager
	newRig(t, rigConfig{File: s.file, Placement: placementtest.Client(s.h).Transport, Configure: func(c *conductor.Config) {
		c.Notifier, c.Now = told, func() time.Time { return time.Now().Add(later) }
		if manager, err = conductor.New(*c); err != nil {
			t.Fatal(err)
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- manager.Run(ctx) }()
	late := time.After(20 * time.Second)
	for want := map[string]bool{bound.UUID: true, stuck.UUID: true}; len(want) > 0; {
		select {
		case tag := <-told.tags:
			delete(want, tag)
		case <-late:
			t.Errorf("Nova was not told of %v", want)
			clear(want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSlowPlacement: a first report of 4,096 devices is answered when its budget is used up, though Placement is not
// done; the run completes by itself, and an unchanged report takes less than 10 s.
func TestSlowPlacement(t *testing.T) {
	t.Parallel()
	n := 4096
	if testing.Short() {
		n /= 10
	}
	h := newHosts(t, hostname)
	gate := make(chan struct{})
	h.Placement.Before = func(op string) {
		if op == "CreateProvider" {
			<-gate
		}
	}
	r := newRig(t, rigConfig{Placement: placementtest.Client(h).Transport, Configure: func(c *conductor.Config) { c.ReplyBudget = time.Millisecond }})
	all := devices(hostname, n, 1)
	if err := r.conductor.ReportData(as(t, true, ""), hostname, all); err != nil {
		t.Fatal(err)
	}
	have, err := r.store.Inventory(t.Context(), hostname)
	if err != nil || len(have.Devices) != n || have.Devices[0].Deployables[0].Offer != "" {
		t.Fatalf("at the answer: %d devices, %v", len(have.Devices), err)
	}
	close(gate)
	r.stop() // waits for the run
	if have, err = r.store.Inventory(t.Context(), hostname); err != nil {
		t.Fatal(err)
	}
	for i := range have.Devices {
		if have.Devices[i].Deployables[0].Offer == "" {
			t.Fatalf("device %d is not on offer", i)
		}
	}
	again := newRig(t, rigConfig{File: r.file, Placement: placementtest.Client(h).Transport})
	start := time.Now()
	if err := again.conductor.ReportData(as(t, true, ""), hostname, all); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*slowdown*time.Second {
		t.Errorf("an unchanged report took %s", took)
	}
}
