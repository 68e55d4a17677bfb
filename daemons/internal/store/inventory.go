package store

import (
	"context"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// deviceJoin is a device with its control path.
type deviceJoin struct {
	cyborg.DeviceRow
	PathID   int64  `db:"path_id"`
	PathUUID string `db:"path_uuid"`
	PathType string `db:"path_type"`
	PathInfo string `db:"path_info"`
}

const (
	deviceColumns     = "d.id, d.uuid, d.`type`, d.vendor, d.model, d.std_board_info, d.vendor_board_info, d.hostname, d.status, d.device_state, d.created_at, d.updated_at"
	deployableColumns = "p.id, p.uuid, p.parent_id, p.root_id, p.name, p.num_accelerators, p.device_id, p.driver_name, p.rp_uuid, p.bitstream_id, p.created_at, p.updated_at"
	handleColumns     = "h.id, h.uuid, h.deployable_id, h.cpid_id, h.attach_type, h.attach_info, COALESCE(h.in_use, FALSE) AS in_use, h.created_at, h.updated_at"
	attributeColumns  = "a.id, a.uuid, a.deployable_id, a.`key`, a.value, a.created_at, a.updated_at"

	inventoryDevices = "SELECT " + deviceColumns + ", c.id AS path_id, c.uuid AS path_uuid, c.cpid_type AS path_type, c.cpid_info AS path_info" +
		" FROM devices d JOIN controlpath_ids c ON c.device_id = d.id"
)

// reference is an ARQ row that names a handle.
type reference struct {
	UUID   string `db:"uuid"`
	Handle int64  `db:"attach_handle_id"`
}

// Inventory reads what a host has, in one snapshot and five queries. Devices
// are in id order. A device without a control path is left out, as a Python
// conductor leaves it out: it is still being created, or never was. Host is
// the spelling of the rows, because MySQL finds "HOST" for "host".
func (s *Store) Inventory(ctx context.Context, host string) (reconcile.Inventory, error) {
	inv := reconcile.Inventory{Host: host}
	err := s.read(ctx, "Inventory", func(t *tx) error {
		var rows []deviceJoin
		if err := t.all(ctx, &rows, inventoryDevices+" WHERE d.hostname = ? ORDER BY d.id, c.id", host); err != nil {
			return err
		}
		if len(rows) > 0 {
			inv.Host = rows[0].Hostname
		}
		var err error
		inv.Devices, err = t.fill(ctx, rows, "")
		return err
	})
	return inv, err
}

// fill reads everything below the devices; lock is added to the read of the
// handles.
func (t *tx) fill(ctx context.Context, rows []deviceJoin, lock string) ([]reconcile.Device, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	devices := make([]reconcile.Device, 0, len(rows))
	deviceAt := make(map[int64]int, len(rows))
	for _, r := range rows {
		if i, ok := deviceAt[r.ID]; ok { // the peer looks at the newest of several control paths
			devices[i].ControlPath = r.path()
			continue
		}
		deviceAt[r.ID] = len(devices)
		devices = append(devices, r.device())
	}
	at, err := t.fillDeployables(ctx, devices, deviceAt)
	if err != nil || len(at) == 0 {
		return devices, err
	}
	ids := keys(at)
	if err := t.fillAttributes(ctx, at, ids); err != nil {
		return nil, err
	}
	return devices, t.fillHandles(ctx, at, ids, lock)
}

// fillDeployables appends the deployables and returns where each one is.
func (t *tx) fillDeployables(ctx context.Context, devices []reconcile.Device, deviceAt map[int64]int) (map[int64]*reconcile.Deployable, error) {
	ids := make([]int64, len(devices))
	for i := range devices {
		ids[i] = devices[i].ID
	}
	var rows []cyborg.DeployableRow
	query := "SELECT " + deployableColumns + " FROM deployables p WHERE p.device_id IN ? ORDER BY p.id"
	if err := allIn(ctx, t, &rows, query, ids); err != nil {
		return nil, err
	}
	for _, r := range rows {
		d := &devices[deviceAt[r.DeviceID]]
		d.Deployables = append(d.Deployables, deployable(r))
	}
	at := make(map[int64]*reconcile.Deployable, len(rows))
	for i := range devices {
		for j := range devices[i].Deployables {
			p := &devices[i].Deployables[j]
			at[p.ID] = p
		}
	}
	return at, nil
}

func (t *tx) fillAttributes(ctx context.Context, at map[int64]*reconcile.Deployable, ids []int64) error {
	var rows []struct {
		Deployable int64  `db:"deployable_id"`
		ID         int64  `db:"id"`
		UUID       string `db:"uuid"`
		Key        string `db:"key"`
		Value      string `db:"value"`
	}
	query := "SELECT a.deployable_id, a.id, a.uuid, a.`key`, a.value FROM attributes a WHERE a.deployable_id IN ? ORDER BY a.id"
	if err := allIn(ctx, t, &rows, query, ids); err != nil {
		return err
	}
	for _, r := range rows {
		p := at[r.Deployable]
		p.Attributes = append(p.Attributes, reconcile.Attribute{ID: r.ID, UUID: r.UUID, Key: r.Key, Value: r.Value})
	}
	return nil
}

func (t *tx) fillHandles(ctx context.Context, at map[int64]*reconcile.Deployable, ids []int64, lock string) error {
	var rows []cyborg.AttachHandleRow
	query := "SELECT " + handleColumns + " FROM attach_handles h WHERE h.deployable_id IN ? ORDER BY h.id" + lock
	if err := allIn(ctx, t, &rows, query, ids); err != nil || len(rows) == 0 {
		return err
	}
	handles := make([]int64, len(rows))
	for i, r := range rows {
		handles[i] = r.ID
	}
	var refs []reference
	query = "SELECT e.uuid, e.attach_handle_id FROM extended_accelerator_requests e WHERE e.attach_handle_id IN ? ORDER BY e.id"
	if err := allIn(ctx, t, &refs, query, handles); err != nil {
		return err
	}
	owners := make(map[int64][]string, len(refs))
	for _, r := range refs {
		owners[r.Handle] = append(owners[r.Handle], r.UUID)
	}
	for _, r := range rows {
		p := at[r.DeployableID]
		p.Handles = append(p.Handles, reconcile.Handle{
			ID: r.ID, UUID: r.UUID, Type: arq.HandleType(r.AttachType), Info: r.AttachInfo, InUse: r.InUse, ARQs: owners[r.ID],
		})
	}
	return nil
}

func (r deviceJoin) device() reconcile.Device {
	d := reconcile.Device{
		ID: r.ID, UUID: r.UUID, Type: r.Type, Vendor: r.Vendor, Model: r.Model,
		StdBoardInfo: r.StdBoardInfo, VendorBoardInfo: r.VendorBoardInfo, Status: r.Status, ControlPath: r.path(),
	}
	if r.DeviceState != nil {
		d.State = reconcile.DeviceState(*r.DeviceState)
	}
	return d
}

func (r deviceJoin) path() reconcile.ControlPath {
	return reconcile.ControlPath{ID: r.PathID, UUID: r.PathUUID, Type: r.PathType, Info: r.PathInfo}
}

func deployable(r cyborg.DeployableRow) reconcile.Deployable {
	return reconcile.Deployable{
		ID: r.ID, UUID: r.UUID, Name: r.Name, NumAccelerators: int(r.NumAccelerators),
		DriverName: r.DriverName, BitstreamID: r.BitstreamID, Offer: value(r.RPUUID), UpdatedAt: utc(r.UpdatedAt),
	}
}

// value is the zero value for NULL.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// utc is the zero time for NULL.
func utc(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// null is NULL for the zero value.
func null[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func keys[V any](m map[int64]V) []int64 {
	ids := make([]int64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	return ids
}
