package reconcile

import (
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// Diff compares what is stored for a host with what it reports and with the
// providers Placement shows, and plans what has to be done. It is pure, linear
// in the number of devices and handles, and deterministic; nothing it is given
// is changed, but the plan refers to it.
//
// A report never changes device_state, in_use, status, ids or uuids of stored
// rows. Devices that the report must not or cannot change are left alone and
// named in the plan's problems.
func Diff(have Inventory, want []Device, tree Tree) Plan {
	d := &differ{
		have: have, want: want, tree: tree, find: finder{list: tree.Providers},
		match: fill(len(want), -1), found: fill(len(have.Devices), -1),
		plan: Plan{Host: have.Host, Root: tree.Root, want: want, tree: tree},
	}
	d.stub = make([]bool, len(have.Devices))
	d.twin = make([]twinRole, len(have.Devices))
	d.keeps, d.stubs, d.given = map[int]int{}, map[int]bool{}, map[key]int{}
	d.matchDevices()
	d.stored()
	d.added()
	d.orphans()
	d.plan.frozen = d.frozen()
	return d.plan
}

// differ holds the state of one [Diff].
type differ struct {
	have Inventory
	want []Device
	tree Tree
	find finder // of tree

	match []int // want -> have, -1 new, -2 repeated
	found []int // have -> want, -1 not reported
	stub  []bool
	stubs map[int]bool // reported devices of which a repetition is a stub
	twin  []twinRole
	keeps map[int]int // a double -> the row that stays; of held ones the first

	owners    map[string]int        // folded deployable name -> owner, see [differ.owner]
	functions map[key][]functionRow // see [differ.rowsOf]
	given     map[key]int           // functions that get a row by this plan -> device, numbered as in owners
	known     int                   // providers in the tree that belong to unchanged devices
	plan      Plan
}

// repeated marks a reported device whose control path was reported before.
const repeated = -2

// twinRole is the part of a stored device that shares its identity with another.
type twinRole uint8

const (
	twinNone   twinRole = iota
	twinDrop            // a free double: its rows go
	twinFrozen          // two of them are held: neither is touched
)

func fill(n, v int) []int {
	s := make([]int, n)
	if v != 0 {
		for i := range s {
			s[i] = v
		}
	}
	return s
}

// matchDevices pairs reported and stored devices: by the bytes of their
// control path first, what is left over by its canonical form.
func (d *differ) matchDevices() {
	var byInfo map[string]int
	left := false
	for i := range d.want {
		w := &d.want[i].ControlPath
		j, ok := i, i < len(d.have.Devices) && d.have.Devices[i].ControlPath.same(w) && d.found[i] < 0
		if !ok {
			if byInfo == nil {
				byInfo = make(map[string]int, len(d.have.Devices))
				for k, v := range slices.Backward(d.have.Devices) {
					byInfo[v.ControlPath.Info] = k
				}
			}
			j, ok = byInfo[w.Info]
			ok = ok && d.have.Devices[j].ControlPath.same(w)
		}
		if !ok {
			left = true
			continue
		}
		d.pair(i, j)
	}
	if left || slices.Contains(d.found, -1) {
		d.matchCanonical()
	}
}

func (p *ControlPath) same(q *ControlPath) bool { return p.Info == q.Info && p.Type == q.Type }

// pair joins the i-th reported with the j-th stored device. Of several the
// first of the report counts, whichever of them is spelt like the row.
func (d *differ) pair(i, j int) {
	d.stub[j] = d.stub[j] || d.want[i].Stub
	other := d.found[j]
	if other >= 0 && other < i {
		d.repeat(i, other)
		return
	}
	d.match[i], d.found[j] = j, i
	if other >= 0 {
		d.repeat(other, i)
	}
}

// repeat notes that the i-th reported device is the first one again.
func (d *differ) repeat(i, first int) {
	d.match[i] = repeated
	if d.want[i].Stub {
		d.stubs[first] = true
	}
	if !sameReport(&d.want[i], &d.want[first]) {
		d.problem(Problem{Reason: ReasonDuplicate, Device: d.want[first].ControlPath.Info})
	}
}

// matchCanonical pairs what the bytes did not, and finds stored twins.
func (d *differ) matchCanonical() {
	groups := make(map[key][]int, len(d.have.Devices))
	for j := range d.have.Devices {
		k := d.have.Devices[j].ControlPath.key()
		groups[k] = append(groups[k], j)
	}
	for j := range d.have.Devices {
		if g := groups[d.have.Devices[j].ControlPath.key()]; len(g) > 1 && g[0] == j {
			d.twins(g)
		}
	}
	fresh := map[key]int{}
	for i := range d.want {
		if d.match[i] != -1 {
			continue
		}
		k := d.want[i].ControlPath.reportedKey()
		if first, ok := fresh[k]; ok {
			d.repeat(i, first)
			continue
		}
		if g := groups[k]; len(g) > 0 {
			d.pair(i, d.keeper(g))
			continue
		}
		fresh[k] = i
	}
}

// keeper is the row of a group of twins that stays.
func (d *differ) keeper(group []int) int {
	for _, j := range group {
		if d.twin[j] != twinDrop {
			return j
		}
	}
	return group[0]
}

// twins decides which of several stored rows with one identity stays: the held
// one, else the one with the lowest id. When two are held, neither is touched.
func (d *differ) twins(group []int) {
	keep, held := group[0], 0
	for _, j := range group {
		switch dev := &d.have.Devices[j]; {
		case dev.Held():
			if held++; held == 1 {
				keep = j
			}
		case held == 0 && dev.ID < d.have.Devices[keep].ID:
			keep = j
		}
	}
	for _, j := range group {
		switch {
		case held > 1:
			d.twin[j] = twinFrozen
			d.keeps[j] = keep
		case j != keep:
			d.twin[j] = twinDrop
			d.keeps[j] = keep
			if i := d.found[j]; i >= 0 {
				d.found[j] = -1
				d.pair(i, keep)
			}
		}
	}
	if held > 1 {
		d.problem(Problem{Reason: ReasonTwins, Device: d.have.Devices[keep].ControlPath.Info, Detail: "two device rows of one control path are held; release one of them"})
	}
}

// reported reports whether a held double, or the row it doubles, is reported.
func (d *differ) reported(j int) bool {
	for k, keep := range d.keeps {
		if keep == d.keeps[j] && d.found[k] >= 0 {
			return true
		}
	}
	return false
}

// stored plans every stored device, in the order of their ids.
func (d *differ) stored() {
	for _, j := range d.order() {
		h := &d.have.Devices[j]
		i := d.found[j]
		switch {
		case d.stub[j], d.twin[j] == twinFrozen && d.reported(j):
		case d.twin[j] == twinDrop:
			d.remove(j)
		case i < 0 && h.Held():
			d.retain(h)
		case i < 0:
			d.remove(j)
		default:
			d.present(j, &d.want[i])
		}
	}
}

// order lists the stored devices by id; stores return them so already.
func (d *differ) order() []int {
	order := make([]int, len(d.have.Devices))
	for j := range order {
		order[j] = j
	}
	byID := func(a, b int) int { return int(d.have.Devices[a].ID - d.have.Devices[b].ID) }
	if !slices.IsSortedFunc(order, byID) {
		slices.SortStableFunc(order, byID)
	}
	return order
}

// present plans a stored device that is reported.
func (d *differ) present(j int, w *Device) {
	h := &d.have.Devices[j]
	if d.same(h, w) {
		d.plan.Unchanged++
		return
	}
	if p, ok := d.acceptable(j, h, w); !ok {
		p.Device = h.ControlPath.Info
		d.refuse(h.ControlPath, p)
		return
	}
	if w.Type != h.Type && w.Type == arq.DeviceTypeNVMe {
		// The row says nothing about what the drive holds. It is free: it goes,
		// and the next report adds the drive as unclean.
		_, _ = d.everyFunction(j, w) // it keeps its claim on them
		d.remove(j)
		return
	}
	c := change{differ: d, h: h, w: w, number: j}
	if steps := c.steps(); len(steps) > 0 {
		d.plan.Devices = append(d.plan.Devices, DevicePlan{Verdict: Update, Have: h, Want: w, Steps: steps})
		return
	}
	d.plan.Unchanged++
}

// acceptable checks a reported device that differs from what is stored.
func (d *differ) acceptable(j int, h, w *Device) (Problem, bool) {
	if p, ok := refusal(w); !ok {
		return p, false
	}
	if w.Type != h.Type && h.Held() {
		return Problem{Reason: ReasonTypeHeld, Field: "type", Stored: h.Type, Reported: w.Type}, false
	}
	return d.owner(w, j)
}

// owner claims the names of a reported device's deployables for the device
// with the given number: the index of a stored one, or len(have) plus the
// index of a new one. A name that another device has is refused, also when
// only its case differs: MariaDB takes the two for one.
func (d *differ) owner(w *Device, number int) (Problem, bool) {
	if d.owners == nil {
		d.owners = make(map[string]int, len(d.have.Devices)+len(d.want))
		for j := range d.have.Devices {
			if d.twin[j] == twinDrop {
				continue
			}
			for k := range d.have.Devices[j].Deployables {
				name := strings.ToLower(d.have.Devices[j].Deployables[k].Name)
				if _, ok := d.owners[name]; !ok {
					d.owners[name] = j
				}
			}
		}
	}
	for k := range w.Deployables {
		if o, ok := d.owners[strings.ToLower(w.Deployables[k].Name)]; ok && o != number {
			return Problem{Reason: ReasonNameTaken, Deployable: w.Deployables[k].Name, Field: "name", Detail: "used by device " + d.info(o)}, false
		}
	}
	for k := range w.Deployables {
		d.owners[strings.ToLower(w.Deployables[k].Name)] = number
	}
	return Problem{}, true
}

// frozen lists the control paths of the devices that stubs keep from being
// compared; nil when there is none.
func (d *differ) frozen() map[string]bool {
	var all map[string]bool
	add := func(info string) {
		if all == nil {
			all = map[string]bool{}
		}
		all[info] = true
	}
	for j, stub := range d.stub {
		if stub {
			add(d.have.Devices[j].ControlPath.Info)
		}
	}
	for i := range d.want {
		if d.want[i].Stub || d.stubs[i] {
			add(d.want[i].ControlPath.Info)
		}
	}
	return all
}

// info is the control path of the device with a number of [differ.owner].
func (d *differ) info(number int) string {
	if number < len(d.have.Devices) {
		return d.have.Devices[number].ControlPath.Info
	}
	return d.want[number-len(d.have.Devices)].ControlPath.Info
}

// added plans the reported devices that are not stored, as reported.
func (d *differ) added() {
	for i := range d.want {
		w := &d.want[i]
		if d.match[i] != -1 || w.Stub || d.stubs[i] {
			continue
		}
		p, ok := refusal(w)
		if ok {
			p, ok = d.claimed(w, len(d.have.Devices)+i)
		}
		if !ok {
			p.Device = w.ControlPath.Info
			d.refuse(w.ControlPath, p)
			continue
		}
		d.plan.Devices = append(d.plan.Devices, d.add(w))
	}
}

// claimed claims names and functions for a new device. One that has to wait
// for some of them keeps its claim on the others: which of two devices of a
// report gets what both want must not depend on what is stored meanwhile.
func (d *differ) claimed(w *Device, number int) (Problem, bool) {
	name, named := d.owner(w, number)
	function, free := d.everyFunction(number, w)
	if !named {
		return name, false
	}
	return function, free
}

// refuse notes why a device, or a part of it, is not taken. What it wants may
// be free when the rest of the plan has been carried out.
func (d *differ) refuse(path ControlPath, p Problem) {
	if p.Reason == ReasonNameTaken || p.Reason == ReasonFunctionTaken {
		if d.plan.waiting == nil {
			d.plan.waiting = map[key]bool{}
		}
		d.plan.waiting[path.key()] = true
	}
	d.problem(p)
}

func (d *differ) problem(p Problem) {
	p.Host, p.Device = d.have.Host, shown(p.Device)
	d.plan.Problems = append(d.plan.Problems, p)
}
