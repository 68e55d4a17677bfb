package api

import (
	"context"
	"net/http"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// Store is what the API reads, and the few rows it writes itself.
type Store interface {
	Profiles
	Requests
	Devices
	Deployables
	Attributes
}

// Profiles reads device profiles.
type Profiles interface {
	Profiles(ctx context.Context) ([]store.Profile, error)
	ProfileByUUID(ctx context.Context, id string) (store.Profile, error)
	ProfileByName(ctx context.Context, name string) (store.Profile, error)
}

// Requests reads accelerator requests and ends them.
type Requests interface {
	Requests(ctx context.Context, f store.RequestFilter) ([]arq.Request, error)
	Release(ctx context.Context, id string, how arq.Leave) (arq.Released, error)
}

// Devices reads devices and sets their status.
type Devices interface {
	Devices(ctx context.Context, f store.DeviceFilter) ([]cyborg.DeviceRow, error)
	DeviceByUUID(ctx context.Context, id string) (cyborg.DeviceRow, error)
	SetDeviceStatus(ctx context.Context, id, status string) error
}

// Deployables reads deployables.
type Deployables interface {
	Deployables(ctx context.Context, f store.DeployableFilter) ([]store.Deployable, error)
	DeployableByUUID(ctx context.Context, id string) (store.Deployable, error)
}

// Attributes reads and writes attributes of deployables.
type Attributes interface {
	Attributes(ctx context.Context, f store.AttributeFilter) ([]store.Attribute, error)
	AttributeByUUID(ctx context.Context, id string) (store.Attribute, error)
	CreateAttribute(ctx context.Context, a store.Attribute) (store.Attribute, error)
	DeleteAttribute(ctx context.Context, id string) error
}

// Conductor is what the API has the conductor do. The caller's request context is
// in ctx ([rpc.WithRequest]).
type Conductor interface {
	// CreateProfile stores a profile and returns its UUID.
	CreateProfile(ctx context.Context, p store.Profile) (uuid string, err error)
	DeleteProfile(ctx context.Context, p store.Profile) error
	// CreateRequest stores one accelerator request and returns its UUID.
	CreateRequest(ctx context.Context, n arq.New) (uuid string, err error)
	// ApplyPatches binds and unbinds in the order given.
	ApplyPatches(ctx context.Context, patches []Patch) error
	// DeleteRequests deletes requests whose handle owes a step outside the
	// database: an mdev to remove, a device to erase.
	DeleteRequests(ctx context.Context, uuids []string) error
}

// Inventories brings what Placement holds of a device in line with its row, after
// its status changed.
type Inventories interface {
	SyncDevice(ctx context.Context, device string) error
}

// Programmer loads an image onto a deployable through the agent of its host and waits
// for the end.
type Programmer interface {
	Program(ctx context.Context, d store.Deployable, image string) error
}

// Authenticator says who makes a request. [ErrUnauthorized] is answered with 401,
// any other error with 503.
type Authenticator interface {
	Authenticate(r *http.Request) (Caller, error)
}

// Caller is who makes a request.
type Caller struct {
	// Context travels with every RPC; its RequestID and GlobalRequestID are
	// filled in by the handler.
	Context rpc.RequestContext
	// Service tells that a valid service token came with the request: it is made
	// by another service (Nova) on the user's behalf.
	Service bool
}
