package cyborg

import "context"

// DeviceReader reads devices for [DeviceLists].
type DeviceReader interface {
	// DevicesByHostname returns the devices of one compute host in id order, none if the host is unknown.
	DevicesByHostname(ctx context.Context, hostname string) ([]DeviceRow, error)
}

// ControlpathIDReader reads control paths for [ControlpathIDLists].
type ControlpathIDReader interface {
	// ControlpathIDsByHostname returns the control paths of the devices of one host in id order.
	ControlpathIDsByHostname(ctx context.Context, hostname string) ([]ControlpathIDRow, error)
}

// DeployableReader reads deployables for [DeployableLists].
type DeployableReader interface {
	// DeployablesByHostname returns the deployables of the devices of one host in id order.
	DeployablesByHostname(ctx context.Context, hostname string) ([]DeployableRow, error)
}

// AttachHandleReader reads attach handles for [AttachHandleLists].
type AttachHandleReader interface {
	// AttachHandlesByHostname returns the attach handles of the deployables of one host in id order.
	AttachHandlesByHostname(ctx context.Context, hostname string) ([]AttachHandleRow, error)
	// ReferencedAttachHandlesByHostname returns those of them that any ARQ row names, whatever its state.
	ReferencedAttachHandlesByHostname(ctx context.Context, hostname string) ([]AttachHandleRow, error)
}

// AttachInfoUpdater rewrites the metadata of one attach handle for [AttachHandles].
type AttachInfoUpdater interface {
	// UpdateAttachInfo replaces attach_info of one handle in one transaction, and only if everything the
	// caller read is still true. Errors: *[StaleHandleError] when it is not, or when RequireUnallocated is
	// set and the handle is allocated (nothing is written); *[HandleNotFoundError] when there is no such
	// handle. The handle's uuid, ids and in_use never change; equal bytes are not rewritten.
	UpdateAttachInfo(ctx context.Context, u AttachInfoUpdate) (*AttachHandleRow, error)
}

// Store is what the bodies of all remotable methods need when they run locally, in the conductor. A consumer
// of one method needs only the small interface of that method.
type Store interface {
	DeviceReader
	ControlpathIDReader
	DeployableReader
	AttachHandleReader
	AttachInfoUpdater
}

// AttachInfoUpdate is one stale-checked update of an attach handle's metadata.
type AttachInfoUpdate struct {
	UUID               string            // of the attach handle
	Expected           HandleExpectation // what the caller saw when it decided
	AttachInfo         string            // the new bytes
	RequireUnallocated bool              // set when effective managed changes: an allocated handle refuses
}

// HandleExpectation is the state of an attach handle and its topology as the caller read it. A handle is
// allocated when InUse or Referenced.
type HandleExpectation struct {
	DeployableID   int64
	DeployableName string
	ControlpathID  int64
	CpidInfo       string // bytes
	DeviceID       int64
	Hostname       string
	AttachType     string
	AttachInfo     string // bytes
	InUse          bool
	Referenced     bool // any ARQ row names the handle
}
