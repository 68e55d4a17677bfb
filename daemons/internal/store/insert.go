package store

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Columns of the INSERT statements, in the order of the rows made below.
const (
	insertDevice     = "uuid, `type`, vendor, model, std_board_info, vendor_board_info, hostname, status, device_state, created_at"
	insertPath       = "uuid, device_id, cpid_type, cpid_info, created_at"
	insertDeployable = "uuid, name, num_accelerators, device_id, driver_name, bitstream_id, created_at"
	insertAttribute  = "uuid, deployable_id, `key`, value, created_at"
	insertHandle     = "uuid, deployable_id, cpid_id, in_use, attach_type, attach_info, created_at"
)

// Insert creates devices of a host with everything below them, every offer
// NULL, in one transaction of ten statements, and returns them with their
// ids. A device gets the uuid that [reconcile.DeviceUUID] derives, so that a
// second conductor with the same report fails on the unique column:
// [reconcile.ErrStale]. A refused value is a [*reconcile.FieldError].
func (s *Store) Insert(ctx context.Context, host string, ds []reconcile.Device) ([]reconcile.Device, error) {
	if len(ds) == 0 {
		return nil, nil
	}
	var out []reconcile.Device
	err := s.write(ctx, "Insert", func(t *tx) error {
		out = prepare(host, ds)
		return t.insertDevices(ctx, host, out)
	})
	switch {
	case isKind(err, Duplicate):
		return nil, reconcile.ErrStale
	case err != nil:
		return nil, refusal(err)
	}
	return out, nil
}

// prepare copies the devices and fills in uuids and the states of new rows.
// A new NVMe device is not handed out until it is known to be clean.
func prepare(host string, ds []reconcile.Device) []reconcile.Device {
	out := slices.Clone(ds)
	for i := range out {
		d := &out[i]
		d.UUID = orDefault(d.UUID, reconcile.DeviceUUID(host, d.ControlPath))
		d.ControlPath.UUID = uuid.NewString()
		d.Status = reconcile.StatusEnabled
		dirty := d.Type == arq.DeviceTypeNVMe && d.State != reconcile.StateAvailable
		switch {
		case d.State != reconcile.StateUnset:
		case dirty:
			d.State = reconcile.StatePendingCleaning
		default:
			d.State = reconcile.StateAvailable
		}
		d.Deployables = slices.Clone(d.Deployables)
		for j := range d.Deployables {
			prepareDeployable(&d.Deployables[j], dirty)
		}
	}
	return out
}

func prepareDeployable(p *reconcile.Deployable, dirty bool) {
	p.UUID, p.Offer = uuid.NewString(), ""
	p.Attributes, p.Handles = slices.Clone(p.Attributes), slices.Clone(p.Handles)
	for k := range p.Attributes {
		p.Attributes[k].UUID = uuid.NewString()
	}
	for k := range p.Handles {
		p.Handles[k].UUID, p.Handles[k].ARQs = uuid.NewString(), nil
		p.Handles[k].InUse = p.Handles[k].InUse || dirty
	}
}

func (t *tx) insertDevices(ctx context.Context, host string, ds []reconcile.Device) error {
	now := t.now()
	var rows [][]any
	var uuids []string
	for _, d := range ds {
		uuids = append(uuids, d.UUID)
		rows = append(rows, []any{d.UUID, d.Type, d.Vendor, d.Model, d.StdBoardInfo, d.VendorBoardInfo, host, d.Status, string(d.State), now})
	}
	if err := t.insert(ctx, "devices", insertDevice, rows); err != nil {
		return err
	}
	ids, err := t.idsOf(ctx, "devices", uuids)
	if err != nil {
		return err
	}
	rows, uuids = nil, nil
	for i := range ds {
		ds[i].ID = ids[ds[i].UUID]
		path := ds[i].ControlPath
		uuids = append(uuids, path.UUID)
		rows = append(rows, []any{path.UUID, ds[i].ID, path.Type, path.Info, now})
	}
	if err := t.insert(ctx, "controlpath_ids", insertPath, rows); err != nil {
		return err
	}
	if ids, err = t.idsOf(ctx, "controlpath_ids", uuids); err != nil {
		return err
	}
	var below []placed
	for i := range ds {
		ds[i].ControlPath.ID = ids[ds[i].ControlPath.UUID]
		for j := range ds[i].Deployables {
			below = append(below, placed{&ds[i].Deployables[j], ds[i].ID, ds[i].ControlPath.ID})
		}
	}
	return t.insertDeployables(ctx, below)
}

// placed is a deployable with the ids of its device and control path.
type placed struct {
	*reconcile.Deployable
	device, path int64
}

// insertDeployables writes deployables with their attributes and handles, and
// reads the ids of all of them.
func (t *tx) insertDeployables(ctx context.Context, ps []placed) error {
	if len(ps) == 0 {
		return nil
	}
	now := t.now()
	var rows [][]any
	var uuids []string
	for _, p := range ps {
		uuids = append(uuids, p.UUID)
		rows = append(rows, []any{p.UUID, p.Name, p.NumAccelerators, p.device, p.DriverName, p.BitstreamID, now})
	}
	if err := t.insert(ctx, "deployables", insertDeployable, rows); err != nil {
		return err
	}
	ids, err := t.idsOf(ctx, "deployables", uuids)
	if err != nil {
		return err
	}
	var attributes []*reconcile.Attribute
	var handles []*reconcile.Handle
	var attributeRows, handleRows [][]any
	for _, p := range ps {
		p.ID = ids[p.UUID]
		for k := range p.Attributes {
			a := &p.Attributes[k]
			attributes = append(attributes, a)
			attributeRows = append(attributeRows, []any{a.UUID, p.ID, a.Key, a.Value, now})
		}
		for k := range p.Handles {
			h := &p.Handles[k]
			handles = append(handles, h)
			handleRows = append(handleRows, []any{h.UUID, p.ID, p.path, h.InUse, string(h.Type), h.Info, now})
		}
	}
	if err := t.insertAttributes(ctx, attributes, attributeRows); err != nil {
		return err
	}
	return t.insertHandles(ctx, handles, handleRows)
}

func (t *tx) insertAttributes(ctx context.Context, as []*reconcile.Attribute, rows [][]any) error {
	if len(as) == 0 {
		return nil
	}
	if err := t.insert(ctx, "attributes", insertAttribute, rows); err != nil {
		return err
	}
	uuids := make([]string, len(as))
	for i, a := range as {
		uuids[i] = a.UUID
	}
	ids, err := t.idsOf(ctx, "attributes", uuids)
	for _, a := range as {
		a.ID = ids[a.UUID]
	}
	return err
}

func (t *tx) insertHandles(ctx context.Context, hs []*reconcile.Handle, rows [][]any) error {
	if len(hs) == 0 {
		return nil
	}
	if err := t.insert(ctx, "attach_handles", insertHandle, rows); err != nil {
		return err
	}
	uuids := make([]string, len(hs))
	for i, h := range hs {
		uuids[i] = h.UUID
	}
	ids, err := t.idsOf(ctx, "attach_handles", uuids)
	for _, h := range hs {
		h.ID = ids[h.UUID]
	}
	return err
}
