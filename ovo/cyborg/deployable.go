package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// Deployable is a persisted resource that can be assigned from a device; it is one resource provider.
//
// Versions: 1.1 rp_uuid, driver_name, bitstream_id (kept for peers at 1.0: Python has no rule).
type Deployable struct {
	Object
	ID              ovo.Field[int64]  `ovo:"id"`
	UUID            ovo.Field[string] `ovo:"uuid,UUID"`
	ParentID        ovo.Null[int64]   `ovo:"parent_id"`
	RootID          ovo.Null[int64]   `ovo:"root_id"`
	Name            ovo.Field[string] `ovo:"name"` // of the resource provider; its identity within the device
	NumAccelerators ovo.Field[int64]  `ovo:"num_accelerators"`
	DeviceID        ovo.Field[int64]  `ovo:"device_id"`
	DriverName      ovo.Null[string]  `ovo:"driver_name"`
	RPUUID          ovo.Null[string]  `ovo:"rp_uuid,UUID"` // null: not on offer
	BitstreamID     ovo.Null[string]  `ovo:"bitstream_id,UUID"`
}

func deployableClass() *ovo.Class {
	return ovo.NewClass[Deployable]("Deployable", ovo.History{ovo.V("1.0"), ovo.V("1.1")})
}

func deployableFromRow(r DeployableRow) *Deployable {
	return &Deployable{
		Object: storedTimes(r.CreatedAt, r.UpdatedAt),
		ID:     ovo.Stored(r.ID), UUID: ovo.Stored(r.UUID),
		ParentID: ovo.NullStored(r.ParentID), RootID: ovo.NullStored(r.RootID),
		Name: ovo.Stored(r.Name), NumAccelerators: ovo.Stored(r.NumAccelerators), DeviceID: ovo.Stored(r.DeviceID),
		DriverName: ovo.NullStored(r.DriverName), RPUUID: ovo.NullStored(r.RPUUID),
		BitstreamID: ovo.NullStored(r.BitstreamID),
	}
}
