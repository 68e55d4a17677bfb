package store

import (
	"context"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// StuckBinds returns the requests that have been BindStarted since before a
// time: whoever ran their outside step is gone.
func (s *Store) StuckBinds(ctx context.Context, before time.Time) ([]arq.Request, error) {
	return s.requestsWhere(ctx, "StuckBinds", "e.state = 'BindStarted' AND e.updated_at < ?", s.d.time(before))
}

// Unnotified returns the requests that were resolved since a time: Nova may
// not have been told.
func (s *Store) Unnotified(ctx context.Context, since time.Time) ([]arq.Request, error) {
	return s.requestsWhere(ctx, "Unnotified",
		"e.state IN ('Bound', 'BindFailed') AND e.instance_uuid IS NOT NULL AND e.updated_at >= ?", s.d.time(since))
}

func (s *Store) requestsWhere(ctx context.Context, op, where string, args ...any) (out []arq.Request, err error) {
	err = s.read(ctx, op, func(t *tx) error {
		out, err = t.requests(ctx, where, args...)
		return err
	})
	return out, err
}

// OwedCleanup is an NVMe device that waits for its erasure.
type OwedCleanup struct {
	UUID  string                `db:"uuid"`
	Host  string                `db:"hostname"`
	State reconcile.DeviceState `db:"device_state"`
}

// ownerless is the condition that no request names a handle of device d.
const ownerless = "NOT EXISTS (SELECT 1 FROM deployables p JOIN attach_handles h ON h.deployable_id = p.id" +
	" JOIN extended_accelerator_requests e ON e.attach_handle_id = h.id WHERE p.device_id = d.id)"

// OwedCleanups returns the NVMe devices in pending_cleaning, and those that
// have been allocated since before a time although no request names a handle
// of them: a Python service deleted the request. The latter are to be given
// to [Store.OweCleanup].
func (s *Store) OwedCleanups(ctx context.Context, before time.Time) (out []OwedCleanup, err error) {
	err = s.read(ctx, "OwedCleanups", func(t *tx) error {
		out = nil
		return t.all(ctx, &out, "SELECT d.uuid, d.hostname, d.device_state FROM devices d WHERE d.`type` = 'NVME'"+
			" AND (d.device_state = 'pending_cleaning' OR d.device_state = 'allocated' AND (d.updated_at IS NULL OR d.updated_at < ?)"+
			" AND "+ownerless+") ORDER BY d.id", s.d.time(before))
	})
	return out, err
}

// OweCleanup marks an allocated NVMe device that no request names as owing its
// erasure: pending_cleaning, handles in use, off offer. It reports whether it
// was one.
func (s *Store) OweCleanup(ctx context.Context, device string) (owed bool, err error) {
	err = s.write(ctx, "OweCleanup", func(t *tx) error {
		owed = false
		d, err := t.lockState(ctx, device)
		if err != nil || d.State != reconcile.StateAllocated {
			return err
		}
		var n int
		found, err := t.one(ctx, &n, "SELECT 1 FROM devices d WHERE d.id = ? AND "+ownerless, d.ID)
		if err != nil || !found {
			return err
		}
		owed = true
		return t.oweCleanup(ctx, d.ID)
	})
	return owed, err
}

// LeakedHandle is a handle that is in use although no request names it.
type LeakedHandle struct {
	UUID       string `db:"uuid"`
	Host       string `db:"hostname"`
	Deployable string `db:"name"` // its provider's name
}

// LeakedHandles returns the handles of other than NVMe devices that have been
// in use since before a time without a request that names them. A Python
// service leaves them behind when it dies between its two writes.
func (s *Store) LeakedHandles(ctx context.Context, before time.Time) (out []LeakedHandle, err error) {
	err = s.read(ctx, "LeakedHandles", func(t *tx) error {
		out = nil
		return t.all(ctx, &out, "SELECT h.uuid, d.hostname, p.name FROM attach_handles h JOIN deployables p ON p.id = h.deployable_id"+
			" JOIN devices d ON d.id = p.device_id WHERE d.`type` <> 'NVME' AND "+leaked+" ORDER BY h.id", s.d.time(before))
	})
	return out, err
}

const leaked = "h.in_use = TRUE AND COALESCE(h.updated_at, h.created_at) < ? AND NOT EXISTS" +
	" (SELECT 1 FROM extended_accelerator_requests e WHERE e.attach_handle_id = h.id)"

// FreeLeakedHandle frees a handle that [Store.LeakedHandles] returned, if it
// still is one, and reports whether it was.
func (s *Store) FreeLeakedHandle(ctx context.Context, handle string, before time.Time) (freed bool, err error) {
	err = s.write(ctx, "FreeLeakedHandle", func(t *tx) error {
		freed = false
		var id int64
		found, err := t.one(ctx, &id, "SELECT h.id FROM attach_handles h WHERE h.uuid = ?"+s.d.forUpdate, handle)
		if err != nil || !found {
			return err
		}
		found, err = t.one(ctx, &id, "SELECT h.id FROM attach_handles h WHERE h.id = ? AND "+leaked, id, s.d.time(before))
		if err != nil || !found {
			return err
		}
		freed = true
		_, err = t.exec(ctx, "UPDATE attach_handles SET in_use = FALSE, updated_at = ? WHERE id = ?", t.now(), id)
		return err
	})
	return freed, err
}
