package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DeviceType is the kind of an accelerator.
type DeviceType string

// The device types of Cyborg 17.0.0.
const (
	GPU    DeviceType = "GPU"
	FPGA   DeviceType = "FPGA"
	AICHIP DeviceType = "AICHIP"
	QAT    DeviceType = "QAT"
	NIC    DeviceType = "NIC"
	SSD    DeviceType = "SSD"
	MDEV   DeviceType = "MDEV"
	PCI    DeviceType = "PCI"
	NVME   DeviceType = "NVME"
)

// Values lists the device types in the order of Python's enum.
func (DeviceType) Values() ovo.Values {
	return ovo.OneOf(GPU, FPGA, AICHIP, QAT, NIC, SSD, MDEV, PCI, NVME)
}

// DeviceStatus is the operator's switch of a device.
type DeviceStatus string

// The device statuses.
const (
	Enabled     DeviceStatus = "enabled"
	Maintaining DeviceStatus = "maintaining" // inventory reserved in full, no new binds
)

// Values lists the device statuses.
func (DeviceStatus) Values() ovo.Values { return ovo.OneOf(Enabled, Maintaining) }

// DeviceState is the life cycle of a device that is cleaned between users.
type DeviceState string

// The device states.
const (
	Available       DeviceState = "available"
	Allocated       DeviceState = "allocated"
	PendingCleaning DeviceState = "pending_cleaning"
	Cleaning        DeviceState = "cleaning"
	Error           DeviceState = "error"
)

// Values lists the device states.
func (DeviceState) Values() ovo.Values {
	return ovo.OneOf(Available, Allocated, PendingCleaning, Cleaning, Error)
}

// Device is a persisted accelerator of one compute host.
//
// Versions: 1.1 type AICHIP; 1.2 status; 1.3 types MDEV and PCI; 1.4 type NVME; 1.5 device_state. (Types QAT,
// NIC and SSD were added without a version and pass through to any peer.)
type Device struct {
	Object
	ID              ovo.Field[int64]        `ovo:"id"`
	UUID            ovo.Field[string]       `ovo:"uuid,UUID"`
	Type            ovo.Field[DeviceType]   `ovo:"type"`
	Vendor          ovo.Field[string]       `ovo:"vendor"` // PCI vendor id as the driver found it
	Model           ovo.Field[string]       `ovo:"model"`
	StdBoardInfo    ovo.Null[string]        `ovo:"std_board_info"`    // JSON text
	VendorBoardInfo ovo.Null[string]        `ovo:"vendor_board_info"` // JSON text or free text
	Hostname        ovo.Field[string]       `ovo:"hostname"`          // resource provider name of the host
	Status          ovo.Field[DeviceStatus] `ovo:"status,default=enabled"`
	DeviceState     ovo.Null[DeviceState]   `ovo:"device_state"`
}

// SupportsCleaning says whether the device is cleaned between users.
func (d *Device) SupportsCleaning() bool { return d.Type.Value() == NVME }

func deviceHistory() ovo.History {
	return ovo.History{
		ovo.V("1.0"),
		ovo.V("1.1", ovo.AddsValue("type", AICHIP)),
		ovo.V("1.2", ovo.Adds("status")),
		ovo.V("1.3", ovo.AddsValue("type", MDEV, PCI)),
		ovo.V("1.4", ovo.AddsValue("type", NVME)),
		ovo.V("1.5", ovo.Adds("device_state")),
	}
}

func deviceClass() *ovo.Class { return ovo.NewClass[Device]("Device", deviceHistory()) }

func deviceFromRow(r DeviceRow) *Device {
	return &Device{
		Object: storedTimes(r.CreatedAt, r.UpdatedAt),
		ID:     ovo.Stored(r.ID), UUID: ovo.Stored(r.UUID), Type: ovo.Stored(DeviceType(r.Type)),
		Vendor: ovo.Stored(r.Vendor), Model: ovo.Stored(r.Model),
		StdBoardInfo: ovo.NullStored(r.StdBoardInfo), VendorBoardInfo: ovo.NullStored(r.VendorBoardInfo),
		Hostname: ovo.Stored(r.Hostname), Status: ovo.Stored(DeviceStatus(r.Status)),
		DeviceState: ovo.NullStored((*DeviceState)(r.DeviceState)),
	}
}
