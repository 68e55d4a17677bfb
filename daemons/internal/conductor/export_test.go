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
