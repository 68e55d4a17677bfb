package cyborg

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// DeviceList is the devices of one lookup.
//
// Versions: 1.0 get_by_hostname, members Device 1.5.
type DeviceList struct {
	ovo.List[Device]
	Object
}

// DeviceLists are the remotable methods of [DeviceList].
type DeviceLists struct {
	// GetByHostname returns the devices of one compute host, none if it is unknown. Reads only.
	GetByHostname func(ctx context.Context, hostname string) (*DeviceList, error) `ovo:"get_by_hostname(cls, context, hostname)"`
}

func localDeviceLists(db DeviceReader) DeviceLists {
	return DeviceLists{GetByHostname: func(ctx context.Context, hostname string) (*DeviceList, error) {
		rows, err := db.DevicesByHostname(ctx, hostname)
		if err != nil {
			return nil, err
		}
		return ovo.ListOf[DeviceList](fromRows(rows, deviceFromRow)), nil
	}}
}

// deviceListClass ties member versions to the list by Part, not by Members: a caller's manifest then decides
// (Python: child_versions would win over it), and Part serves a conversion without one.
func deviceListClass() *ovo.Class {
	return ovo.NewClass[DeviceList](NameDeviceList,
		ovo.History{ovo.V("1.0", ovo.Part("objects", "1.5"))}, ovo.Methods[DeviceLists]())
}

func fromRows[R, O any](rows []R, one func(R) *O) []*O {
	objects := make([]*O, len(rows))
	for i, r := range rows {
		objects[i] = one(r)
	}
	return objects
}
