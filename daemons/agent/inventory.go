package agent

import (
	"context"
	"errors"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// Inventory is the persisted state of a host as the agent reads and updates it: collection reads, whatever the
// number of devices, and one stale-checked update.
type Inventory interface {
	Devices(ctx context.Context, hostname string) (*cyborg.DeviceList, error)
	ControlpathIDs(ctx context.Context, hostname string) (*cyborg.ControlpathIDList, error)
	Deployables(ctx context.Context, hostname string) (*cyborg.DeployableList, error)
	AttachHandles(ctx context.Context, hostname string) (handles, referenced *cyborg.AttachHandleList, err error)
	// UpdateAttachInfo: see [cyborg.AttachHandles]. *[cyborg.StaleHandleError] and
	// *[cyborg.HandleNotFoundError] are told apart from other errors.
	UpdateAttachInfo(ctx context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandle, error)
}

// RemoteInventory is the [Inventory] behind remotable methods.
func RemoteInventory(objects cyborg.Objects) Inventory { return remoteInventory{objects} }

type remoteInventory struct{ objects cyborg.Objects }

func (r remoteInventory) Devices(ctx context.Context, hostname string) (*cyborg.DeviceList, error) {
	return r.objects.DeviceList.GetByHostname(ctx, hostname)
}

func (r remoteInventory) ControlpathIDs(ctx context.Context, hostname string) (*cyborg.ControlpathIDList, error) {
	return r.objects.ControlpathIDList.GetByHostname(ctx, hostname)
}

func (r remoteInventory) Deployables(ctx context.Context, hostname string) (*cyborg.DeployableList, error) {
	return r.objects.DeployableList.GetByHostname(ctx, hostname)
}

func (r remoteInventory) AttachHandles(ctx context.Context, hostname string) (handles, referenced *cyborg.AttachHandleList, err error) {
	if handles, err = r.objects.AttachHandleList.GetByHostname(ctx, hostname); err != nil {
		return nil, nil, err
	}
	referenced, err = r.objects.AttachHandleList.GetReferencedByHostname(ctx, hostname)
	return handles, referenced, err
}

func (r remoteInventory) UpdateAttachInfo(ctx context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandle, error) {
	h, err := r.objects.AttachHandle.UpdateAttachInfo(ctx, u.UUID, u.Expected.Dict(), u.AttachInfo, u.RequireUnallocated)
	if _, ok := errors.AsType[*arq.NotFoundError](err); ok {
		return nil, &cyborg.HandleNotFoundError{UUID: u.UUID}
	}
	return h, err
}
