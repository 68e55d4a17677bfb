package main

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// DeviceList is the devices of one look-up.
//
// Versions: 1.0 get_by_hostname, members Device 1.0.
type DeviceList struct {
	ovo.List[Device]
	Object
}

// DeviceLists are the remotable methods of [DeviceList].
type DeviceLists struct {
	// GetByHostname returns the devices of one compute host, none if it is unknown.
	GetByHostname func(ctx context.Context, hostname string) (*DeviceList, error) `ovo:"get_by_hostname(cls, context, hostname)"`
}

func localDeviceLists(db Store) DeviceLists {
	return DeviceLists{GetByHostname: func(ctx context.Context, hostname string) (*DeviceList, error) {
		devices, err := db.DevicesByHostname(ctx, hostname)
		if err != nil {
			return nil, err
		}
		return ovo.ListOf[DeviceList](devices), nil
	}}
}

func deviceListClass() *ovo.Class {
	return ovo.NewClass[DeviceList]("DeviceList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.0"))}, ovo.Methods[DeviceLists]())
}
