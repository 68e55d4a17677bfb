package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// target is the deployable that a bind asks for, with its device.
type target struct {
	ID          int64      `db:"id"`
	UUID        string     `db:"uuid"`
	BitstreamID *string    `db:"bitstream_id"`
	UpdatedAt   *time.Time `db:"updated_at"`
	DeviceID    int64      `db:"d_id"`
	DeviceUUID  string     `db:"d_uuid"`
	DeviceType  string     `db:"d_type"`
	DeviceState *string    `db:"d_state"`
	Hostname    string     `db:"hostname"`
}

// candidates bounds how many free handles one look returns.
const candidates = 32

// Begin binds a request: one transaction looks the deployable up by its offer,
// takes a free handle of it and writes the request, which is then Bound, or
// BindStarted when a step outside the database is owed (mdev, programming,
// NVMe reservation). When there is no such deployable or no free handle, the
// request is stored and returned as BindFailed together with the
// [*arq.NotFoundError]. A request that the caller refuses is stored as
// BindFailed without an error. One that may not be bound is an
// [*arq.BadStateError] and stays as it is.
//
// An NVMe device must be enabled and available; it becomes allocated, and its
// deployable is off offer until [Store.Finish].
func (s *Store) Begin(ctx context.Context, b arq.Bind) (arq.Request, error) {
	var q arq.Request
	var refused error
	err := s.write(ctx, "Begin", func(t *tx) error {
		var err error
		refused = nil
		if q, err = t.lockRequest(ctx, b.UUID); err != nil {
			return err
		}
		if t.again && boundAs(q, b) {
			q, err = t.request(ctx, b.UUID)
			return err
		}
		if t.again && q.State == arq.BindFailed && sameBind(q, b) {
			q.State = arq.Initial // the refusal was not answered either: look again
		}
		if _, err := q.State.Next(arq.EventBind); err != nil {
			return badState(q, arq.EventBind)
		}
		q.Hostname, q.DeviceRPUUID, q.InstanceUUID, q.ProjectID = b.Hostname, b.DeviceRPUUID, b.InstanceUUID, b.ProjectID
		refused, err = t.bind(ctx, &q, b)
		return err
	})
	if err != nil {
		return arq.Request{}, err
	}
	return q, refused
}

// boundAs reports whether an attempt whose COMMIT was not answered had bound
// the request.
func boundAs(q arq.Request, b arq.Bind) bool {
	return (q.State == arq.Bound || q.State == arq.BindStarted) && sameBind(q, b)
}

func sameBind(q arq.Request, b arq.Bind) bool {
	return q.Hostname == b.Hostname && q.DeviceRPUUID == b.DeviceRPUUID && q.InstanceUUID == b.InstanceUUID
}

func badState(q arq.Request, e arq.Event) error {
	return &arq.BadStateError{UUID: q.UUID, Have: q.State, Want: e.From()}
}

// bind does the work of Begin on a request that is locked. refused says why
// the request became BindFailed.
func (t *tx) bind(ctx context.Context, q *arq.Request, b arq.Bind) (refused, err error) {
	p, err := t.target(ctx, b)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return &arq.NotFoundError{Resource: "Deployable", Msg: "with resource provider uuid=" + b.DeviceRPUUID}, t.failBind(ctx, q)
	}
	if b.Refused {
		return nil, t.failBind(ctx, q)
	}
	none := &arq.NotFoundError{Resource: "AttachHandle", Msg: fmt.Sprintf("Matching deployable_id %d", p.ID)}
	at := t.s.later(utc(p.UpdatedAt))
	nvme := p.DeviceType == arq.DeviceTypeNVMe
	if nvme {
		if ok, err := t.reserve(ctx, p, b.DeviceRPUUID, at); err != nil {
			return nil, err
		} else if !ok {
			return none, t.failBind(ctx, q)
		}
	}
	h, err := t.allocate(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	if h == nil {
		if nvme {
			if err := t.unreserve(ctx, p); err != nil {
				return nil, err
			}
		}
		return none, t.failBind(ctx, q)
	}
	event := arq.EventBind
	if nvme || h.Type == arq.HandleMDEV || b.Program.Needed(value(p.BitstreamID)) {
		event = arq.EventBindStep
	}
	q.State, _ = q.State.Next(event)
	q.Handle, q.DeployableID, q.DeployableUUID = h, p.ID, p.UUID
	q.Device = arq.Device{ID: p.DeviceID, UUID: p.DeviceUUID, Type: p.DeviceType, State: value(p.DeviceState)}
	if nvme {
		q.Device.State = "allocated"
	}
	return nil, t.saveRequest(ctx, q, at)
}

