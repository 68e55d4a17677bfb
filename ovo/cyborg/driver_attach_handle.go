package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DriverAttachHandle is an attach handle as a driver reports it. Its type is free text on the wire, unlike
// that of [AttachHandle]. Version 1.0.
type DriverAttachHandle struct {
	Object
	AttachType ovo.Field[string] `ovo:"attach_type"`
	AttachInfo ovo.Field[string] `ovo:"attach_info"` // JSON text; its bytes are the handle's identity for Python
	InUse      ovo.Field[bool]   `ovo:"in_use,default=False"`
}

func driverAttachHandleClass() *ovo.Class {
	return ovo.NewClass[DriverAttachHandle]("DriverAttachHandle", ovo.History{ovo.V("1.0")})
}
