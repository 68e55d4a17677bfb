package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DriverDevice is a device as a driver reports it: a tree that report_data carries and nothing stores.
//
// Versions: 1.1 type AICHIP; 1.2 types MDEV and PCI; 1.3 type NVME; 1.4 device_state. As in Cyborg it declares
// no child versions: converting it to an older version needs a manifest.
type DriverDevice struct {
	Object
	Vendor          ovo.Field[string]               `ovo:"vendor"`
	Model           ovo.Field[string]               `ovo:"model"`
	Type            ovo.Field[DeviceType]           `ovo:"type,Enum,plain"`
	StdBoardInfo    ovo.Null[string]                `ovo:"std_board_info"`
	VendorBoardInfo ovo.Null[string]                `ovo:"vendor_board_info"`
	ControlpathID   ovo.Field[*DriverControlPathID] `ovo:"controlpath_id"`
	DeployableList  ovo.Field[[]*DriverDeployable]  `ovo:"deployable_list,default=[]"`
	Stub            ovo.Field[bool]                 `ovo:"stub,default=False"` // true freezes what is stored of the device
	DeviceState     ovo.Null[DeviceState]           `ovo:"device_state"`
}

func driverDeviceClass() *ovo.Class {
	return ovo.NewClass[DriverDevice]("DriverDevice", ovo.History{
		ovo.V("1.0"),
		ovo.V("1.1", ovo.AddsValue("type", AICHIP)),
		ovo.V("1.2", ovo.AddsValue("type", MDEV, PCI)),
		ovo.V("1.3", ovo.AddsValue("type", NVME)),
		ovo.V("1.4", ovo.Adds("device_state")),
	})
}
