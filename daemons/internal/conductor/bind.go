package conductor

import (
	"context"
	"errors"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// bind leads one request to Bound, or to BindStarted when programming is owed: that is a job for after the answer. A
// bind that fails is recorded as such before its error is returned.
func (m *Manager) bind(ctx context.Context, current arq.Request, f cyborgrpc.ARQFields) (arq.Request, error) {
	if _, err := current.Group.Class(); err != nil {
		return arq.Request{}, err // the peer looks for the class before it touches the row
	}
	program, refused := current.Group.Program()
	project := rpc.RequestOf(ctx).ProjectID
	if f.ProjectID != nil {
		project = *f.ProjectID
	}
	begun, err := m.cfg.Store.Begin(ctx, arq.Bind{
		UUID: current.UUID, Hostname: deref(f.Hostname), DeviceRPUUID: deref(f.DeviceRPUUID),
		InstanceUUID: deref(f.InstanceUUID), ProjectID: project, Program: program, Refused: refused != nil,
	})
	switch {
	case err != nil:
		return begun, err
	case refused != nil:
		return begun, refused
	case begun.State != arq.BindStarted || programs(begun):
		return begun, nil
	}
	return m.finish(ctx, begun, m.step(ctx, begun), "")
}

// programs reports whether what a started bind owes is the programming of an FPGA.
func programs(r arq.Request) bool {
	p, err := r.Group.Program()
	return err == nil && (p.BitstreamID != "" || p.FunctionID != "") && r.Device.Type != arq.DeviceTypeNVMe && r.Handle.Type != arq.HandleMDEV
}

// step is what a bind owes outside the database; it runs in no transaction.
func (m *Manager) step(ctx context.Context, r arq.Request) error {
	if r.Device.Type == arq.DeviceTypeNVMe {
		return m.reserve(ctx, r)
	}
	return m.createMdev(ctx, r)
}

// finish records how the step of a bind ended. Whether one that ran out of time, or was cut short, took effect nobody
// knows: its handle stays with the request until it is unbound.
func (m *Manager) finish(ctx context.Context, r arq.Request, stepErr error, bitstream string) (arq.Request, error) {
	outcome := arq.Outcome{Event: arq.EventStepDone, BitstreamID: bitstream}
	switch {
	case errors.Is(stepErr, context.DeadlineExceeded), errors.Is(stepErr, context.Canceled):
		outcome.Event = arq.EventStepTimedOut
	case stepErr != nil:
		outcome.Event = arq.EventStepFailed
	}
	finished, err := m.cfg.Store.Finish(context.WithoutCancel(ctx), r.UUID, outcome)
	if stepErr != nil {
		m.log.Error("bind failed", "arq", r.UUID, "host", r.Hostname, "error", stepErr)
		return finished, errors.Join(stepErr, err)
	}
	var moved *arq.BadStateError
	var gone *arq.NotFoundError
	if errors.As(err, &moved) || errors.As(err, &gone) {
		m.dropMdev(context.WithoutCancel(ctx), r)
	}
	return finished, err
}

// leave unbinds or deletes one request. Its mediated device is removed first: while the agent cannot do that, the request
// stays as it is and the caller repeats. There may be none: its bind was cut short, or the host started again.
func (m *Manager) leave(ctx context.Context, current arq.Request, how arq.Leave) error {
	defer m.busy.begin(string(how) + " of " + current.UUID)()
	start := time.Now()
	if h := current.Handle; h != nil && h.Type == arq.HandleMDEV {
		args, err := mdevArgs(*h)
		if err != nil {
			return err
		}
		if err := m.cfg.Agents.RemoveVGPUMdev(ctx, current.Hostname, args); err != nil && !errors.Is(err, cyborgrpc.ErrNoMdev) {
			return err
		}
	}
	_, err := m.cfg.Store.Release(ctx, current.UUID, how)
	if err == nil && m.cfg.Moved != nil {
		to := string(arq.Unbound)
		if how == arq.LeaveDelete {
			to = deleted
		}
		m.cfg.Moved(to, time.Since(start))
	}
	return err
}

// deleted is what a request whose row is gone counts as.
const deleted = "Deleted"

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// bindTimeout is how long the jobs of one patch may take by default ([DEFAULT] bind_timeout).
const bindTimeout = 60 * time.Second
