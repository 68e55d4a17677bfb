package standalone

import (
	"context"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/api"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

func (s *Services) newClient(t rpc.Transport) *rpc.Client {
	return rpc.NewClient(t, rpc.ClientConfig{
		Serializer: s.wire, Exceptions: cyborgrpc.Exceptions(), Logger: s.log,
		Observe: s.cfg.Metrics.Observe, Interceptors: s.cfg.Metrics.Client(),
	})
}

func (s *Services) conductorAPI(client *rpc.Client, limits cyborgrpc.Limits) (*cyborgrpc.ConductorAPI, error) {
	return cyborgrpc.NewConductorAPI(client, s.wire, through(s.cfg.Seams.Limits, limits))
}

// Objects are remotable methods that a caller behind t reaches through the conductor, under the caps of limits.
// The caller closes the client.
func (s *Services) Objects(t rpc.Transport, limits cyborgrpc.Limits) (cyborg.Objects, *rpc.Client, error) {
	client := s.newClient(t)
	conductor, err := s.conductorAPI(client, limits)
	if err != nil {
		return cyborg.Objects{}, nil, err
	}
	objects, err := cyborg.Remote(s.registry, conductor.Indirection())
	return through(s.cfg.Seams.Objects, objects), client, err
}

// apiConductor is what the REST API has the conductor do, over RPC.
type apiConductor struct{ conductor *cyborgrpc.ConductorAPI }

var _ api.Conductor = apiConductor{}

// CreateProfile implements [api.Conductor].
func (c apiConductor) CreateProfile(ctx context.Context, p store.Profile) (string, error) {
	groups, err := cyborgrpc.GroupDicts(p.Groups)
	if err != nil {
		return "", err
	}
	object := &cyborg.DeviceProfile{Name: ovo.Of(p.Name), Groups: ovo.Of(groups), Description: ovo.NullFrom(p.Description)}
	if p.UUID != "" {
		object.UUID = ovo.Of(p.UUID)
	}
	if !p.CreatedAt.IsZero() {
		object.CreatedAt = ovo.NullOf(p.CreatedAt)
	}
	saved, err := c.conductor.DeviceProfileCreate(ctx, object)
	if err != nil {
		return "", err
	}
	return saved.UUID.Value(), nil
}

// DeleteProfile implements [api.Conductor].
func (c apiConductor) DeleteProfile(ctx context.Context, p store.Profile) error {
	return c.conductor.DeviceProfileDelete(ctx, &cyborg.DeviceProfile{UUID: ovo.Of(p.UUID), Name: ovo.Of(p.Name)})
}

// CreateRequest implements [api.Conductor].
func (c apiConductor) CreateRequest(ctx context.Context, n arq.New) (string, error) {
	inner := &cyborg.ARQ{
		DeviceProfileName: ovo.Of(n.ProfileName), DeviceProfileGroupID: ovo.Of(int64(n.GroupID)),
		ProjectID: ovo.NullOf(n.ProjectID),
	}
	if n.UUID != "" {
		inner.UUID = ovo.Of(n.UUID)
	}
	saved, err := c.conductor.ARQCreate(ctx, &cyborg.ExtARQ{ARQ: ovo.Of(inner)}, n.ProfileID)
	if err != nil {
		return "", err
	}
	return saved.ARQ.Value().UUID.Value(), nil
}

// ApplyPatches implements [api.Conductor].
func (c apiConductor) ApplyPatches(ctx context.Context, patches []api.Patch) error {
	wire := make(cyborgrpc.ARQPatches, len(patches))
	valid := make(map[string]cyborgrpc.ARQFields, len(patches))
	for i, p := range patches {
		wire[i].UUID = p.UUID
		for _, op := range p.Operations {
			wire[i].Ops = append(wire[i].Ops, cyborgrpc.PatchOp{Path: op.Path, Op: op.Op, Value: op.Value})
		}
		valid[p.UUID] = cyborgrpc.ARQFields{
			Hostname: p.Fields.Hostname, DeviceRPUUID: p.Fields.DeviceRPUUID,
			InstanceUUID: p.Fields.InstanceUUID, ProjectID: p.Fields.ProjectID,
		}
	}
	return c.conductor.ARQApplyPatch(ctx, wire, valid)
}

// DeleteRequests implements [api.Conductor].
func (c apiConductor) DeleteRequests(ctx context.Context, uuids []string) error {
	return c.conductor.ARQDeleteByUUID(ctx, uuids)
}
