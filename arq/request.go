package arq

import "time"

// Request is one accelerator request as stored, with what its row refers to.
// An empty string or zero number stands for NULL.
type Request struct {
	ID    int64
	UUID  string
	State State

	Hostname     string // compute node; set by the bind
	DeviceRPUUID string // resource provider the scheduler chose
	InstanceUUID string
	ProjectID    string // owner; kept by an unbind

	ProfileID   int64
	ProfileName string
	GroupID     int   // index of the profile's group
	Group       Group // that group as the profile holds it now; nil when the profile has fewer

	DeployableID   int64
	DeployableUUID string
	Device         Device  // of the handle's deployable; zero without a handle
	Handle         *Handle // the attach handle that the row owns, whatever the state; nil without

	CreatedAt, UpdatedAt time.Time // UTC; zero is NULL
}

// Handle is the attach handle that a request owns.
type Handle struct {
	ID   int64
	UUID string
	Type HandleType
	Info HandleInfo
}

// Device is what the life cycle of a request needs to know of the device
// behind its handle.
type Device struct {
	ID    int64
	UUID  string
	Type  string // NVME, GPU, ...
	State string // device_state; "" is NULL
}

// DeviceTypeNVMe is the device type whose handles are cleaned before reuse.
const DeviceTypeNVMe = "NVME"

// HandleType is the attach_type of an attach handle.
type HandleType string

// The attach types of Cyborg.
const (
	HandlePCI     HandleType = "PCI"
	HandleMDEV    HandleType = "MDEV"
	HandleTestPCI HandleType = "TEST_PCI"
)

// HandleTypes lists the attach types.
func HandleTypes() []HandleType { return []HandleType{HandlePCI, HandleMDEV, HandleTestPCI} }

// Valid reports whether t is one of [HandleTypes].
func (t HandleType) Valid() bool {
	return t == HandlePCI || t == HandleMDEV || t == HandleTestPCI
}

// New describes a request to create. It starts in [Initial].
type New struct {
	UUID        string // empty: the store makes one
	ProfileID   int64  // 0: found by ProfileName
	ProfileName string
	GroupID     int
	ProjectID   string
}

// Bind says to whom and where a request is bound.
type Bind struct {
	UUID         string // of the request
	Hostname     string
	DeviceRPUUID string
	InstanceUUID string
	ProjectID    string  // stored as given
	Program      Program // what the profile's group wants loaded; the zero value asks for nothing
	// Refused records the request as BindFailed once the deployable is found, without taking a handle: its profile
	// asks for something that cannot be.
	Refused bool
}

// Outcome is how the outside step of a bind ended.
type Outcome struct {
	Event Event // EventStepDone, EventStepFailed or EventStepTimedOut
	// BitstreamID is the image that was programmed; it becomes the
	// deployable's bitstream_id. Empty: unchanged.
	BitstreamID string
}

// KeepsHandle reports whether a request that ended so still owns its handle.
func (o Outcome) KeepsHandle() bool { return o.Event != EventStepFailed }

// Leave is the way a request gives up its handle.
type Leave string

// The two ways to leave.
const (
	LeaveUnbind Leave = "unbind"
	LeaveDelete Leave = "delete"
)

// Event is the life-cycle event of l.
func (l Leave) Event() Event {
	if l == LeaveDelete {
		return EventDelete
	}
	return EventUnbind
}

// Released is what a store did with the handle of a request that left.
type Released struct {
	Before     Request    // as it was
	After      Request    // as it is now; for LeaveDelete the last state of the gone row
	Settlement Settlement // what became of the handle
}

// NotFoundError says that something a request needs is missing. Its text is
// that of Cyborg's ResourceNotFound.
type NotFoundError struct {
	Resource string // "ExtArq", "Deployable", "AttachHandle", "Device Profile"
	Msg      string // "with uuid=...", "Matching deployable_id 3"
}

func (e *NotFoundError) Error() string { return e.Resource + " not found " + e.Msg }
