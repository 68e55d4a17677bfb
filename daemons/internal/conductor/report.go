package conductor

import (
	"context"
	"log/slog"

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
}

func (r reportRun) do(ctx context.Context, host string, reported []cyborgrpc.ReportedDevice, durable func()) error {
	want, refused := r.read(host, reported)
	if refused > 0 {
		have, err := r.runner.Store.Inventory(ctx, host)
		if err != nil {
			return err
		}
		want = append(want, stubs(have, want)...)
	}
	plan, err := r.runner.Plan(ctx, host, want)
	if err != nil {
		return err
	}
	r.runner.Apply(ctx, plan)
	durable()
	return ctx.Err()
}

// read turns the reported objects into values. One that cannot be read is refused with a warning; it never stops
// the others.
func (r reportRun) read(host string, reported []cyborgrpc.ReportedDevice) (want []reconcile.Device, refused int) {
	for i, d := range reported {
		device, err := reconcile.Device{}, d.Err
		if err == nil {
			device, err = inventory.Reported(d.Device)
		}
		if err != nil {
			r.log.Warn("reported device refused", "host", host, "index", i, "error", err)
			refused++
			continue
		}
		want = append(want, device)
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
