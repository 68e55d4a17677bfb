package conductor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// bitstream is the image that the profile of [newFPGA] asks for.
const bitstream = "b5f0e0a0-0000-0000-0000-000000000001"

// images knows every bitstream.
type images struct{}

func (images) ByID(_ context.Context, id string) (glance.Image, error) {
	return glance.Image{ID: id}, nil
}

func (images) ByFunction(context.Context, string) (glance.Image, error) {
	return glance.Image{}, errors.New("no image")
}

// newFPGA is a world with two deployables of four handles, whose requests want a bitstream loaded.
func newFPGA(t *testing.T, configure func(*conductor.Config)) (w *world, requests []string) {
	t.Helper()
	w = newWorld(t)
	w.stop()
	w.configure = func(c *conductor.Config) {
		c.Images = images{}
		if configure != nil {
			configure(c)
		}
	}
	w.serve(t)
	infos := []string{address("0"), address("1"), address("2"), address("3")}
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "PCI", infos...)}); err != nil {
		t.Fatal(err)
	}
	groups, err := cyborgrpc.GroupDicts([]arq.Group{{{Key: "resources:FPGA", Value: "1"}, {Key: "accel:bitstream_id", Value: bitstream}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.conductor.DeviceProfileCreate(as(t, true, ""), &cyborg.DeviceProfile{Name: ovo.Of("p"), Groups: ovo.Of(groups)})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		made, err := w.store.CreateARQs(t.Context(), []arq.New{{ProfileID: p.ID.Value()}})
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, made[0].UUID)
	}
	return w, requests
}

// bindAll binds requests by one patch, each to the deployable of a function.
func (w *world) bindAll(t *testing.T, requests []string, functions ...string) error {
	t.Helper()
	var patches cyborgrpc.ARQPatches
	valid := map[string]cyborgrpc.ARQFields{}
	for i, function := range functions {
		patches = append(patches, binding(requests[i], function))
		valid[requests[i]] = fields(function)
	}
	return w.conductor.ARQApplyPatch(as(t, true, ""), patches, valid)
}

func (w *world) states(t *testing.T, requests []string) (out []arq.State) {
	t.Helper()
	for _, id := range requests {
		out = append(out, w.state(t, id))
	}
	return out
}

// TestProgrammingJobs: the answer does not wait for the programming; Nova is told once, of every request of the patch,
// by what is committed: one that fails gives its handle back, one that runs out of time keeps it, since the card may be
// written to.
func TestProgrammingJobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		program func(n int32, ctx context.Context) (bool, error)
		states  []arq.State
		keeps   int // handles that are still somebody's
	}{
		"all programmed":       {func(int32, context.Context) (bool, error) { return true, nil }, []arq.State{arq.Bound, arq.Bound, arq.Initial}, 2},
		"the driver could not": {func(int32, context.Context) (bool, error) { return false, nil }, []arq.State{arq.BindFailed, arq.BindFailed, arq.Initial}, 0},
		"out of time":          {func(_ int32, ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }, []arq.State{arq.BindFailed, arq.BindFailed, arq.Initial}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, requests := newFPGA(t, func(c *conductor.Config) { c.BindTimeout = 200 * time.Millisecond })
			var calls atomic.Int32
			answered := make(chan struct{})
			w.agents.programs = func(ctx context.Context) (bool, error) {
				<-answered
				return tt.program(calls.Add(1), ctx)
			}
			if err := w.bindAll(t, requests, "4", "4"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]arq.State{arq.BindStarted, arq.BindStarted, arq.Initial}, w.states(t, requests)); diff != "" {
				t.Error(diff)
			}
			if bodies := w.nova.Bodies(); len(bodies) > 0 {
				t.Errorf("Nova was told too early: %v", bodies)
			}
			close(answered)
			w.stop()
			if diff := cmp.Diff(tt.states, w.states(t, requests)); diff != "" {
				t.Error(diff)
			}
			status := nova.StatusCompleted
			if tt.states[0] == arq.BindFailed {
				status = nova.StatusFailed
			}
			want := []nova.Body{{Events: []nova.Event{
				{Name: nova.EventName, ServerUUID: instance, Tag: requests[0], Status: status},
				{Name: nova.EventName, ServerUUID: instance, Tag: requests[1], Status: status},
			}}}
			if diff := cmp.Diff(want, w.nova.Bodies()); diff != "" {
				t.Error(diff)
			}
			have, err := w.store.Inventory(t.Context(), hostname)
			if err != nil {
				t.Fatal(err)
			}
			held := 0
			for _, h := range have.Devices[0].Deployables[0].Handles {
				if h.Held() {
					held++
				}
			}
			if held != tt.keeps {
				t.Errorf("%d handles are held, want %d", held, tt.keeps)
			}
			if programmed := have.Devices[0].Deployables[0].BitstreamID; (programmed != nil) != (tt.states[0] == arq.Bound) {
				t.Errorf("bitstream_id %v", programmed)
			}
		})
	}
}

