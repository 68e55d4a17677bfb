package main

import (
	"context"
	"sync"

	"github.com/go-cyborg/cyborg/ovo"
)

// Store is what the bodies of the methods need.
type Store interface {
	DevicesByHostname(ctx context.Context, hostname string) ([]*Device, error)
	SetState(ctx context.Context, uuid string, state DeviceState) error
}

// UnknownDeviceError says that the store has no such device.
type UnknownDeviceError struct{ UUID string }

// Error names the device.
func (e *UnknownDeviceError) Error() string { return "no device " + e.UUID }

// row is a stored device.
type row struct {
	uuid, hostname string
	state          DeviceState
}

// memoryStore keeps devices in memory.
type memoryStore struct {
	mu   sync.Mutex
	rows []row
}

// DevicesByHostname implements [Store].
func (s *memoryStore) DevicesByHostname(_ context.Context, hostname string) ([]*Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Device
	for _, r := range s.rows {
		if r.hostname == hostname {
			list = append(list, &Device{UUID: ovo.Stored(r.uuid), Hostname: ovo.Stored(r.hostname), State: ovo.NullStored(&r.state)})
		}
	}
	return list, nil
}

// SetState implements [Store].
func (s *memoryStore) SetState(_ context.Context, uuid string, state DeviceState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if s.rows[i].uuid == uuid {
			s.rows[i].state = state
			return nil
		}
	}
	return &UnknownDeviceError{uuid}
}
