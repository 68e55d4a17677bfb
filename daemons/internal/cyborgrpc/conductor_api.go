package cyborgrpc

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// ConductorAPI is the client of the conductor. It sends to the topic: any conductor may answer. It is safe for
// concurrent use.
type ConductorAPI struct {
	remote  rpc.Remote
	objects ovorpc.Methods
	wire    Wire
}

// NewConductorAPI makes the client under the cap of limits; one that it does not support is a *[CapError]. The rpc
// client's serializer must be wire.
func NewConductorAPI(client *rpc.Client, wire Wire, limits Limits) (*ConductorAPI, error) {
	objects, err := ObjectMethods()
	if err != nil {
		return nil, err
	}
	if limits, err = limits.checked(); err != nil {
		return nil, err
	}
	return &ConductorAPI{
		remote:  rpc.Remote{Client: client, Target: rpc.Target{Topic: ConductorTopic}, Cap: limits.Conductor},
		objects: objects,
		wire:    wire,
	}, nil
}

// SupportsObjectIndirection says whether the cap of this client admits object operations (RPC 1.1). It sends
// nothing and says nothing about what the conductors implement.
func (c *ConductorAPI) SupportsObjectIndirection() bool {
	return c.remote.CanSendVersion(c.objects.ClassAction.Version())
}

// Cap is the cap of this client.
func (c *ConductorAPI) Cap() rpc.Version { return c.remote.Cap }

// Indirection runs object methods in a conductor. Every call is refused locally when the cap is below 1.1. An
// answer that shows the conductor to be too old is a *[TooOldError].
func (c *ConductorAPI) Indirection() *Indirection {
	return &Indirection{client: &ovorpc.Client{Methods: c.objects, Remote: c.remote, Reads: readsOnly}}
}

// readsOnly knows the class methods that change nothing by the naming rule of the catalogue.
func readsOnly(_, method string) bool { return strings.HasPrefix(method, "get_") }

// ReportData sends the devices of a host to be stored and offered. hostname is the name of the host's resource
// provider. *[reconcile.NoRootError] when Placement has no such provider.
func (c *ConductorAPI) ReportData(ctx context.Context, hostname string, devices []*cyborg.DriverDevice) error {
	reported := make([]ReportedDevice, len(devices))
	for i, d := range devices {
		reported[i].Device = d
	}
	_, err := ReportData.Call(ctx, c.remote, ReportDataArgs{Hostname: hostname, Devices: reported})
	return err
}

// DeviceProfileCreate stores an unsaved device profile and returns it as stored.
func (c *ConductorAPI) DeviceProfileCreate(ctx context.Context, p *cyborg.DeviceProfile) (*cyborg.DeviceProfile, error) {
	raw, err := DeviceProfileCreate.Call(ctx, c.remote, DeviceProfileArgs{Profile: p})
	if err != nil {
		return nil, err
	}
	var saved *cyborg.DeviceProfile
	if err := c.wire.Deserialize(ctx, raw, &saved); err != nil {
		return nil, fmt.Errorf("answer to device_profile_create: %w", err)
	}
	return saved, nil
}

// DeviceProfileDelete deletes a device profile.
func (c *ConductorAPI) DeviceProfileDelete(ctx context.Context, p *cyborg.DeviceProfile) error {
	_, err := DeviceProfileDelete.Call(ctx, c.remote, DeviceProfileArgs{Profile: p})
	return err
}

// ARQCreate stores an unsaved ARQ of a device profile and returns it as stored.
func (c *ConductorAPI) ARQCreate(ctx context.Context, arq *cyborg.ExtARQ, profileID int64) (*cyborg.ExtARQ, error) {
	raw, err := ARQCreate.Call(ctx, c.remote, ARQCreateArgs{ARQ: arq, ProfileID: profileID})
	if err != nil {
		return nil, err
	}
	var saved *cyborg.ExtARQ
	if err := c.wire.Deserialize(ctx, raw, &saved); err != nil {
		return nil, fmt.Errorf("answer to arq_create: %w", err)
	}
	return saved, nil
}

// ARQDeleteByUUID deletes ARQs.
func (c *ConductorAPI) ARQDeleteByUUID(ctx context.Context, uuids []string) error {
	_, err := ARQDeleteByUUID.Call(ctx, c.remote, ARQDeleteByUUIDArgs{ARQs: strings.Join(uuids, ",")})
	return err
}

// ARQDeleteByInstance deletes the ARQs of an instance.
func (c *ConductorAPI) ARQDeleteByInstance(ctx context.Context, instance string) error {
	_, err := ARQDeleteByInstanceUUID.Call(ctx, c.remote, ARQDeleteByInstanceArgs{Instance: instance})
	return err
}

// ARQApplyPatch binds and unbinds ARQs in the order of patches; the first error stops the later ones.
func (c *ConductorAPI) ARQApplyPatch(ctx context.Context, patches ARQPatches, valid map[string]ARQFields) error {
	_, err := ARQApplyPatch.Call(ctx, c.remote, ARQApplyPatchArgs{Patches: patches, ValidFields: valid})
	return err
}
