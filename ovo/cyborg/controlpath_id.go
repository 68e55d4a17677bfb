package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// ControlpathType is the kind of a control path. Python declares its values as the bare string "PCI", so its
// check is a substring test; only PCI is ever used.
type ControlpathType string

// ControlpathPCI is the control path of a PCI function.
const ControlpathPCI ControlpathType = "PCI"

// Values is the substring form of Python's declaration.
func (ControlpathType) Values() ovo.Values { return ovo.SubstringOf("PCI") }

// ControlpathID is the persisted address through which a device is managed.
//
// Versions: 1.1 a property outside the wire.
type ControlpathID struct {
	Object
	ID       ovo.Field[int64]           `ovo:"id"`
	UUID     ovo.Field[string]          `ovo:"uuid,UUID"`
	DeviceID ovo.Field[int64]           `ovo:"device_id"`
	CpidType ovo.Field[ControlpathType] `ovo:"cpid_type"`
	CpidInfo ovo.Field[string]          `ovo:"cpid_info"` // JSON text; its bytes are the device's identity
}

func controlpathIDClass() *ovo.Class {
	return ovo.NewClass[ControlpathID]("ControlpathID", ovo.History{ovo.V("1.0"), ovo.V("1.1")})
}

func controlpathIDFromRow(r ControlpathIDRow) *ControlpathID {
	return &ControlpathID{
		Object: storedTimes(r.CreatedAt, r.UpdatedAt),
		ID:     ovo.Stored(r.ID), UUID: ovo.Stored(r.UUID), DeviceID: ovo.Stored(r.DeviceID),
		CpidType: ovo.Stored(ControlpathType(r.CpidType)), CpidInfo: ovo.Stored(r.CpidInfo),
	}
}