// reserve allocates an NVMe device for a request and takes its deployable off
// offer. The request is saved with the same time as the deployable: it is the
// claim that [Store.Finish] offers the deployable under. ok is false when the
// device is not available or a report has withdrawn the deployable meanwhile.
func (t *tx) reserve(ctx context.Context, p *target, provider string, at time.Time) (ok bool, err error) {
	n, err := t.exec(ctx, "UPDATE devices SET device_state = 'allocated', updated_at = ? WHERE id = ? AND device_state = 'available' AND status = 'enabled'",
		t.s.d.time(at), p.DeviceID)
	if err != nil || n == 0 {
		return false, err
	}
	n, err = t.exec(ctx, "UPDATE deployables SET rp_uuid = NULL, updated_at = ? WHERE id = ? AND rp_uuid = ?", t.s.d.time(at), p.ID, provider)
	if err != nil || n > 0 {
		return n > 0, err
	}
	return false, t.unreserve(ctx, p)
}

// unreserve makes an NVMe device available again whose handle was not to be
// had. Its deployable comes back on offer with the next report.
func (t *tx) unreserve(ctx context.Context, p *target) error {
	_, err := t.exec(ctx, "UPDATE devices SET device_state = 'available' WHERE id = ?", p.DeviceID)
	return err
}

// target finds the deployable on offer under a provider. Should two rows share
// a provider, the one on the request's host is meant, else the newest.
func (t *tx) target(ctx context.Context, b arq.Bind) (*target, error) {
	var ps []target
	err := t.all(ctx, &ps, "SELECT p.id, p.uuid, p.bitstream_id, p.updated_at, d.id AS d_id, d.uuid AS d_uuid, d.`type` AS d_type, d.device_state AS d_state, d.hostname"+
		" FROM deployables p JOIN devices d ON d.id = p.device_id WHERE p.rp_uuid = ? ORDER BY p.id DESC", b.DeviceRPUUID)
	if err != nil || len(ps) == 0 {
		return nil, err
	}
	if i := slices.IndexFunc(ps, func(p target) bool { return p.Hostname == b.Hostname }); i > 0 {
		return &ps[i], nil
	}
	return &ps[0], nil
}

// failBind stores a request as BindFailed without a handle.
func (t *tx) failBind(ctx context.Context, q *arq.Request) error {
	q.State, _ = q.State.Next(arq.EventBindRefused)
	q.Handle, q.DeployableID, q.DeployableUUID, q.Device = nil, 0, "", arq.Device{}
	return t.saveRequest(ctx, q, t.s.later(q.UpdatedAt))
}

// saveRequest writes what a transition may change of a locked request.
func (t *tx) saveRequest(ctx context.Context, q *arq.Request, at time.Time) error {
	var handle *int64
	if q.Handle != nil {
		handle = &q.Handle.ID
	}
	q.UpdatedAt = at
	_, err := t.exec(ctx, "UPDATE extended_accelerator_requests SET state = ?, hostname = ?, device_rp_uuid = ?, instance_uuid = ?,"+
		" project_id = ?, deployable_id = ?, attach_handle_id = ?, updated_at = ? WHERE id = ?",
		string(q.State), null(q.Hostname), null(q.DeviceRPUUID), null(q.InstanceUUID), null(q.ProjectID), null(q.DeployableID), handle,
		t.s.d.time(at), q.ID)
	return err
}

// allocate takes a free handle of a deployable; nil when there is none. A
// handle that a request still names is not free, even when it is not in use: a
// Python peer frees the handle before it clears the name. The handle is read
// when it has been taken: until then its text may change.
func (t *tx) allocate(ctx context.Context, deployable int64) (*arq.Handle, error) {
	for {
		var free []int64
		err := t.all(ctx, &free, fmt.Sprintf("SELECT h.id FROM attach_handles h WHERE h.deployable_id = ? AND h.in_use = FALSE"+
			" AND NOT EXISTS (SELECT 1 FROM extended_accelerator_requests e WHERE e.attach_handle_id = h.id)"+
			" ORDER BY h.id LIMIT %d", candidates), deployable)
		if err != nil || len(free) == 0 {
			return nil, err
		}
		// From a random one upwards: losers do not all meet at the next row, and on MySQL, where a loser keeps the lock
		// of a row that it did not get, they wait for each other in one direction only.
		for i := rand.IntN(len(free)); i < len(free); i++ {
			n, err := t.exec(ctx, "UPDATE attach_handles SET in_use = TRUE, updated_at = ? WHERE id = ? AND in_use = FALSE", t.now(), free[i])
			if err != nil {
				return nil, err
			}
			if n == 1 {
				return t.handle(ctx, free[i])
			}
		}
	}
}

func (t *tx) handle(ctx context.Context, id int64) (*arq.Handle, error) {
	var row cyborg.AttachHandleRow
	if _, err := t.one(ctx, &row, "SELECT "+handleColumns+" FROM attach_handles h WHERE h.id = ?", id); err != nil {
		return nil, err
	}
	return &arq.Handle{ID: row.ID, UUID: row.UUID, Type: arq.HandleType(row.AttachType), Info: handleInfo(row.AttachInfo)}, nil
}
