package store

import (
	"context"
	"time"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// byHostname reads the rows of one table that belong to a host: the ids of
// its devices first, because hostname has no index and a join would scan the
// table once more.
func byHostname[R any](ctx context.Context, s *Store, op, query, host string) (rows []R, err error) {
	err = s.read(ctx, op, func(t *tx) error {
		rows = nil
		var devices []int64
		if err := t.all(ctx, &devices, "SELECT id FROM devices WHERE hostname = ? ORDER BY id", host); err != nil {
			return err
		}
		return allIn(ctx, t, &rows, query, devices)
	})
	return rows, err
}

// DevicesByHostname returns the devices of a host in id order.
func (s *Store) DevicesByHostname(ctx context.Context, host string) (rows []cyborg.DeviceRow, err error) {
	err = s.read(ctx, "DevicesByHostname", func(t *tx) error {
		rows = nil
		return t.all(ctx, &rows, "SELECT "+deviceColumns+" FROM devices d WHERE d.hostname = ? ORDER BY d.id", host)
	})
	return rows, err
}

// ControlpathIDsByHostname returns the control paths of a host's devices in
// id order.
func (s *Store) ControlpathIDsByHostname(ctx context.Context, host string) ([]cyborg.ControlpathIDRow, error) {
	return byHostname[cyborg.ControlpathIDRow](ctx, s, "ControlpathIDsByHostname",
		"SELECT c.id, c.uuid, c.device_id, c.cpid_type, c.cpid_info, c.created_at, c.updated_at"+
			" FROM controlpath_ids c WHERE c.device_id IN ? ORDER BY c.id", host)
}

// DeployablesByHostname returns the deployables of a host's devices in id
// order.
func (s *Store) DeployablesByHostname(ctx context.Context, host string) ([]cyborg.DeployableRow, error) {
	return byHostname[cyborg.DeployableRow](ctx, s, "DeployablesByHostname",
		"SELECT "+deployableColumns+" FROM deployables p WHERE p.device_id IN ? ORDER BY p.id", host)
}

// AttachHandlesByHostname returns the attach handles of a host's deployables
// in id order.
func (s *Store) AttachHandlesByHostname(ctx context.Context, host string) ([]cyborg.AttachHandleRow, error) {
	return byHostname[cyborg.AttachHandleRow](ctx, s, "AttachHandlesByHostname",
		"SELECT "+handleColumns+" FROM attach_handles h JOIN deployables p ON p.id = h.deployable_id"+
			" WHERE p.device_id IN ? ORDER BY h.id", host)
}

// ReferencedAttachHandlesByHostname returns those of a host's attach handles
// that an ARQ names, whatever its state.
func (s *Store) ReferencedAttachHandlesByHostname(ctx context.Context, host string) ([]cyborg.AttachHandleRow, error) {
	return byHostname[cyborg.AttachHandleRow](ctx, s, "ReferencedAttachHandlesByHostname",
		"SELECT "+handleColumns+" FROM attach_handles h JOIN deployables p ON p.id = h.deployable_id"+
			" WHERE p.device_id IN ? AND EXISTS (SELECT 1 FROM extended_accelerator_requests e WHERE e.attach_handle_id = h.id)"+
			" ORDER BY h.id", host)
}

// handleTopology is where a handle sits.
type handleTopology struct {
	Deployable string `db:"deployable_name"`
	Device     int64  `db:"device_id"`
	Path       string `db:"cpid_info"`
	Host       string `db:"hostname"`
}

// UpdateAttachInfo replaces the text of one handle if everything the caller
// read is still true. The handle's row is locked before anything else is
// read: it is the row that every allocation and release locks. Errors:
// [*cyborg.StaleHandleError], [*cyborg.HandleNotFoundError]; nothing is
// written then.
func (s *Store) UpdateAttachInfo(ctx context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	var row cyborg.AttachHandleRow
	err := s.write(ctx, "UpdateAttachInfo", func(t *tx) error {
		row = cyborg.AttachHandleRow{}
		found, err := t.one(ctx, &row, "SELECT "+handleColumns+" FROM attach_handles h WHERE h.uuid = ?"+s.d.forUpdate, u.UUID)
		if err != nil {
			return err
		}
		if !found {
			return &cyborg.HandleNotFoundError{UUID: u.UUID}
		}
		now, err := t.expectation(ctx, row)
		if err != nil {
			return err
		}
		if field := u.Expected.Differs(now); field != "" {
			if !t.again || !onlyTextIs(u, now) {
				return &cyborg.StaleHandleError{UUID: u.UUID, Field: field}
			}
		} else if u.RequireUnallocated && (now.InUse || now.Referenced) {
			return &cyborg.StaleHandleError{UUID: u.UUID, Field: "in_use"}
		}
		if row.AttachInfo == u.AttachInfo {
			return nil
		}
		at := s.d.truncate(s.now())
		row.AttachInfo, row.UpdatedAt = u.AttachInfo, &at
		_, err = t.exec(ctx, "UPDATE attach_handles SET attach_info = ?, updated_at = ? WHERE id = ?", u.AttachInfo, s.d.time(at), row.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &row, nil
}

// onlyTextIs reports whether the handle is as expected but already carries
// the new text: an attempt whose COMMIT was not answered had succeeded.
func onlyTextIs(u cyborg.AttachInfoUpdate, now cyborg.HandleExpectation) bool {
	u.Expected.AttachInfo = u.AttachInfo
	return u.Expected == now
}

// expectation reads what surrounds a handle whose row is locked. Plain reads
// are enough: the peer deletes handles before their parents.
func (t *tx) expectation(ctx context.Context, row cyborg.AttachHandleRow) (cyborg.HandleExpectation, error) {
	x := cyborg.HandleExpectation{
		DeployableID: row.DeployableID, ControlpathID: row.CpidID,
		AttachType: row.AttachType, AttachInfo: row.AttachInfo, InUse: row.InUse,
	}
	var top handleTopology
	_, err := t.one(ctx, &top, "SELECT p.name AS deployable_name, p.device_id, c.cpid_info, d.hostname FROM deployables p"+
		" JOIN devices d ON d.id = p.device_id JOIN controlpath_ids c ON c.id = ? WHERE p.id = ?", row.CpidID, row.DeployableID)
	if err != nil {
		return x, err
	}
	x.DeployableName, x.DeviceID, x.CpidInfo, x.Hostname = top.Deployable, top.Device, top.Path, top.Host
	var refs int
	_, err = t.one(ctx, &refs, "SELECT COUNT(*) FROM extended_accelerator_requests WHERE attach_handle_id = ?", row.ID)
	x.Referenced = refs > 0
	return x, err
}

// later is the time to write into updated_at when it also serves as a
// version: always after the one that was read, whatever the column's
// resolution.
func (s *Store) later(read time.Time) time.Time {
	now := s.d.truncate(s.now())
	if next := read.Add(time.Second); !read.IsZero() && now.Before(next) {
		return next
	}
	return now
}
