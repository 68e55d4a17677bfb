package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DriverControlPathID is the control path of a reported device. Version 1.0.
type DriverControlPathID struct {
	Object
	CpidType ovo.Field[string] `ovo:"cpid_type"`
	CpidInfo ovo.Field[string] `ovo:"cpid_info"` // JSON text; its bytes are the device's identity
}

func driverControlPathIDClass() *ovo.Class {
	return ovo.NewClass[DriverControlPathID]("DriverControlPathID", ovo.History{ovo.V("1.0")})
}
