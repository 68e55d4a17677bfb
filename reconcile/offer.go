package reconcile

import (
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// Keys of the attributes that Placement sees.
const (
	keyClass    = "rc"
	prefixTrait = "trait"
)

// Offered reports whether deployables of d shall be on offer: a device that is
// reported and, being NVMe, is not waiting for or in cleaning.
func Offered(d *Device, reported bool) bool {
	if !reported {
		return false
	}
	return d.Type != arq.DeviceTypeNVMe || d.State == StateAvailable || d.State == StateAllocated
}

// DesiredReserved gives the inventory that Placement shall hold for a
// deployable; every inventory write in the project goes through it. retained
// is the number of held handles that are no longer reported nor counted in
// num_accelerators: they stay in total because their allocations live, and in
// reserved because nobody else may have them. Everything is reserved while the device is missing, in
// maintenance, or an NVMe device that is not available (reserved at bind, so
// that no window opens when its guest leaves).
func DesiredReserved(d *Device, p *Deployable, reported bool, retained int) (total, reserved int) {
	total = p.NumAccelerators + retained
	if !reported || d.Status == StatusMaintaining || d.Type == arq.DeviceTypeNVMe && d.State != StateAvailable {
		return total, total
	}
	return total, retained
}

// Class is the deployable's resource class: the value of its first attribute
// with the key rc; "" without one.
func (p *Deployable) Class() string {
	for i := range p.Attributes {
		if p.Attributes[i].Key == keyClass {
			return p.Attributes[i].Value
		}
	}
	return ""
}

// Traits are the values of the attributes whose key starts with "trait", each
// once.
func (p *Deployable) Traits() []string {
	var traits []string
	seen := map[string]bool{}
	for i := range p.Attributes {
		a := &p.Attributes[i]
		if strings.HasPrefix(a.Key, prefixTrait) && firstOfKey(p.Attributes, i) && !seen[a.Value] {
			seen[a.Value] = true
			traits = append(traits, a.Value)
		}
	}
	return traits
}

// firstOfKey reports whether the i-th attribute is the first with its key.
func firstOfKey(as []Attribute, i int) bool {
	for j := range i {
		if as[j].Key == as[i].Key {
			return false
		}
	}
	return true
}
