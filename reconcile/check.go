package reconcile

import "slices"

// Check says whether the row steps of p may be written now that the device is
// as now shows: ErrStale when its structure is no longer that of p.Have,
// ErrHeld when a step would delete or rewrite what is held. A store calls it
// after it has locked and re-read the device, in the transaction that writes.
func (p *DevicePlan) Check(now *Device) error {
	if !p.Have.SameStructure(now) {
		return ErrStale
	}
	if slices.ContainsFunc(p.Steps, now.blocks) {
		return ErrHeld
	}
	return nil
}

// SameStructure reports whether two readings of a device show the same rows:
// ids, type, texts and offers of everything below it, and updated_at of the
// deployables: one that another run withdrew and offered again looks the same
// otherwise, though its provider was written. in_use, the requests that
// refer to a handle, status, device_state and the board fields are not
// structure: a bind changes only what disturbs the steps it must disturb.
func (d *Device) SameStructure(now *Device) bool {
	return d.ID == now.ID && d.Type == now.Type &&
		d.ControlPath.ID == now.ControlPath.ID && d.ControlPath.Info == now.ControlPath.Info &&
		slices.EqualFunc(d.Deployables, now.Deployables, func(p, q Deployable) bool {
			return p.ID == q.ID && p.Name == q.Name && p.NumAccelerators == q.NumAccelerators && p.Offer == q.Offer && p.UpdatedAt.Equal(q.UpdatedAt) &&
				slices.EqualFunc(p.Attributes, q.Attributes, func(a, b Attribute) bool {
					return a.ID == b.ID && a.Key == b.Key && a.Value == b.Value
				}) &&
				slices.EqualFunc(p.Handles, q.Handles, func(a, b Handle) bool {
					return a.ID == b.ID && a.Type == b.Type && a.Info == b.Info
				})
		})
}

// blocks reports whether something that is held stands in the way of a step.
func (d *Device) blocks(s Step) bool {
	switch s := s.(type) {
	case DeleteDevice:
		return d.Held()
	case DeleteDeployable:
		return slices.ContainsFunc(d.Deployables, func(p Deployable) bool { return p.ID == s.Deployable && p.Held() })
	case DeleteHandle:
		return d.holds(s.Handle)
	case SetHandleType:
		return d.holds(s.Handle)
	case SetHandleInfo:
		return s.Free && d.holds(s.Handle)
	case SetBoard:
		return s.Type != d.Type && d.Held()
	}
	return false
}

func (d *Device) holds(handle int64) bool {
	for i := range d.Deployables {
		for k := range d.Deployables[i].Handles {
			if h := &d.Deployables[i].Handles[k]; h.ID == handle {
				return h.Held()
			}
		}
	}
	return false
}

// Touched lists the stored deployables that the row steps of p change, or of
// which they change an attribute or a handle: those get a new updated_at.
func (p *DevicePlan) Touched() []int64 {
	var ids []int64
	for _, s := range p.Steps {
		id := int64(0)
		switch s := s.(type) {
		case SetNumAccelerators:
			id = s.Deployable
		case SetDriverName:
			id = s.Deployable
		case InsertAttribute:
			id = s.Deployable
		case SetAttribute:
			id = s.Deployable
		case DeleteAttribute:
			id = s.Deployable
		case InsertHandle:
			id = s.Deployable
		case SetHandleInfo:
			id = s.Deployable
		case SetHandleType:
			id = s.Deployable
		case DeleteHandle:
			id = s.Deployable
		}
		if id != 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
