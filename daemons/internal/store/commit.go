package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/reconcile"
)

// Commit writes the row steps of one device and returns the device as it is
// then. The device's row is locked first and its handles with it, everything
// below is read again, and [reconcile.DevicePlan.Check] decides on what was
// read: [reconcile.ErrStale] or [reconcile.ErrHeld]. A refused value is a
// [*reconcile.FieldError].
func (s *Store) Commit(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
	if p.Have == nil {
		return reconcile.Device{}, fmt.Errorf("commit: the plan has no stored device")
	}
	var after reconcile.Device
	err := s.write(ctx, "Commit", func(t *tx) error {
		now, err := t.lockDevice(ctx, p.Have.ID)
		if err != nil {
			return err
		}
		if err := p.Check(now); err != nil {
			return err
		}
		// The device row is written in any case: Galera finds two conflicting
		// transactions only by the rows that both of them wrote.
		if _, err := t.exec(ctx, "UPDATE devices SET updated_at = ? WHERE id = ?", t.now(), now.ID); err != nil {
			return err
		}
		for _, step := range p.Steps {
			if err := t.step(ctx, now, step); err != nil {
				return err
			}
		}
		if err := t.touch(ctx, now, p.Touched()); err != nil {
			return err
		}
		read, err := t.device(ctx, now.ID, "")
		if err == nil {
			after = *read
		}
		return err
	})
	return after, refusal(err)
}

// Remove deletes a whole device. [reconcile.ErrHeld]: a guest holds it, or an
// ARQ row refers to it; [reconcile.ErrStale]: it is not what d says.
func (s *Store) Remove(ctx context.Context, d *reconcile.Device) error {
	plan := reconcile.DevicePlan{Have: d, Steps: []reconcile.Step{reconcile.DeleteDevice{}}}
	err := s.write(ctx, "Remove", func(t *tx) error {
		now, err := t.lockDevice(ctx, d.ID)
		if err != nil {
			return err
		}
		if err := plan.Check(now); err != nil {
			return err
		}
		for i := range now.Deployables {
			if err := t.deleteDeployable(ctx, now.Deployables[i].ID); err != nil {
				return err
			}
		}
		if _, err := t.exec(ctx, "DELETE FROM controlpath_ids WHERE device_id = ?", now.ID); err != nil {
			return err
		}
		_, err = t.exec(ctx, "DELETE FROM devices WHERE id = ?", now.ID)
		return err
	})
	return refusal(err)
}

// refusal gives the engine's errors the meaning the report needs.
func refusal(err error) error {
	var named *reconcile.FieldError
	switch {
	case errors.As(err, &named):
		return named
	case isKind(err, Referenced):
		return reconcile.ErrHeld
	case isKind(err, Duplicate):
		return reconcile.ErrDuplicate
	case isKind(err, Invalid):
		return &reconcile.FieldError{Err: err}
	}
	return err
}

// lockDevice locks a device's row and then its handles, and reads the device.
// A device that is gone is [reconcile.ErrStale].
func (t *tx) lockDevice(ctx context.Context, id int64) (*reconcile.Device, error) {
	if t.s.d.forUpdate != "" {
		var locked int64
		found, err := t.one(ctx, &locked, "SELECT id FROM devices WHERE id = ?"+t.s.d.forUpdate, id)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, reconcile.ErrStale
		}
	}
	return t.device(ctx, id, t.s.d.forUpdate)
}

func (t *tx) device(ctx context.Context, id int64, lock string) (*reconcile.Device, error) {
	var rows []deviceJoin
	if err := t.all(ctx, &rows, inventoryDevices+" WHERE d.id = ? ORDER BY c.id", id); err != nil {
		return nil, err
	}
	ds, err := t.fill(ctx, rows, lock)
	if err != nil {
		return nil, err
	}
	if len(ds) != 1 {
		return nil, reconcile.ErrStale
	}
	return &ds[0], nil
}

