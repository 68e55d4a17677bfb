package store

import "context"

// UnownedRequest is an ARQ that a guest uses and no project owns: it was made
// before ARQs had owners.
type UnownedRequest struct {
	ID       int64  `db:"id"`
	UUID     string `db:"uuid"`
	Instance string `db:"instance_uuid"`
}

// UnownedRequests returns up to limit of them with an id above after, in id
// order.
func (s *Store) UnownedRequests(ctx context.Context, after int64, limit int) (rows []UnownedRequest, err error) {
	err = s.read(ctx, "UnownedRequests", func(t *tx) error {
		rows = nil
		return t.all(ctx, &rows, "SELECT id, uuid, instance_uuid FROM extended_accelerator_requests"+
			" WHERE project_id IS NULL AND instance_uuid IS NOT NULL AND id > ? ORDER BY id LIMIT ?", after, limit)
	})
	return rows, err
}

// SetRequestProject gives a request that has no owner its project, and reports
// whether it had none.
func (s *Store) SetRequestProject(ctx context.Context, id int64, project string) (set bool, err error) {
	err = s.write(ctx, "SetRequestProject", func(t *tx) error {
		n, err := t.exec(ctx, "UPDATE extended_accelerator_requests SET project_id = ?, updated_at = ? WHERE id = ? AND project_id IS NULL",
			project, t.now(), id)
		set = n > 0
		return err
	})
	return set, err
}

// backfillBatch is how many devices one transaction of the backfill writes.
const backfillBatch = 50

// BackfillDeviceStates gives the devices whose device_state is NULL (they are
// older than the column) allocated or available, by whether a handle of them
// is in use. found counts them, done those that were written.
func (s *Store) BackfillDeviceStates(ctx context.Context) (found, done int, err error) {
	err = s.read(ctx, "BackfillDeviceStates", func(t *tx) error {
		_, err := t.one(ctx, &found, "SELECT COUNT(*) FROM devices WHERE device_state IS NULL")
		return err
	})
	for err == nil {
		var n int
		err = s.write(ctx, "BackfillDeviceStates", func(t *tx) error {
			n, err = t.backfill(ctx)
			return err
		})
		done += n
		if n == 0 {
			break
		}
	}
	return max(found, done), done, err
}

func (t *tx) backfill(ctx context.Context) (n int, err error) {
	var ids []int64
	if err := t.all(ctx, &ids, "SELECT id FROM devices WHERE device_state IS NULL ORDER BY id LIMIT ?", backfillBatch); err != nil || len(ids) == 0 {
		return 0, err
	}
	list, args := in(ids)
	used := "EXISTS (SELECT 1 FROM deployables p JOIN attach_handles h ON h.deployable_id = p.id WHERE p.device_id = devices.id AND h.in_use = TRUE)"
	for _, state := range []struct{ name, where string }{{"allocated", used}, {"available", "NOT " + used}} {
		m, err := t.exec(ctx, "UPDATE devices SET device_state = '"+state.name+"', updated_at = ? WHERE device_state IS NULL AND id IN "+list+
			" AND "+state.where, append([]any{t.now()}, args...)...)
		if err != nil {
			return 0, err
		}
		n += int(m)
	}
	return n, nil
}

// UnstatedDevices counts the devices whose device_state is NULL.
func (s *Store) UnstatedDevices(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "UnstatedDevices", func(t *tx) error {
		_, err := t.one(ctx, &n, "SELECT COUNT(*) FROM devices WHERE device_state IS NULL")
		return err
	})
	return n, err
}
