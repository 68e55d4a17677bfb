package conductor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/ovo"
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
	busy   *inFlight

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
	defer r.busy.begin(fmt.Sprintf("report of host %s, %d devices", host, len(reported)))()
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
	want, refused, nameless := read(host, reported)
	if nameless {
		have, err := runner.Store.Inventory(ctx, host)
		if err != nil {
			return reconcile.Plan{}, err
		}
		want = append(want, reconcile.Unnamed(have, want)...)
	}
	plan, err := runner.Plan(ctx, host, want)
	plan.Refuse(refused...)
	return plan, err
}

// read turns the reported objects into values. One that cannot be read is a problem; it never stops the others, and
// what is stored of it stays as it is. nameless says that one of them does not even tell its control path: it may be
// any stored device that the report does not name.
func read(host string, reported []cyborgrpc.ReportedDevice) (want []reconcile.Device, refused []reconcile.Problem, nameless bool) {
	for i, d := range reported {
		device, err := reconcile.Device{ControlPath: inventory.Path(d.Path)}, d.Err
		if err == nil {
			device, err = inventory.Reported(d.Device)
		}
		if err == nil {
			want = append(want, device)
			continue
		}
		refused = append(refused, reconcile.Problem{
			Host: host, Device: device.ControlPath.Info, Field: fieldOf(err), Reason: reconcile.ReasonInvalid,
			Detail: fmt.Sprintf("device %d of the report: %v", i, err),
		})
		if device.ControlPath.Info == "" {
			nameless = true
			continue
		}
		want = append(want, reconcile.Device{ControlPath: device.ControlPath, Stub: true})
	}
	return want, refused, nameless
}

// fieldOf is the place that an error of a device names.
func fieldOf(err error) string {
	if unset, ok := errors.AsType[*inventory.UnsetError](err); ok {
		return unset.Path
	}
	if field, ok := errors.AsType[*ovo.FieldError](err); ok {
		return strings.TrimPrefix(field.Path, "DriverDevice.")
	}
	return ""
}
