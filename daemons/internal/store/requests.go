package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
)

// requestRow is an ARQ with the handle it owns, its deployable and the device
// behind them.
type requestRow struct {
	ID             int64      `db:"id"`
	UUID           string     `db:"uuid"`
	State          string     `db:"state"`
	ProjectID      *string    `db:"project_id"`
	Hostname       *string    `db:"hostname"`
	DeviceRPUUID   *string    `db:"device_rp_uuid"`
	InstanceUUID   *string    `db:"instance_uuid"`
	ProfileID      int64      `db:"device_profile_id"`
	GroupID        int        `db:"device_profile_group_id"`
	HandleID       *int64     `db:"attach_handle_id"`
	DeployableID   *int64     `db:"deployable_id"`
	CreatedAt      *time.Time `db:"created_at"`
	UpdatedAt      *time.Time `db:"updated_at"`
	HandleUUID     *string    `db:"h_uuid"`
	HandleType     *string    `db:"h_type"`
	HandleInfo     *string    `db:"h_info"`
	DeployableUUID *string    `db:"p_uuid"`
	DeviceID       *int64     `db:"d_id"`
	DeviceUUID     *string    `db:"d_uuid"`
	DeviceType     *string    `db:"d_type"`
	DeviceState    *string    `db:"d_state"`
}

const (
	requestColumns = "e.id, e.uuid, e.state, e.project_id, e.hostname, e.device_rp_uuid, e.instance_uuid, e.device_profile_id," +
		" e.device_profile_group_id, e.attach_handle_id, e.deployable_id, e.created_at, e.updated_at"
	selectRequests = "SELECT " + requestColumns + ", h.uuid AS h_uuid, h.attach_type AS h_type, h.attach_info AS h_info," +
		" p.uuid AS p_uuid, d.id AS d_id, d.uuid AS d_uuid, d.`type` AS d_type, d.device_state AS d_state" +
		" FROM extended_accelerator_requests e LEFT JOIN attach_handles h ON h.id = e.attach_handle_id" +
		" LEFT JOIN deployables p ON p.id = COALESCE(e.deployable_id, h.deployable_id) LEFT JOIN devices d ON d.id = p.device_id"
)

// requests reads ARQs and, in a second statement, the profiles they name.
func (t *tx) requests(ctx context.Context, where string, args ...any) ([]arq.Request, error) {
	var rows []requestRow
	if err := t.all(ctx, &rows, selectRequests+" WHERE "+where+" ORDER BY e.id", args...); err != nil || len(rows) == 0 {
		return nil, err
	}
	profiles := map[int64]*Profile{}
	for _, r := range rows {
		profiles[r.ProfileID] = nil
	}
	var found []profileRow
	if err := allIn(ctx, t, &found, selectProfiles+" WHERE id IN ?", keys(profiles)); err != nil {
		return nil, err
	}
	for _, r := range found {
		profiles[r.ID] = r.decode()
	}
	out := make([]arq.Request, len(rows))
	for i, r := range rows {
		out[i] = r.request(profiles[r.ProfileID])
	}
	return out, nil
}

func (r requestRow) request(p *Profile) arq.Request {
	q := arq.Request{
		ID: r.ID, UUID: r.UUID, State: arq.State(r.State),
		Hostname: value(r.Hostname), DeviceRPUUID: value(r.DeviceRPUUID), InstanceUUID: value(r.InstanceUUID), ProjectID: value(r.ProjectID),
		ProfileID: r.ProfileID, GroupID: r.GroupID,
		DeployableID: value(r.DeployableID), DeployableUUID: value(r.DeployableUUID),
		CreatedAt: utc(r.CreatedAt), UpdatedAt: utc(r.UpdatedAt),
	}
	if p != nil {
		q.ProfileName = p.Name
		if r.GroupID >= 0 && r.GroupID < len(p.Groups) {
			q.Group = p.Groups[r.GroupID]
		}
	}
	if r.DeviceID != nil {
		q.Device = arq.Device{ID: *r.DeviceID, UUID: value(r.DeviceUUID), Type: value(r.DeviceType), State: value(r.DeviceState)}
	}
	if r.HandleID != nil {
		q.Handle = &arq.Handle{ID: *r.HandleID, UUID: value(r.HandleUUID), Type: arq.HandleType(value(r.HandleType)), Info: handleInfo(value(r.HandleInfo))}
	}
	return q
}

// handleInfo keeps a text that is no JSON object as an empty one: it must not
// stop the lists it is in.
func handleInfo(text string) arq.HandleInfo {
	info, err := arq.ParseHandleInfo(text)
	if err != nil {
		return arq.HandleInfo{}
	}
	return info
}

