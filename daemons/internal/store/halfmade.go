package store

import (
	"context"
)

// RemoveHalfMade deletes the devices of a host that have no control path, and
// returns their uuids: a Python conductor that dies while it creates a device
// leaves one, which no report can find. [reconcile.ErrHeld]: something refers
// to one of them.
func (s *Store) RemoveHalfMade(ctx context.Context, host string) (removed []string, err error) {
	err = s.write(ctx, "RemoveHalfMade", func(t *tx) error {
		removed = nil
		var rows []struct {
			ID   int64  `db:"id"`
			UUID string `db:"uuid"`
		}
		if err := t.all(ctx, &rows, "SELECT d.id, d.uuid FROM devices d WHERE d.hostname = ? AND NOT EXISTS"+
			" (SELECT 1 FROM controlpath_ids c WHERE c.device_id = d.id) ORDER BY d.id", host); err != nil {
			return err
		}
		for _, r := range rows {
			if err := t.removeHalfMade(ctx, r.ID); err != nil {
				return err
			}
			removed = append(removed, r.UUID)
		}
		return nil
	})
	return removed, refusal(err)
}

func (t *tx) removeHalfMade(ctx context.Context, device int64) error {
	var deployables []int64
	if err := t.all(ctx, &deployables, "SELECT id FROM deployables WHERE device_id = ? ORDER BY id", device); err != nil {
		return err
	}
	for _, id := range deployables { // without handles: each of those names a control path
		if err := t.deleteDeployable(ctx, id); err != nil {
			return err
		}
	}
	_, err := t.exec(ctx, "DELETE FROM devices WHERE id = ?", device)
	return err
}
