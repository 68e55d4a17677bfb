package conductor

import (
	"context"
	"encoding/json"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// Endpoint is the RPC surface of the conductor: the methods of 1.0 and 1.1.
func (m *Manager) Endpoint() (*rpc.Endpoint, error) {
	objects, err := cyborgrpc.ObjectMethods()
	if err != nil {
		return nil, err
	}
	ep := rpc.NewEndpoint("", cyborgrpc.ConductorVersion)
	cyborgrpc.ReportData.Handle(ep, nothing(m.reportData))
	cyborgrpc.DeviceProfileCreate.Handle(ep, raising(m.deviceProfileCreate))
	cyborgrpc.DeviceProfileDelete.Handle(ep, nothing(m.deviceProfileDelete))
	cyborgrpc.ARQCreate.Handle(ep, raising(m.arqCreate))
	cyborgrpc.ARQDeleteByUUID.Handle(ep, nothing(m.arqDeleteByUUID))
	cyborgrpc.ARQDeleteByInstanceUUID.Handle(ep, nothing(m.arqDeleteByInstance))
	cyborgrpc.ARQApplyPatch.Handle(ep, nothing(m.arqApplyPatch))
	m.serveObjects(ep, objects)
	return ep, nil
}

// serveObjects registers the object operations; what a dispatcher says of an undeclared method becomes an
// exception that Python peers do not take for a cue to fall back.
func (m *Manager) serveObjects(ep *rpc.Endpoint, objects ovorpc.Methods) {
	d := m.cfg.Dispatcher
	objects.ClassAction.Handle(ep, func(ctx context.Context, a ovorpc.ClassActionArgs) (json.RawMessage, error) {
		raw, err := d.ClassAction(ctx, a.Object, a.Method, a.Versions, a.Args, a.Kwargs)
		return raw, cyborgrpc.Unsupported(a.Object+"."+a.Method, err)
	})
	objects.Action.Handle(ep, func(ctx context.Context, a ovorpc.ActionArgs) (json.RawMessage, error) {
		raw, err := d.Action(ctx, a.Object, a.Method, a.Args, a.Kwargs)
		return raw, cyborgrpc.Unsupported(a.Method, err)
	})
	objects.Backport.Handle(ep, func(_ context.Context, a ovorpc.BackportArgs) (json.RawMessage, error) {
		return d.Backport(a.Object, a.Versions)
	})
}
