package reconcile

import (
	"slices"

	"github.com/go-cyborg/cyborg/arq"
)

// add plans a new device. An NVMe device whose state is not reported may hold
// anything: it starts as pending_cleaning, its handles in use.
func (d *differ) add(w *Device) DevicePlan {
	fresh := *w
	fresh.UUID = DeviceUUID(d.have.Host, w.ControlPath)
	if w.Type == arq.DeviceTypeNVMe {
		if fresh.State == StateUnset {
			fresh.State = StatePendingCleaning
		}
		if fresh.State != StateAvailable {
			fresh.Deployables = inUse(w.Deployables)
		}
	}
	steps := []Step{InsertDevice{Device: &fresh, Info: fresh.ControlPath.Info}}
	for i := range fresh.Deployables {
		steps = append(steps, syncNew(&fresh, &fresh.Deployables[i]))
	}
	return DevicePlan{Verdict: Add, Want: &fresh, Steps: steps}
}

// inUse copies deployables with every handle in use.
func inUse(ds []Deployable) []Deployable {
	ds = slices.Clone(ds)
	for i := range ds {
		ds[i].Handles = slices.Clone(ds[i].Handles)
		for k := range ds[i].Handles {
			ds[i].Handles[k].InUse = true
		}
	}
	return ds
}

func syncNew(d *Device, p *Deployable) SyncProvider {
	total, reserved := DesiredReserved(d, p, true, 0)
	return SyncProvider{
		Name: p.Name, Class: p.Class(), Traits: p.Traits(), Total: total, Reserved: reserved,
		Offer: Offered(d, true), accelerators: p.NumAccelerators,
	}
}

// remove plans the removal of a free device. A provider that another device's
// deployable owns stays.
func (d *differ) remove(j int) {
	h := &d.have.Devices[j]
	var steps []Step
	for k := range h.Deployables {
		p := &h.Deployables[k]
		if d.twin[j] == twinDrop && d.shared(j, p.Name) {
			continue
		}
		steps = append(steps, DropProvider{Deployable: p.ID, Name: p.Name})
	}
	steps = append(steps, DeleteDevice{Info: h.ControlPath.Info})
	d.plan.Devices = append(d.plan.Devices, DevicePlan{Verdict: Remove, Have: h, Steps: steps, double: d.twin[j] == twinDrop})
}

// shared reports whether the row that stays instead of the j-th has a
// deployable of that name.
func (d *differ) shared(j int, name string) bool {
	stays := d.have.Devices[d.keeps[j]].Deployables
	return slices.ContainsFunc(stays, func(p Deployable) bool { return p.Name == name })
}

// retain plans a held device that is not reported: off offer, all of it
// reserved.
func (d *differ) retain(h *Device) {
	var steps []Step
	for k := range h.Deployables {
		steps = append(steps, d.keep(h, &h.Deployables[k])...)
	}
	d.problem(Problem{Reason: ReasonMissing, Device: h.ControlPath.Info})
	d.plan.Devices = append(d.plan.Devices, DevicePlan{Verdict: Retain, Have: h, Steps: steps})
}

// keep takes a held, unreported deployable off offer and reserves it.
func (d *differ) keep(h *Device, p *Deployable) []Step {
	var steps []Step
	if p.Offer != "" {
		steps = append(steps, Withdraw{Deployable: p.ID, Name: p.Name})
	}
	if !d.inTree(p) {
		return steps
	}
	if p.Class() == "" {
		d.problem(Problem{Reason: ReasonNoClass, Device: h.ControlPath.Info, Deployable: p.Name})
		return steps
	}
	return append(steps, reserve(h, p))
}

// reserve is the reservation of a deployable that is not reported. Held handles
// beyond num_accelerators were retained before; their allocations need room.
func reserve(h *Device, p *Deployable) Reserve {
	held := 0
	for i := range p.Handles {
		if p.Handles[i].Held() {
			held++
		}
	}
	retained := max(0, held-p.NumAccelerators)
	total, reserved := DesiredReserved(h, p, false, retained)
	return Reserve{Deployable: p.ID, Name: p.Name, Class: p.Class(), Total: total, Reserved: reserved, retained: retained}
}

// inTree reports whether the tree shows the provider of a stored deployable.
func (d *differ) inTree(p *Deployable) bool {
	if p.Offer != "" {
		if v, ok := d.find.find(p.Offer); ok && v.Name == p.Name {
			return true
		}
	}
	_, ok := d.find.find(ProviderUUID(p.Name))
	return ok
}

// same reports whether a stored device needs nothing. It compares in the
// order of the rows and parses nothing; what it does not recognise is left to
// the full comparison.
func (d *differ) same(h, w *Device) bool {
	if !sameBoard(h, w) || w.ControlPath.Type != h.ControlPath.Type || len(h.Deployables) != len(w.Deployables) || !Offered(h, true) {
		return false
	}
	known := 0
	for i := range h.Deployables {
		p, q := &h.Deployables[i], &w.Deployables[i]
		if p.Name != q.Name || p.NumAccelerators != q.NumAccelerators || p.Offer == "" ||
			p.DriverName == nil && q.DriverName != nil ||
			!sameAttributes(p.Attributes, q.Attributes) || !sameHandles(p.Handles, q.Handles) {
			return false
		}
		if v, ok := d.find.find(p.Offer); !ok || v.Name != p.Name {
			return false
		}
		known++
	}
	d.known += known
	return true
}

func sameBoard(h, w *Device) bool {
	return h.Type == w.Type && h.Vendor == w.Vendor && h.Model == w.Model &&
		sameText(h.StdBoardInfo, w.StdBoardInfo) && sameText(h.VendorBoardInfo, w.VendorBoardInfo)
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameAttributes(a, b []Attribute) bool {
	return slices.EqualFunc(a, b, func(x, y Attribute) bool { return x.Key == y.Key && x.Value == y.Value })
}

func sameHandles(a, b []Handle) bool {
	return slices.EqualFunc(a, b, func(x, y Handle) bool { return x.Info == y.Info && x.Type == y.Type })
}

// sameReport reports whether two reported devices say the same.
func sameReport(a, b *Device) bool {
	return sameBoard(a, b) && a.State == b.State && a.Stub == b.Stub &&
		slices.EqualFunc(a.Deployables, b.Deployables, func(p, q Deployable) bool {
			return p.Name == q.Name && p.NumAccelerators == q.NumAccelerators && sameText(p.DriverName, q.DriverName) &&
				sameAttributes(p.Attributes, q.Attributes) && sameHandles(p.Handles, q.Handles)
		})
}

// orphans names the providers under the root that Cyborg made (their uuid is
// the function of their name) and that neither a row nor the report has.
func (d *differ) orphans() {
	if d.known >= len(d.tree.Providers)-1 {
		return // every provider but the root belongs to an unchanged row
	}
	rows := make(map[string]bool)
	for j := range d.have.Devices {
		for k := range d.have.Devices[j].Deployables {
			rows[d.have.Devices[j].Deployables[k].Name] = true
		}
	}
	for i := range d.want {
		for k := range d.want[i].Deployables {
			rows[d.want[i].Deployables[k].Name] = true
		}
	}
	var names []string
	for _, p := range d.tree.Providers {
		if p.UUID != d.tree.Root && !rows[p.Name] && p.UUID == ProviderUUID(p.Name) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.problem(Problem{Reason: ReasonOrphan, Deployable: name, Detail: "remove it with cyborg-conductor forget-host HOST --orphans"})
	}
}
