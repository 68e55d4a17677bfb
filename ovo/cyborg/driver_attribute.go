package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DriverAttribute is an attribute of a reported deployable: "rc" its resource class, "trait*" its traits.
// Version 1.0.
type DriverAttribute struct {
	Object
	Key   ovo.Field[string] `ovo:"key"`
	Value ovo.Field[string] `ovo:"value"`
}

func driverAttributeClass() *ovo.Class {
	return ovo.NewClass[DriverAttribute]("DriverAttribute", ovo.History{ovo.V("1.0")})
}
