package reconcile

import (
	"time"

	"github.com/go-cyborg/cyborg/arq"
)

// Inventory is what one host has. In a stored inventory ids, allocation and
// offer are known; in a reported one they are zero.
type Inventory struct {
	Host    string
	Devices []Device
}

// Device is one device with its control path and deployables.
type Device struct {
	ID            int64
	UUID          string
	Type          string
	Vendor, Model string
	// StdBoardInfo and VendorBoardInfo are JSON or free text; nil is NULL.
	StdBoardInfo, VendorBoardInfo *string
	Status                        string      // enabled or maintaining; only the stored side
	State                         DeviceState // StateUnset is NULL, or "not reported"
	ControlPath                   ControlPath
	Deployables                   []Deployable
	// Stub marks a reported device that must stay as it is stored.
	Stub bool
}

// ControlPath says how Cyborg reaches a device; Info is its identity on the
// host. Info keeps the bytes as stored or reported.
type ControlPath struct {
	ID   int64
	UUID string
	Type string
	Info string
}

// Deployable is a resource of a device that Placement offers as one provider.
type Deployable struct {
	ID              int64
	UUID, Name      string
	NumAccelerators int
	// DriverName and BitstreamID are NULL when nil.
	DriverName, BitstreamID *string
	// Offer is rp_uuid. Empty is NULL: not on offer, so no bind can find it.
	Offer string
	// UpdatedAt is the row's updated_at as read, the version that a claim is
	// checked against; zero is NULL.
	UpdatedAt  time.Time
	Attributes []Attribute
	Handles    []Handle
}

// Attribute is a key and a value; of a repeated key the first counts.
type Attribute struct {
	ID         int64
	UUID       string
	Key, Value string
}

// Handle is an attach handle. Info keeps the bytes as stored or reported.
type Handle struct {
	ID    int64
	UUID  string
	Type  arq.HandleType
	Info  string
	InUse bool
	ARQs  []string // uuids of the requests that refer to it, in any state
}

// Held reports whether somebody has the handle: both windows of a Python peer,
// which sets in_use and the request's reference in two transactions, count.
func (h Handle) Held() bool { return h.InUse || len(h.ARQs) > 0 }

// DeviceState is the cleaning state of a device.
type DeviceState string

// The states of a device, in the spelling of the database enum.
const (
	StateUnset           DeviceState = ""
	StateAvailable       DeviceState = "available"
	StateAllocated       DeviceState = "allocated"
	StatePendingCleaning DeviceState = "pending_cleaning"
	StateCleaning        DeviceState = "cleaning"
	StateError           DeviceState = "error"
)

// Status values of a device.
const (
	StatusEnabled     = "enabled"
	StatusMaintaining = "maintaining"
)

// Held reports whether any handle of the device is held, or the device is
// NVMe and not available.
func (d *Device) Held() bool {
	if d.Type == arq.DeviceTypeNVMe && d.State != StateAvailable {
		return true
	}
	for i := range d.Deployables {
		if d.Deployables[i].Held() {
			return true
		}
	}
	return false
}

// Held reports whether any handle of the deployable is held.
func (p *Deployable) Held() bool {
	for i := range p.Handles {
		if p.Handles[i].Held() {
			return true
		}
	}
	return false
}
