package store

import (
	"context"
	"errors"
	"time"

	"github.com/go-cyborg/cyborg/arq"
)

// Finish ends the outside step of a bind. The request must be BindStarted:
// anything else is an [*arq.BadStateError]. A step that failed gives the
// handle back; one that timed out leaves it with the request until it is
// unbound. An NVMe device goes on offer again when the request is Bound and
// nobody has claimed its deployable since [Store.Begin]; the next report does
// it otherwise.
func (s *Store) Finish(ctx context.Context, id string, o arq.Outcome) (arq.Request, error) {
	var q arq.Request
	err := s.write(ctx, "Finish", func(t *tx) error {
		var err error
		if q, err = t.lockOwner(ctx, id); err != nil {
			return err
		}
		next, err := q.State.Next(o.Event)
		if err != nil {
			if after, _ := arq.BindStarted.Next(o.Event); t.again && q.State == after {
				return nil
			}
			return badState(q, o.Event)
		}
		claimed := q.UpdatedAt
		q.State = next
		if o.BitstreamID != "" && q.DeployableID != 0 {
			if _, err := t.exec(ctx, "UPDATE deployables SET bitstream_id = ? WHERE id = ?", o.BitstreamID, q.DeployableID); err != nil {
				return err
			}
		}
		if next == arq.Bound && q.Device.Type == arq.DeviceTypeNVMe {
			if _, err := t.exec(ctx, "UPDATE deployables SET rp_uuid = ? WHERE id = ? AND rp_uuid IS NULL AND updated_at = ?",
				q.DeviceRPUUID, q.DeployableID, s.d.time(claimed)); err != nil {
				return err
			}
		}
		if !o.KeepsHandle() {
			if err := t.free(ctx, &q); err != nil {
				return err
			}
			q.Handle, q.DeployableID, q.DeployableUUID, q.Device = nil, 0, "", arq.Device{}
		}
		return t.saveRequest(ctx, &q, s.later(claimed))
	})
	if err != nil {
		return arq.Request{}, err
	}
	return q, nil
}

// StartProgramming notes that the FPGA of a started bind is about to be
// programmed. Until [Store.Finish] names the image nobody knows what the
// deployable carries, so its bitstream_id goes and a later bind programs it
// again. A request that is not BindStarted is an [*arq.BadStateError].
func (s *Store) StartProgramming(ctx context.Context, id string) error {
	return s.write(ctx, "StartProgramming", func(t *tx) error {
		q, err := t.lockOwner(ctx, id)
		if err != nil {
			return err
		}
		if q.State != arq.BindStarted {
			return badState(q, arq.EventStepDone)
		}
		_, err = t.exec(ctx, "UPDATE deployables SET bitstream_id = NULL WHERE id = ?", q.DeployableID)
		return err
	})
}

// Release takes the handle from a request and unbinds or deletes it, in one
// transaction. What becomes of the handle is [arq.Settle]'s decision: free, or
// kept in use without an owner until its NVMe device has been erased.
func (s *Store) Release(ctx context.Context, id string, how arq.Leave) (arq.Released, error) {
	var out arq.Released
	err := s.write(ctx, "Release", func(t *tx) error {
		q, err := t.lockOwner(ctx, id)
		if err != nil {
			if missing := new(arq.NotFoundError); how == arq.LeaveDelete && t.again && errors.As(err, &missing) {
				return nil // an attempt whose COMMIT was not answered deleted it
			}
			return err
		}
		out = arq.Released{Before: q, Settlement: arq.SettleNothing}
		if q.Handle != nil {
			if out.Settlement, err = t.settle(ctx, &q); err != nil {
				return err
			}
		}
		q.State, _ = q.State.Next(how.Event())
		q.Hostname, q.DeviceRPUUID, q.InstanceUUID = "", "", ""
		q.Handle, q.DeployableID, q.DeployableUUID, q.Device = nil, 0, "", arq.Device{}
		if how == arq.LeaveDelete {
			out.After = out.Before
			_, err = t.exec(ctx, "DELETE FROM extended_accelerator_requests WHERE id = ?", q.ID)
			return err
		}
		err = t.saveRequest(ctx, &q, s.later(q.UpdatedAt))
		out.After = q
		return err
	})
	if err != nil {
		return arq.Released{}, err
	}
	return out, nil
}

