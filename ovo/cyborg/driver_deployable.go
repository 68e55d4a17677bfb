package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DriverDeployable is a deployable as a driver reports it. Version 1.0.
type DriverDeployable struct {
	Object
	Name             ovo.Field[string]               `ovo:"name"`
	NumAccelerators  ovo.Field[int64]                `ovo:"num_accelerators"`
	AttributeList    ovo.Null[[]*DriverAttribute]    `ovo:"attribute_list,default=[]"`
	AttachHandleList ovo.Null[[]*DriverAttachHandle] `ovo:"attach_handle_list,default=[]"`
	DriverName       ovo.Null[string]                `ovo:"driver_name"`
}

func driverDeployableClass() *ovo.Class {
	return ovo.NewClass[DriverDeployable]("DriverDeployable", ovo.History{ovo.V("1.0")})
}
