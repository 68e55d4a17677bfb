package pci

import (
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci"
)

// device is a report as the object tree that travels: device_state and the times stay unset, as in Python.
func device(r pci.Report) *cyborg.DriverDevice {
	attributes := make([]*cyborg.DriverAttribute, len(r.Attributes))
	for i, a := range r.Attributes {
		attributes[i] = &cyborg.DriverAttribute{Key: ovo.Of(a.Key), Value: ovo.Of(a.Value)}
	}
	return &cyborg.DriverDevice{
		Vendor: ovo.Of(r.Vendor), Model: ovo.Of(r.Model), Type: ovo.Of(cyborg.DeviceType(pci.DeviceType)),
		StdBoardInfo: ovo.NullOf(r.StdBoardInfo), VendorBoardInfo: ovo.NullOf(r.VendorBoardInfo),
		Stub: ovo.Of(false),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{
			CpidType: ovo.Of(pci.HandleType), CpidInfo: ovo.Of(r.CPIDInfo),
		}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name: ovo.Of(r.DeployableName), NumAccelerators: ovo.Of[int64](1), DriverName: ovo.NullOf(r.DriverName),
			AttributeList: ovo.NullOf(attributes),
			AttachHandleList: ovo.NullOf([]*cyborg.DriverAttachHandle{{
				AttachType: ovo.Of(pci.HandleType), AttachInfo: ovo.Of(r.AttachInfo), InUse: ovo.Of(false),
			}}),
		}}),
	}
}
