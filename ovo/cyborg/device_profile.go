package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DeviceProfile is a named list of resource groups that users request.
//
// Versions: 1.1 description.
type DeviceProfile struct {
	Object
	ID          ovo.Field[int64]                `ovo:"id"`
	UUID        ovo.Field[string]               `ovo:"uuid"` // a plain string, unlike every other uuid
	Name        ovo.Field[string]               `ovo:"name"`
	Groups      ovo.Field[[]map[string]*string] `ovo:"groups"` // each a flat dict; keys resources:, trait:, accel:
	Description ovo.Null[string]                `ovo:"description"`
}

func deviceProfileClass() *ovo.Class {
	return ovo.NewClass[DeviceProfile]("DeviceProfile",
		ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Adds("description"))})
}