// step writes one row step. Steps of offers and providers are not the store's.
func (t *tx) step(ctx context.Context, d *reconcile.Device, step reconcile.Step) error {
	switch s := step.(type) {
	case reconcile.SetBoard:
		_, err := t.exec(ctx, "UPDATE devices SET `type` = ?, vendor = ?, model = ?, std_board_info = ?, vendor_board_info = ? WHERE id = ?",
			s.Type, s.Vendor, s.Model, s.StdBoardInfo, s.VendorBoardInfo, d.ID)
		return err
	case reconcile.InsertDeployable:
		p := *s.Deployable
		prepareDeployable(&p, false)
		return t.insertDeployables(ctx, []placed{{&p, d.ID, d.ControlPath.ID}})
	case reconcile.SetNumAccelerators:
		return t.setDeployable(ctx, d, s.Deployable, "num_accelerators", s.To)
	case reconcile.SetDriverName:
		return t.setDeployable(ctx, d, s.Deployable, "driver_name", s.To)
	case reconcile.DeleteDeployable:
		return t.deleteDeployable(ctx, s.Deployable)
	case reconcile.InsertAttribute:
		return t.insert(ctx, "attributes", insertAttribute, [][]any{{uuid.NewString(), s.Deployable, s.Key, s.Value, t.now()}})
	case reconcile.SetAttribute:
		return t.changed(t.exec(ctx, "UPDATE attributes SET value = ?, updated_at = ? WHERE id = ?", s.To, t.now(), s.Attribute))
	case reconcile.DeleteAttribute:
		return t.changed(t.exec(ctx, "DELETE FROM attributes WHERE id = ?", s.Attribute))
	case reconcile.InsertHandle:
		return t.insert(ctx, "attach_handles", insertHandle,
			[][]any{{uuid.NewString(), s.Deployable, d.ControlPath.ID, s.InUse, string(s.Type), s.Info, t.now()}})
	case reconcile.SetHandleInfo:
		return t.changed(t.exec(ctx, "UPDATE attach_handles SET attach_info = ?, updated_at = ? WHERE id = ?", s.To, t.now(), s.Handle))
	case reconcile.SetHandleType:
		return t.changed(t.exec(ctx, "UPDATE attach_handles SET attach_type = ?, updated_at = ? WHERE id = ?", string(s.To), t.now(), s.Handle))
	case reconcile.DeleteHandle:
		return t.changed(t.exec(ctx, "DELETE FROM attach_handles WHERE id = ?", s.Handle))
	}
	return fmt.Errorf("commit: no row step: %T", step)
}

// changed turns "no row matched" into [reconcile.ErrStale].
func (t *tx) changed(n int64, err error) error {
	if err == nil && n == 0 {
		return reconcile.ErrStale
	}
	return err
}

// setDeployable writes one column.
func (t *tx) setDeployable(ctx context.Context, d *reconcile.Device, id int64, column string, v any) error {
	if findDeployable(d, id) == nil {
		return reconcile.ErrStale
	}
	return t.changed(t.exec(ctx, "UPDATE deployables SET "+column+" = ? WHERE id = ?", v, id))
}

// touch gives changed deployables a new version, so that no plan which was
// made before can claim them.
func (t *tx) touch(ctx context.Context, d *reconcile.Device, ids []int64) error {
	for _, id := range ids {
		p := findDeployable(d, id)
		if p == nil {
			return reconcile.ErrStale
		}
		if _, err := t.exec(ctx, "UPDATE deployables SET updated_at = ? WHERE id = ?", t.s.d.time(t.s.later(p.UpdatedAt)), id); err != nil {
			return err
		}
	}
	return nil
}

func findDeployable(d *reconcile.Device, id int64) *reconcile.Deployable {
	for i := range d.Deployables {
		if d.Deployables[i].ID == id {
			return &d.Deployables[i]
		}
	}
	return nil
}

// deleteDeployable deletes a deployable that nobody holds. The engines differ
// in what they do to rows that name it as parent or root, so none may be left.
func (t *tx) deleteDeployable(ctx context.Context, id int64) error {
	for _, query := range []string{
		"DELETE FROM attach_handles WHERE deployable_id = ?",
		"DELETE FROM attributes WHERE deployable_id = ?",
		"UPDATE deployables SET parent_id = NULL WHERE parent_id = ?",
		"UPDATE deployables SET root_id = NULL WHERE root_id = ?",
		"DELETE FROM deployables WHERE id = ?",
	} {
		if _, err := t.exec(ctx, query, id); err != nil {
			return err
		}
	}
	return nil
}
