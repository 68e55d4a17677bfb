package conductor_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// mdevs is the agent of a host that keeps mediated devices as the kernel does: by UUID, each once.
type mdevs struct {
	mu   sync.Mutex
	have map[string]bool
	// making, if set, is called while a device is being made.
	making func()
}

func (m *mdevs) CreateVGPUMdev(_ context.Context, _ string, args cyborgrpc.MdevArgs) error {
	if m.making != nil {
		m.making()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.have[args.AHUUID] {
		return &rpc.RemoteError{Class: cyborgrpc.ErrMdevExists, Message: "[Errno 17] File exists"}
	}
	m.have[args.AHUUID] = true
	return nil
}

func (m *mdevs) RemoveVGPUMdev(_ context.Context, _ string, args cyborgrpc.MdevArgs) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.have[args.AHUUID] {
		return &rpc.RemoteError{Class: cyborgrpc.ErrNoMdev, Message: "[Errno 2] No such file or directory"}
	}
	delete(m.have, args.AHUUID)
	return nil
}

func (m *mdevs) FPGAProgram(context.Context, string, cyborgrpc.FPGAProgramArgs) (bool, error) {
	return false, errors.New("no FPGA")
}

// newMdevs is a world whose host has one attach handle for a mediated device, and two requests.
func newMdevs(t *testing.T) (w *world, host *mdevs, handle string, requests []string) {
	t.Helper()
	w, host = newWorld(t), &mdevs{have: map[string]bool{}}
	w.stop()
	w.configure = func(c *conductor.Config) { c.Agents = host }
	w.serve(t)
	info := `{"asked_type": "nvidia-223", "bus": "25", "device": "00", "domain": "0000", "function": "4", "vgpu_mark": "nvidia-223_0"}`
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "MDEV", info)}); err != nil {
		t.Fatal(err)
	}
	have, err := w.store.Inventory(t.Context(), hostname)
	if err != nil {
		t.Fatal(err)
	}
	p := w.profile(t)
	return w, host, have.Devices[0].Deployables[0].Handles[0].UUID, []string{w.request(t, p, "mine"), w.request(t, p, "mine")}
}

// TestDeletedWhileMdevIsMade: the mediated device of a request that is deleted while the agent makes it goes, and the
// next request gets the handle.
func TestDeletedWhileMdevIsMade(t *testing.T) {
	t.Parallel()
	w, host, handle, requests := newMdevs(t)
	host.making = func() {
		if err := w.conductor.ARQDeleteByUUID(as(t, true, ""), requests[:1]); err != nil {
			t.Error(err)
		}
	}
	var gone *arq.NotFoundError
	if err := w.bindAll(t, requests[:1], "4"); !errors.As(err, &gone) {
		t.Errorf("ARQApplyPatch() = %v", err)
	}
	if host.have[handle] {
		t.Error("the mediated device is left on a free handle")
	}
	host.making = nil
	if err := w.bindAll(t, requests[1:], "4"); err != nil || w.state(t, requests[1]) != arq.Bound || !host.have[handle] {
		t.Errorf("next bind: %v, %s, mediated device %t", err, w.state(t, requests[1]), host.have[handle])
	}
}

// TestNextOwnerKeepsMdev: when the handle is another request's by then, so is the mediated device.
func TestNextOwnerKeepsMdev(t *testing.T) {
	t.Parallel()
	w, host, handle, requests := newMdevs(t)
	host.making = func() {
		if err := w.conductor.ARQDeleteByUUID(as(t, true, ""), requests[:1]); err != nil {
			t.Error(err)
		}
		next := arq.Bind{UUID: requests[1], Hostname: hostname, DeviceRPUUID: providerOf("4"), InstanceUUID: instance}
		if _, err := w.store.Begin(t.Context(), next); err != nil {
			t.Error(err)
		}
	}
	if err := w.bindAll(t, requests[:1], "4"); err == nil {
		t.Error("a request that was deleted is bound")
	}
	if !host.have[handle] {
		t.Error("the mediated device of another request was removed")
	}
}

// TestMdevLeftBehind: a mediated device of a handle that was free belonged to a bind that nobody remembers; it is made
// anew.
func TestMdevLeftBehind(t *testing.T) {
	t.Parallel()
	w, host, handle, requests := newMdevs(t)
	host.have[handle] = true
	if err := w.bindAll(t, requests[:1], "4"); err != nil || w.state(t, requests[0]) != arq.Bound || !host.have[handle] {
		t.Errorf("%v, %s, mediated device %t", err, w.state(t, requests[0]), host.have[handle])
	}
}
