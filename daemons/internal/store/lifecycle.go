package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// DeviceStateError says that a device's cleaning state does not allow what was
// asked. Nothing was written.
type DeviceStateError struct {
	UUID string
	Have reconcile.DeviceState
	Want []reconcile.DeviceState
}

// Error implements error.
func (e *DeviceStateError) Error() string {
	want := make([]string, len(e.Want))
	for i, s := range e.Want {
		want[i] = string(s)
	}
	have := string(e.Have)
	if have == "" {
		have = "without a state"
	}
	return fmt.Sprintf("device %s is %s, expected %s", e.UUID, have, strings.Join(want, " or "))
}

// BeginCleanup moves an NVMe device from pending_cleaning to cleaning. One
// that is cleaning already is accepted: its agent lost the answer, and only
// the agent of its host cleans it. attempt is the agent's name for the run, for
// the log. Errors: [*DeviceStateError], [*arq.NotFoundError].
func (s *Store) BeginCleanup(ctx context.Context, device, attempt string) error {
	return s.moveDevice(ctx, "BeginCleanup", device, attempt, reconcile.StateCleaning, reconcile.StatePendingCleaning)
}

// ReleaseCleanup moves a device back from cleaning to pending_cleaning when
// nothing destructive had begun. Errors: as [Store.BeginCleanup].
func (s *Store) ReleaseCleanup(ctx context.Context, device, attempt string) error {
	return s.moveDevice(ctx, "ReleaseCleanup", device, attempt, reconcile.StatePendingCleaning, reconcile.StateCleaning)
}

// QuarantineCleanup moves a device to error, from where only an operator takes
// it out. Its handles stay in use. Errors: as [Store.BeginCleanup].
func (s *Store) QuarantineCleanup(ctx context.Context, device, attempt string) error {
	return s.moveDevice(ctx, "QuarantineCleanup", device, attempt, reconcile.StateError,
		reconcile.StateCleaning, reconcile.StatePendingCleaning)
}

// CompleteCleanup moves a device from cleaning to available and frees its
// handles, in one transaction. The deployables stay off offer: Placement still
// has them reserved. A device that is available already, with every handle
// free, is accepted. Errors: as [Store.BeginCleanup].
func (s *Store) CompleteCleanup(ctx context.Context, device, attempt string) error {
	return s.write(ctx, "CompleteCleanup", func(t *tx) error {
		d, err := t.lockState(ctx, device)
		if err != nil {
			return err
		}
		if d.State == reconcile.StateAvailable {
			return nil
		}
		if d.State != reconcile.StateCleaning {
			return &DeviceStateError{device, d.State, []reconcile.DeviceState{reconcile.StateCleaning}}
		}
		if _, err := t.exec(ctx, "UPDATE devices SET device_state = 'available', updated_at = ? WHERE id = ?", t.now(), d.ID); err != nil {
			return err
		}
		_, err = t.exec(ctx, "UPDATE attach_handles SET in_use = FALSE, updated_at = ? WHERE deployable_id IN"+
			" (SELECT id FROM deployables WHERE device_id = ?) AND NOT EXISTS"+
			" (SELECT 1 FROM extended_accelerator_requests e WHERE e.attach_handle_id = attach_handles.id)", t.now(), d.ID)
		return err
	})
}

type deviceState struct {
	ID    int64
	State reconcile.DeviceState
}

// lockState locks an NVMe device's row and reads its state.
func (t *tx) lockState(ctx context.Context, device string) (deviceState, error) {
	var row struct {
		ID    int64   `db:"id"`
		Type  string  `db:"type"`
		State *string `db:"device_state"`
	}
	found, err := t.one(ctx, &row, "SELECT id, `type`, device_state FROM devices WHERE uuid = ?"+t.s.d.forUpdate, device)
	switch {
	case err != nil:
		return deviceState{}, err
	case !found:
		return deviceState{}, notFound("Device", "uuid", device)
	case row.Type != arq.DeviceTypeNVMe:
		return deviceState{}, fmt.Errorf("device %s is of type %s, which is never cleaned", device, row.Type)
	}
	return deviceState{row.ID, reconcile.DeviceState(value(row.State))}, nil
}

func (s *Store) moveDevice(ctx context.Context, op, device, attempt string, to reconcile.DeviceState, from ...reconcile.DeviceState) error {
	err := s.write(ctx, op, func(t *tx) error {
		d, err := t.lockState(ctx, device)
		switch {
		case err != nil:
			return err
		case d.State == to:
			return nil
		case !slices.Contains(from, d.State):
			return &DeviceStateError{device, d.State, from}
		}
		_, err = t.exec(ctx, "UPDATE devices SET device_state = ?, updated_at = ? WHERE id = ?", string(to), t.now(), d.ID)
		return err
	})
	if err == nil {
		s.log.InfoContext(ctx, "device state", "device", device, "state", string(to), "attempt", attempt)
	}
	return err
}

// Device reads one device with everything below it, and its host. A missing
// one is an [*arq.NotFoundError].
func (s *Store) Device(ctx context.Context, id string) (d reconcile.Device, host string, err error) {
	err = s.read(ctx, "Device", func(t *tx) error {
		var rows []deviceJoin
		if err := t.all(ctx, &rows, inventoryDevices+" WHERE d.uuid = ? ORDER BY c.id", id); err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound("Device", "uuid", id)
		}
		ds, err := t.fill(ctx, rows, "")
		if err == nil {
			d, host = ds[0], rows[0].Hostname
		}
		return err
	})
	return d, host, err
}
