package main

import (
	"context"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

// Object holds what every object of this program has. Embedded fields come last on the wire.
type Object struct {
	ovo.Base
	CreatedAt ovo.Null[time.Time] `ovo:"created_at"`
	UpdatedAt ovo.Null[time.Time] `ovo:"updated_at"`
}

// DeviceState is where a device is in its life between two users.
type DeviceState string

// The device states.
const (
	Available DeviceState = "available"
	Cleaning  DeviceState = "cleaning"
	Error     DeviceState = "error"
)

// Values lists the device states.
func (DeviceState) Values() ovo.Values { return ovo.OneOf(Available, Cleaning, Error) }

// Device is an accelerator of one compute host.
//
// Versions: 1.0 complete_cleaning.
type Device struct {
	Object
	UUID     ovo.Field[string]     `ovo:"uuid,UUID"`
	Hostname ovo.Field[string]     `ovo:"hostname"`
	State    ovo.Null[DeviceState] `ovo:"state"`
}

// Devices are the remotable methods of [Device].
type Devices struct {
	// CompleteCleaning records the outcome of a cleaning in the device and in the store, and says whether the state moved.
	CompleteCleaning func(ctx context.Context, d *Device, outcome DeviceState) (bool, error) `ovo:"complete_cleaning(self, outcome)"`
}

func localDevices(db Store) Devices {
	return Devices{CompleteCleaning: func(ctx context.Context, d *Device, outcome DeviceState) (bool, error) {
		moved := d.State.Value() != outcome
		d.State.Set(outcome)
		return moved, db.SetState(ctx, d.UUID.Value(), outcome)
	}}
}

func deviceClass() *ovo.Class {
	return ovo.NewClass[Device]("Device", ovo.History{ovo.V("1.0")}, ovo.Methods[Devices]())
}
