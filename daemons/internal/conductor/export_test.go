package conductor

import (
	"context"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// ApplyPatch calls arq_apply_patch without a bus, as an administrator.
func ApplyPatch(ctx context.Context, m *Manager, a cyborgrpc.ARQApplyPatchArgs) error {
	return m.arqApplyPatch(rpc.WithRequest(ctx, rpc.AdminContext()), a)
}

// ReportData calls report_data without a bus.
func ReportData(ctx context.Context, m *Manager, a cyborgrpc.ReportDataArgs) error {
	return m.reportData(ctx, a)
}

// Announce does what a conductor does first when it starts.
func Announce(ctx context.Context, m *Manager) { m.announce(ctx) }