// TestSiblingsAreTold: Nova hears of what is bound although another request of the patch has gone, and a third one's
// outcome could not be written; the sweep ends that and tells of it.
func TestSiblingsAreTold(t *testing.T) {
	t.Parallel()
	broken := &unfinishable{}
	w, requests := newFPGA(t, func(c *conductor.Config) {
		broken.Store = c.Store
		c.Store = broken
	})
	broken.uuid = requests[1]
	answered := make(chan struct{})
	w.agents.programs = func(context.Context) (bool, error) { <-answered; return true, nil }
	if err := w.bindAll(t, requests, "4", "4", "4"); err != nil {
		t.Fatal(err)
	}
	if err := w.conductor.ARQDeleteByUUID(as(t, true, ""), requests[:1]); err != nil {
		t.Fatal(err)
	}
	close(answered)
	w.stop()
	if diff := cmp.Diff([]arq.State{arq.BindStarted, arq.Bound}, w.states(t, requests[1:])); diff != "" {
		t.Error(diff)
	}
	want := []nova.Body{{Events: []nova.Event{{Name: nova.EventName, ServerUUID: instance, Tag: requests[2], Status: nova.StatusCompleted}}}}
	if diff := cmp.Diff(want, w.nova.Bodies()); diff != "" {
		t.Error(diff)
	}
}

// TestNobodyToTellOf: a patch of which no request is left is no notification.
func TestNobodyToTellOf(t *testing.T) {
	t.Parallel()
	w, requests := newFPGA(t, nil)
	answered := make(chan struct{})
	w.agents.programs = func(context.Context) (bool, error) { <-answered; return true, nil }
	if err := w.bindAll(t, requests, "4"); err != nil {
		t.Fatal(err)
	}
	if err := w.conductor.ARQDeleteByUUID(as(t, true, ""), requests[:1]); err != nil {
		t.Fatal(err)
	}
	close(answered)
	w.stop()
	if bodies := w.nova.Bodies(); len(bodies) > 0 {
		t.Errorf("Nova was told %v", bodies)
	}
}

// TestBatchWithProgramming: a later request of the patch fails. As in Cyborg 17 the earlier one is programmed and bound
// all the same, the caller gets the error and Nova is told nothing.
func TestBatchWithProgramming(t *testing.T) {
	t.Parallel()
	w, requests := newFPGA(t, nil)
	w.agents.programs = func(context.Context) (bool, error) { return true, nil }
	var missing *arq.NotFoundError
	if err := w.bindAll(t, requests, "4", "7", "4"); !errors.As(err, &missing) || missing.Resource != "Deployable" {
		t.Errorf("ARQApplyPatch() = %v, want no such deployable", err)
	}
	w.stop()
	if diff := cmp.Diff([]arq.State{arq.Bound, arq.BindFailed, arq.Initial}, w.states(t, requests)); diff != "" {
		t.Error(diff)
	}
	if bodies := w.nova.Bodies(); len(bodies) > 0 {
		t.Errorf("Nova was told %v", bodies)
	}
}

// TestStepCancelled: whether a step that was cut short took effect nobody knows, so its handle stays with the request
// until that is unbound; freed, it could be given to a guest whose mdev exists already.
func TestStepCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	info := `{"asked_type": "nvidia-223", "bus": "25", "device": "00", "domain": "0000", "function": "4", "vgpu_mark": "nvidia-223_0"}`
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "MDEV", info)}); err != nil {
		t.Fatal(err)
	}
	id := w.request(t, w.profile(t), "mine")
	w.agents.err = context.Canceled
	if err := w.bindAll(t, []string{id}, "4"); err == nil {
		t.Error("bound although the agent was not heard")
	}
	q, err := w.store.Request(t.Context(), id)
	if err != nil || q.State != arq.BindFailed || q.Handle == nil {
		t.Errorf("%s with handle %v, %v", q.State, q.Handle, err)
	}
}