// request reads one ARQ.
func (t *tx) request(ctx context.Context, id string) (arq.Request, error) {
	rs, err := t.requests(ctx, "e.uuid = ?", id)
	if err != nil {
		return arq.Request{}, err
	}
	if len(rs) == 0 {
		return arq.Request{}, notFound("ExtArq", "uuid", id)
	}
	return rs[0], nil
}

// lockRequest locks an ARQ's row and reads the ARQ without its handle. The row
// is read by the locking statement itself: what is read later cannot be older.
func (t *tx) lockRequest(ctx context.Context, id string) (arq.Request, error) {
	var row requestRow
	found, err := t.one(ctx, &row, "SELECT "+requestColumns+" FROM extended_accelerator_requests e WHERE e.uuid = ?"+t.s.d.forUpdate, id)
	if err != nil {
		return arq.Request{}, err
	}
	if !found {
		return arq.Request{}, notFound("ExtArq", "uuid", id)
	}
	var p profileRow
	if _, err := t.one(ctx, &p, selectProfiles+" WHERE id = ?", row.ProfileID); err != nil {
		return arq.Request{}, err
	}
	row.HandleID = nil
	return row.request(p.decode()), nil
}

// lockOwner locks an ARQ's row and reads the ARQ with the handle it owns.
func (t *tx) lockOwner(ctx context.Context, id string) (arq.Request, error) {
	if t.s.d.forUpdate != "" {
		var locked int64
		found, err := t.one(ctx, &locked, "SELECT id FROM extended_accelerator_requests WHERE uuid = ?"+t.s.d.forUpdate, id)
		if err != nil {
			return arq.Request{}, err
		}
		if !found {
			return arq.Request{}, notFound("ExtArq", "uuid", id)
		}
	}
	return t.request(ctx, id)
}

// CreateARQs creates requests in state Initial, all or none, and returns them
// in the order given. An unknown profile is an [*arq.NotFoundError].
func (s *Store) CreateARQs(ctx context.Context, news []arq.New) (out []arq.Request, err error) {
	if len(news) == 0 {
		return nil, nil
	}
	ids := make([]string, len(news))
	for i, n := range news {
		ids[i] = orDefault(n.UUID, uuid.NewString())
	}
	err = s.write(ctx, "CreateARQs", func(t *tx) error {
		if t.again { // an attempt whose COMMIT was not answered may have created them
			if out, err = t.requestsInOrder(ctx, ids); err != nil || len(out) > 0 {
				return err
			}
		}
		profiles, err := t.profilesOf(ctx, news)
		if err != nil {
			return err
		}
		rows := make([][]any, len(news))
		for i, n := range news {
			rows[i] = []any{ids[i], string(arq.Initial), null(n.ProjectID), profiles[i], n.GroupID, "Initial", t.now()}
		}
		if err := t.insert(ctx, "extended_accelerator_requests",
			"uuid, state, project_id, device_profile_id, device_profile_group_id, substate, created_at", rows); err != nil {
			return err
		}
		out, err = t.requestsInOrder(ctx, ids)
		return err
	})
	if isKind(err, Duplicate) {
		return nil, &DuplicateError{Resource: "ExtArq", Key: "uuid", Value: strings.Join(ids, ", ")}
	}
	return out, err
}

// requestsInOrder reads requests in the order of their uuids.
func (t *tx) requestsInOrder(ctx context.Context, uuids []string) ([]arq.Request, error) {
	list, args := in(uuids)
	found, err := t.requests(ctx, "e.uuid IN "+list, args...)
	slices.SortFunc(found, func(a, b arq.Request) int {
		return cmp.Compare(slices.Index(uuids, a.UUID), slices.Index(uuids, b.UUID))
	})
	return found, err
}

// profilesOf returns the profile id of each new request.
func (t *tx) profilesOf(ctx context.Context, news []arq.New) ([]int64, error) {
	byName := map[string]int64{}
	ids := make([]int64, len(news))
	for i, n := range news {
		ids[i] = n.ProfileID
		if n.ProfileID != 0 {
			continue
		}
		if byName[n.ProfileName] == 0 {
			var id int64
			found, err := t.one(ctx, &id, "SELECT id FROM device_profiles WHERE name = ?", n.ProfileName)
			if err != nil {
				return nil, err
			}
			if !found {
				return nil, notFound("Device Profile", "name", n.ProfileName)
			}
			byName[n.ProfileName] = id
		}
		ids[i] = byName[n.ProfileName]
	}
	return ids, nil
}
