package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// DeviceProfile is a named list of resource groups that users request.
//
// Versions: 1.1 description.
type DeviceProfile struct {
	Object
	ID   ovo.Field[int64]  `ovo:"id"`
	UUID ovo.Field[string] `ovo:"uuid"` // a plain string, unlike every other uuid
	Name ovo.Field[string] `ovo:"name"`
	// Groups are flat dicts of texts and nulls (keys resources:, trait:, accel:), each an *[ovo.Dict] rather
	// than a map: the first resources key of a group decides how its requests are bound, so order counts.
	Groups      ovo.Field[[]any] `ovo:"groups"`
	Description ovo.Null[string] `ovo:"description"`
}

func deviceProfileClass() *ovo.Class {
	return ovo.NewClass[DeviceProfile]("DeviceProfile",
		ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.Adds("description"))})
}
