package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// Attribute is one persisted key and value of a deployable: "rc" is its resource class, keys that start with
// "trait" are its traits. Version 1.0.
type Attribute struct {
	Object
	ID           ovo.Field[int64]  `ovo:"id"`
	UUID         ovo.Field[string] `ovo:"uuid,UUID"`
	DeployableID ovo.Field[int64]  `ovo:"deployable_id"`
	Key          ovo.Field[string] `ovo:"key"`
	Value        ovo.Field[string] `ovo:"value"`
}

func attributeClass() *ovo.Class {
	return ovo.NewClass[Attribute]("Attribute", ovo.History{ovo.V("1.0")})
}
