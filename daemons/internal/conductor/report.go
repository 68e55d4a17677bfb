package conductor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/reconcile"
)

func (m *Manager) reportData(ctx context.Context, a cyborgrpc.ReportDataArgs) error {
	return m.runs.submit(ctx, a.Hostname, a.Devices, m.cfg.ReplyBudget)
}

// reportRun is one run: plan against Placement and the rows, carry out.
type reportRun struct {
	runner *reconcile.Runner
	log    *slog.Logger
	told   func(int) // may be nil

	mu       sync.Mutex
	retained map[string]int // devices by host
}

// count tells how many devices are retained on all hosts.
func (r *reportRun) count(host string, retained int) {
	if r.told == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retained == nil {
		r.retained = map[string]int{}
	}
	r.retained[host] = retained
	sum := 0
	for _, n := range r.retained {
		sum += n
	}
	r.told(sum)
}

func (r *reportRun) do(ctx context.Context, host string, reported []cyborgrpc.ReportedDevice, durable func()) error {
	plan, err := PlanReport(ctx, r.runner, host, reported)
	if err != nil {
		return err
	}
	result := r.runner.ApplyThen(ctx, plan, durable)
	r.count(host, result.Retained)
	level := slog.LevelInfo
	if len(result.Devices) == 0 {
		level = slog.LevelDebug
	}
	r.log.Log(ctx, level, "report done", "host", host, "devices", len(reported), "unchanged", result.Unchanged,
		"changed", len(result.Devices), "retained", result.Retained, "problems", len(result.Problems))
	return ctx.Err()
}

// PlanReport says what a report would change. It writes nothing. A device that cannot be read is a problem of the plan.
func PlanReport(ctx context.Context, runner *reconcile.Runner, host string, reported []cyborgrpc.ReportedDevice) (reconcile.Plan, error) {
	want, refused := read(host, reported)
	if refused != nil {
		have, err := runner.Store.Inventory(ctx, host)
		if err != nil {
			return reconcile.Plan{}, err
		}
		want = append(want, stubs(have, want)...)
	}
	plan, err := runner.Plan(ctx, host, want)
	plan.Problems = append(plan.Problems, refused...)
	return plan, err
}

// read turns the reported objects into values. One that cannot be read is a problem; it never stops the others.
func read(host string, reported []cyborgrpc.ReportedDevice) (want []reconcile.Device, refused []reconcile.Problem) {
	for i, d := range reported {
		device, err := reconcile.Device{}, d.Err
		if err == nil {
			device, err = inventory.Reported(d.Device)
		}
		if err == nil {
			want = append(want, device)
			continue
		}
		p := reconcile.Problem{
			Host: host, Device: device.ControlPath.Info, Reason: reconcile.ReasonInvalid,
			Detail: fmt.Sprintf("device %d of the report: %v", i, err),
		}
		if unset, ok := errors.AsType[*inventory.UnsetError](err); ok {
			p.Field = unset.Path
		}
		refused = append(refused, p)
	}
	return want, refused
}

// stubs freezes everything stored that a report with refused devices does not name: one of the refused ones may
// be it, and what is not understood must not be taken for missing.
func stubs(have reconcile.Inventory, want []reconcile.Device) []reconcile.Device {
	named := make(map[reconcile.ControlPath]bool, len(want))
	for _, d := range want {
		named[reconcile.ControlPath{Type: d.ControlPath.Type, Info: d.ControlPath.Info}] = true
	}
	var out []reconcile.Device
	for _, d := range have.Devices {
		path := reconcile.ControlPath{Type: d.ControlPath.Type, Info: d.ControlPath.Info}
		if !named[path] {
			out = append(out, reconcile.Device{ControlPath: path, Stub: true})
		}
	}
	return out
}