// settle frees the handle of a request that leaves, or keeps it for cleaning.
func (t *tx) settle(ctx context.Context, q *arq.Request) (arq.Settlement, error) {
	if q.Device.Type == arq.DeviceTypeNVMe {
		// device_state decides, so it is read again under the row's lock.
		var state *string
		if _, err := t.one(ctx, &state, "SELECT device_state FROM devices WHERE id = ?"+t.s.d.forUpdate, q.Device.ID); err != nil {
			return "", err
		}
		q.Device.State = value(state)
	}
	how := arq.Settle(q.Device.Type, q.State, q.Device.State)
	if how == arq.SettleFree {
		return how, t.free(ctx, q)
	}
	return how, t.oweCleanup(ctx, q.Device.ID)
}

// free gives a request's handle back, unless another request names it too: the
// peer can make such rows, and the other guest may be running. An NVMe device
// that was allocated for the request is available again, and off offer until
// the next report: a report meanwhile may have offered it with all of its
// inventory reserved, and would take that for done.
func (t *tx) free(ctx context.Context, q *arq.Request) error {
	if q.Handle == nil {
		return nil
	}
	if q.Device.Type == arq.DeviceTypeNVMe {
		n, err := t.exec(ctx, "UPDATE devices SET device_state = 'available', updated_at = ? WHERE id = ? AND device_state = 'allocated'",
			t.now(), q.Device.ID)
		if err == nil && n > 0 {
			err = t.withdrawDevice(ctx, q.Device.ID)
		}
		if err != nil {
			return err
		}
	}
	_, err := t.exec(ctx, "UPDATE attach_handles SET in_use = FALSE, updated_at = ? WHERE id = ? AND NOT EXISTS"+
		" (SELECT 1 FROM extended_accelerator_requests e WHERE e.attach_handle_id = attach_handles.id AND e.id <> ?)",
		t.now(), q.Handle.ID, q.ID)
	return err
}

// oweCleanup marks a device as owing its erasure: three locks at once, state,
// handles in use, and nothing on offer. A device that is on its way already
// keeps its state.
func (t *tx) oweCleanup(ctx context.Context, device int64) error {
	if _, err := t.exec(ctx, "UPDATE devices SET device_state = 'pending_cleaning', updated_at = ? WHERE id = ?"+
		" AND (device_state IS NULL OR device_state IN ('available', 'allocated'))", t.now(), device); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "UPDATE attach_handles SET in_use = TRUE, updated_at = ? WHERE deployable_id IN"+
		" (SELECT id FROM deployables WHERE device_id = ?)", t.now(), device); err != nil {
		return err
	}
	return t.withdrawDevice(ctx, device)
}

// withdrawDevice takes every deployable of a device off offer and moves their
// versions, so that no claim on them survives.
func (t *tx) withdrawDevice(ctx context.Context, device int64) error {
	var versions []struct {
		ID        int64      `db:"id"`
		UpdatedAt *time.Time `db:"updated_at"`
	}
	if err := t.all(ctx, &versions, "SELECT id, updated_at FROM deployables WHERE device_id = ? ORDER BY id"+t.s.d.forUpdate, device); err != nil {
		return err
	}
	for _, v := range versions {
		if _, err := t.exec(ctx, "UPDATE deployables SET rp_uuid = NULL, updated_at = ? WHERE id = ?",
			t.s.d.time(t.s.later(utc(v.UpdatedAt))), v.ID); err != nil {
			return err
		}
	}
	return nil
}
