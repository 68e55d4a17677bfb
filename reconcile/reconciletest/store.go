package reconciletest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/reconcile"
)

// Store is a database in memory: a [reconcile.Store] with what guests and
// operators do beside it. The zero value is empty and ready. It is safe for
// concurrent use; every method is one transaction.
type Store struct {
	// Fault is asked before every write, with the name of the method; an error
	// is returned instead of writing. Nil never fails.
	Fault func(op string) error
	// Before, if set, is called at the start of every method of
	// [reconcile.Store], without a lock held: a place to wait, so that
	// overlapping runs can be interleaved at will.
	Before func(op string)

	mu      sync.Mutex
	devices []row
	lastID  int64
	clock   time.Duration // since epoch
}

type row struct {
	host   string
	device reconcile.Device
}

var _ reconcile.Store = (*Store)(nil)

// epoch is where the store's clock starts.
var epoch = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// now advances the clock by a second, so that no two writes share a time.
func (s *Store) now() time.Time {
	s.clock += time.Second
	return epoch.Add(s.clock)
}

func (s *Store) id() int64 {
	s.lastID++
	return s.lastID
}

func (s *Store) before(op string) {
	if s.Before != nil {
		s.Before(op)
	}
}

func (s *Store) fault(op string) error {
	if s.Fault == nil {
		return nil
	}
	return s.Fault(op)
}

// Inventory implements [reconcile.Store].
func (s *Store) Inventory(ctx context.Context, host string) (reconcile.Inventory, error) {
	s.before("Inventory")
	if err := ctx.Err(); err != nil {
		return reconcile.Inventory{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	inv := reconcile.Inventory{Host: host}
	for i := range s.devices {
		if s.devices[i].host == host {
			inv.Devices = append(inv.Devices, clone(s.devices[i].device))
		}
	}
	return inv, nil
}

// Insert implements [reconcile.Store].
func (s *Store) Insert(ctx context.Context, host string, ds []reconcile.Device) ([]reconcile.Device, error) {
	s.before("Insert")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range ds {
		if slices.ContainsFunc(s.devices, func(r row) bool { return r.device.UUID == ds[i].UUID }) {
			return nil, reconcile.ErrStale
		}
	}
	if err := s.fault("Insert"); err != nil {
		return nil, err
	}
	return s.insert(host, ds), nil
}

func (s *Store) insert(host string, ds []reconcile.Device) []reconcile.Device {
	out := make([]reconcile.Device, len(ds))
	for i := range ds {
		d := clone(ds[i])
		d.ID = s.id()
		d.ControlPath.ID, d.ControlPath.UUID = s.id(), uuid.NewString()
		if d.UUID == "" {
			d.UUID = uuid.NewString()
		}
		if d.Status == "" {
			d.Status = reconcile.StatusEnabled
		}
		if d.State == reconcile.StateUnset {
			d.State = reconcile.StateAvailable
		}
		for k := range d.Deployables {
			s.identify(&d.Deployables[k])
		}
		s.devices = append(s.devices, row{host, d})
		out[i] = clone(d)
	}
	return out
}

// identify gives a new deployable and what is below it ids.
func (s *Store) identify(p *reconcile.Deployable) {
	p.ID, p.UUID, p.UpdatedAt = s.id(), uuid.NewString(), time.Time{}
	for i := range p.Attributes {
		p.Attributes[i].ID, p.Attributes[i].UUID = s.id(), uuid.NewString()
	}
	for i := range p.Handles {
		p.Handles[i].ID, p.Handles[i].UUID = s.id(), uuid.NewString()
	}
}

// Withdraw implements [reconcile.Store].
func (s *Store) Withdraw(ctx context.Context, seen []reconcile.Version) ([]reconcile.Claim, error) {
	s.before("Withdraw")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]*reconcile.Deployable, len(seen))
	for i, v := range seen {
		p := s.deployable(v.ID)
		if p == nil || !p.UpdatedAt.Equal(v.UpdatedAt) {
			return nil, reconcile.ErrStale
		}
		rows[i] = p
	}
	if err := s.fault("Withdraw"); err != nil {
		return nil, err
	}
	claims := make([]reconcile.Claim, len(seen))
	for i, p := range rows {
		p.Offer, p.UpdatedAt = "", s.now()
		claims[i] = reconcile.Claim{ID: p.ID, UpdatedAt: p.UpdatedAt}
	}
	return claims, nil
}

// Offer implements [reconcile.Store].
func (s *Store) Offer(ctx context.Context, claims []reconcile.Claim) ([]reconcile.Claim, error) {
	s.before("Offer")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault("Offer"); err != nil {
		return nil, err
	}
	var lost []reconcile.Claim
	for _, c := range claims {
		p := s.deployable(c.ID)
		if p == nil || p.Offer != "" || !p.UpdatedAt.Equal(c.UpdatedAt) {
			lost = append(lost, c)
			continue
		}
		p.Offer = c.Offer
	}
	return lost, nil
}

// Remove implements [reconcile.Store].
func (s *Store) Remove(ctx context.Context, d *reconcile.Device) error {
	s.before("Remove")
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(d.ID)
	if i < 0 {
		return reconcile.ErrStale
	}
	p := reconcile.DevicePlan{Have: d, Steps: []reconcile.Step{reconcile.DeleteDevice{}}}
	if err := p.Check(&s.devices[i].device); err != nil {
		return err
	}
	if err := s.fault("Remove"); err != nil {
		return err
	}
	s.devices = slices.Delete(s.devices, i, i+1)
	return nil
}

