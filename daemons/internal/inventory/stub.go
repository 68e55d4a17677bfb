package inventory

import (
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Stub is a persisted device as it is reported when it is to stay as it is.
func Stub(d reconcile.Device) *cyborg.DriverDevice {
	return &cyborg.DriverDevice{
		Vendor: ovo.Of(d.Vendor), Model: ovo.Of(d.Model), Type: ovo.Of(cyborg.DeviceType(d.Type)),
		StdBoardInfo: ovo.NullFrom(d.StdBoardInfo), VendorBoardInfo: ovo.NullFrom(d.VendorBoardInfo),
		Stub: ovo.Of(true),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{
			CpidType: ovo.Of(d.ControlPath.Type), CpidInfo: ovo.Of(d.ControlPath.Info),
		}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{}),
	}
}
