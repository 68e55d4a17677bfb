package conductor

import (
	"context"
	"errors"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
)

// createMdev makes the mediated device of a started bind. One that is there already belongs to nobody, since the handle
// is this request's: a bind was unbound while the agent made it, or nobody knows how it ended.
func (m *Manager) createMdev(ctx context.Context, r arq.Request) error {
	args, err := mdevArgs(*r.Handle)
	if err != nil {
		return err
	}
	err = m.cfg.Agents.CreateVGPUMdev(ctx, r.Hostname, args)
	if !errors.Is(err, cyborgrpc.ErrMdevExists) {
		return err
	}
	m.log.Warn("mediated device was left behind and is made anew", "handle", r.Handle.UUID, "host", r.Hostname)
	if err := m.cfg.Agents.RemoveVGPUMdev(ctx, r.Hostname, args); err != nil {
		return err
	}
	return m.cfg.Agents.CreateVGPUMdev(ctx, r.Hostname, args)
}

// dropMdev removes what a bind made whose request was gone by then: when that left there was nothing to remove yet. A
// handle that is somebody's again keeps its mediated device, which may be the next one's.
func (m *Manager) dropMdev(ctx context.Context, r arq.Request) {
	if r.Handle == nil || r.Handle.Type != arq.HandleMDEV {
		return
	}
	free, err := m.free(ctx, r)
	if err == nil && free {
		var args cyborgrpc.MdevArgs
		if args, err = mdevArgs(*r.Handle); err == nil {
			err = m.cfg.Agents.RemoveVGPUMdev(ctx, r.Hostname, args)
		}
	}
	if err != nil && !errors.Is(err, cyborgrpc.ErrNoMdev) {
		m.log.Warn("mediated device of a request that is gone stays until its handle is bound again",
			"handle", r.Handle.UUID, "host", r.Hostname, "error", err)
	}
}

// free reports whether the handle that a request had is nobody's.
func (m *Manager) free(ctx context.Context, r arq.Request) (bool, error) {
	d, _, err := m.cfg.Store.Device(ctx, r.Device.UUID)
	if err != nil {
		return false, err
	}
	for i := range d.Deployables {
		for _, h := range d.Deployables[i].Handles {
			if h.UUID == r.Handle.UUID {
				return !h.Held(), nil
			}
		}
	}
	return true, nil
}

func mdevArgs(h arq.Handle) (cyborgrpc.MdevArgs, error) {
	address, err := h.Info.Address()
	if err != nil {
		return cyborgrpc.MdevArgs{}, err
	}
	asked, err := h.Info.Text("asked_type")
	return cyborgrpc.MdevArgs{PCIAddr: address.String(), AskedType: asked, AHUUID: h.UUID}, err
}