// Commit implements [reconcile.Store].
func (s *Store) Commit(ctx context.Context, p reconcile.DevicePlan) (reconcile.Device, error) {
	s.before("Commit")
	if err := ctx.Err(); err != nil {
		return reconcile.Device{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(p.Have.ID)
	if i < 0 {
		return reconcile.Device{}, reconcile.ErrStale
	}
	if err := p.Check(&s.devices[i].device); err != nil {
		return reconcile.Device{}, err
	}
	if err := s.fault("Commit"); err != nil {
		return reconcile.Device{}, err
	}
	d := clone(s.devices[i].device)
	for _, step := range p.Steps {
		if err := s.apply(&d, step); err != nil {
			return reconcile.Device{}, err
		}
	}
	for k := range d.Deployables {
		if slices.Contains(p.Touched(), d.Deployables[k].ID) {
			d.Deployables[k].UpdatedAt = s.now()
		}
	}
	s.devices[i].device = d
	return clone(d), nil
}

// apply carries out one row step.
func (s *Store) apply(d *reconcile.Device, step reconcile.Step) error {
	switch t := step.(type) {
	case reconcile.SetBoard:
		d.Type, d.Vendor, d.Model = t.Type, t.Vendor, t.Model
		d.StdBoardInfo, d.VendorBoardInfo = t.StdBoardInfo, t.VendorBoardInfo
		return nil
	case reconcile.InsertDeployable:
		p := cloneDeployable(*t.Deployable)
		s.identify(&p)
		d.Deployables = append(d.Deployables, p)
		return nil
	case reconcile.DeleteDeployable:
		d.Deployables = slices.DeleteFunc(d.Deployables, func(p reconcile.Deployable) bool { return p.ID == t.Deployable })
		return nil
	}
	id, edit := s.edit(step)
	for k := range d.Deployables {
		if d.Deployables[k].ID == id && edit != nil {
			edit(&d.Deployables[k])
			return nil
		}
	}
	return fmt.Errorf("reconciletest: no deployable for step %v", step)
}

// edit gives the deployable that a step changes, and the change.
func (s *Store) edit(step reconcile.Step) (int64, func(*reconcile.Deployable)) {
	switch t := step.(type) {
	case reconcile.SetNumAccelerators:
		return t.Deployable, func(p *reconcile.Deployable) { p.NumAccelerators = t.To }
	case reconcile.SetDriverName:
		return t.Deployable, func(p *reconcile.Deployable) { p.DriverName = &t.To }
	case reconcile.InsertAttribute:
		return t.Deployable, func(p *reconcile.Deployable) {
			p.Attributes = append(p.Attributes, reconcile.Attribute{ID: s.id(), UUID: uuid.NewString(), Key: t.Key, Value: t.Value})
		}
	case reconcile.SetAttribute:
		return t.Deployable, func(p *reconcile.Deployable) {
			for i := range p.Attributes {
				if p.Attributes[i].ID == t.Attribute {
					p.Attributes[i].Value = t.To
				}
			}
		}
	case reconcile.DeleteAttribute:
		return t.Deployable, func(p *reconcile.Deployable) {
			p.Attributes = slices.DeleteFunc(p.Attributes, func(a reconcile.Attribute) bool { return a.ID == t.Attribute })
		}
	case reconcile.InsertHandle:
		return t.Deployable, func(p *reconcile.Deployable) {
			p.Handles = append(p.Handles, reconcile.Handle{ID: s.id(), UUID: uuid.NewString(), Type: t.Type, Info: t.Info, InUse: t.InUse})
		}
	case reconcile.SetHandleInfo:
		return t.Deployable, onHandle(t.Handle, func(h *reconcile.Handle) { h.Info = t.To })
	case reconcile.SetHandleType:
		return t.Deployable, onHandle(t.Handle, func(h *reconcile.Handle) { h.Type = t.To })
	case reconcile.DeleteHandle:
		return t.Deployable, func(p *reconcile.Deployable) {
			p.Handles = slices.DeleteFunc(p.Handles, func(h reconcile.Handle) bool { return h.ID == t.Handle })
		}
	}
	return 0, nil
}

func onHandle(id int64, do func(*reconcile.Handle)) func(*reconcile.Deployable) {
	return func(p *reconcile.Deployable) {
		for i := range p.Handles {
			if p.Handles[i].ID == id {
				do(&p.Handles[i])
			}
		}
	}
}

func (s *Store) index(id int64) int {
	return slices.IndexFunc(s.devices, func(r row) bool { return r.device.ID == id })
}

func (s *Store) deployable(id int64) *reconcile.Deployable {
	for i := range s.devices {
		for k := range s.devices[i].device.Deployables {
			if p := &s.devices[i].device.Deployables[k]; p.ID == id {
				return p
			}
		}
	}
	return nil
}

// clone copies a device deeply: what a transaction returned stays as it was.
func clone(d reconcile.Device) reconcile.Device {
	d.Deployables = slices.Clone(d.Deployables)
	for i := range d.Deployables {
		d.Deployables[i] = cloneDeployable(d.Deployables[i])
	}
	return d
}

func cloneDeployable(p reconcile.Deployable) reconcile.Deployable {
	p.Attributes = slices.Clone(p.Attributes)
	p.Handles = slices.Clone(p.Handles)
	for i := range p.Handles {
		p.Handles[i].ARQs = slices.Clone(p.Handles[i].ARQs)
	}
	return p
}
