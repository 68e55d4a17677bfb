package reconcile

import "slices"

// Verdict is what a plan does with one device.
type Verdict string

// The verdicts. Stubs, refused and unchanged devices have no plan.
const (
	Add    Verdict = "add"
	Update Verdict = "update"
	Remove Verdict = "remove"
	Retain Verdict = "retain"
)

// Plan is what has to be done to make the stored inventory of a host agree
// with a report. It is made by [Diff]; a Plan read from JSON is for showing.
type Plan struct {
	Host string `json:"host"`
	Root string `json:"root"` // uuid of the host's own provider
	// Devices are the devices with something to do: retained, removed and
	// updated ones in the order of their ids, then added ones as reported. A
	// retained device is listed even when nothing is left to do for it.
	Devices   []DevicePlan `json:"devices"`
	Problems  []Problem    `json:"problems"`
	Unchanged int          `json:"unchanged"` // devices that need nothing

	want    []Device // the report, for another look after a conflict
	tree    Tree
	refused []Problem
	frozen  map[string]bool // control paths, as stored and as reported, of devices that were not compared
	waiting map[key]bool    // devices that want a name or a function of another row
}

// DevicePlan is what has to be done for one device. Nothing in it refers to
// another device.
type DevicePlan struct {
	Verdict Verdict `json:"verdict"`
	// Have is the device as read, nil for Add. A store compares it with the
	// rows before it writes.
	Have *Device `json:"-"`
	// Want is the device as reported, nil for Remove and Retain.
	Want  *Device `json:"-"`
	Steps []Step  `json:"steps"`

	double bool // Remove: another row of the same device stays
}

// Device names the device: its control path as stored, else as reported.
func (p *DevicePlan) Device() string {
	if p.Have != nil {
		return p.Have.ControlPath.Info
	}
	return p.Want.ControlPath.Info
}

// Refuse adds what the report said of devices that could not even be read.
func (p *Plan) Refuse(problems ...Problem) {
	p.Problems = append(p.Problems, problems...)
	p.refused = append(p.refused, problems...)
}

// InTree reports whether Placement showed a deployable's provider under the
// host's root. One of that name elsewhere is another host's.
func (p *Plan) InTree(name string) bool {
	id := ProviderUUID(name)
	return slices.ContainsFunc(p.tree.Providers, func(q Provider) bool { return q.UUID == id })
}

// Retained counts the devices that are kept although they are not reported.
func (p *Plan) Retained() int {
	n := 0
	for i := range p.Devices {
		if p.Devices[i].Verdict == Retain {
			n++
		}
	}
	return n
}
