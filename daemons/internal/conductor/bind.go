package conductor

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// bind leads one request to Bound. A bind that fails is recorded as such before its error is returned.
func (m *Manager) bind(ctx context.Context, current arq.Request, f cyborgrpc.ARQFields) (arq.Request, error) {
	program, err := current.Group.Program()
	if err != nil {
		return arq.Request{}, err
	}
	project := rpc.RequestOf(ctx).ProjectID
	if f.ProjectID != nil {
		project = *f.ProjectID
	}
	bound, err := m.cfg.Store.Begin(ctx, arq.Bind{
		UUID: current.UUID, Hostname: deref(f.Hostname), DeviceRPUUID: deref(f.DeviceRPUUID),
		InstanceUUID: deref(f.InstanceUUID), ProjectID: project, Program: program,
	})
	if err != nil || bound.State != arq.BindStarted {
		return bound, err
	}
	return m.outsideStep(ctx, bound)
}

// outsideStep does what a bind owes outside the database, in no transaction, and records how it ended.
func (m *Manager) outsideStep(ctx context.Context, r arq.Request) (arq.Request, error) {
	stepErr := m.step(ctx, r)
	outcome := arq.Outcome{Event: arq.EventStepDone}
	switch {
	case errors.Is(stepErr, context.DeadlineExceeded):
		outcome.Event = arq.EventStepTimedOut
	case stepErr != nil:
		outcome.Event = arq.EventStepFailed
	}
	finished, err := m.cfg.Store.Finish(context.WithoutCancel(ctx), r.UUID, outcome)
	if stepErr != nil {
		m.log.Error("bind failed", "arq", r.UUID, "host", r.Hostname, "error", stepErr)
		return finished, errors.Join(stepErr, err)
	}
	return finished, err
}

func (m *Manager) step(ctx context.Context, r arq.Request) error {
	if r.Handle == nil || r.Handle.Type != arq.HandleMDEV {
		return fmt.Errorf("bind of request %s: its step outside the database is not supported by this conductor", r.UUID)
	}
	args, err := mdevArgs(*r.Handle)
	if err != nil {
		return err
	}
	return m.cfg.Agents.CreateVGPUMdev(ctx, r.Hostname, args)
}

// leave unbinds or deletes one request. The mediated device of a bound one is removed first: while the agent
// cannot do that, the request stays as it is and the caller repeats.
func (m *Manager) leave(ctx context.Context, current arq.Request, how arq.Leave) error {
	if h := current.Handle; h != nil && h.Type == arq.HandleMDEV {
		args, err := mdevArgs(*h)
		if err != nil {
			return err
		}
		if err := m.cfg.Agents.RemoveVGPUMdev(ctx, current.Hostname, args); err != nil {
			return err
		}
	}
	_, err := m.cfg.Store.Release(ctx, current.UUID, how)
	return err
}

func mdevArgs(h arq.Handle) (cyborgrpc.MdevArgs, error) {
	address, err := h.Info.Address()
	if err != nil {
		return cyborgrpc.MdevArgs{}, err
	}
	asked, err := h.Info.Text("asked_type")
	return cyborgrpc.MdevArgs{PCIAddr: address.String(), AskedType: asked, AHUUID: h.UUID}, err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
