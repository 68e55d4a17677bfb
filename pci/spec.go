package pci

// DeviceSpec is the value of [pci] device_spec: inclusion rules in
// configuration order. A device is included when any rule matches it, and the
// first that does decides its managed mode. The zero value includes nothing.
type DeviceSpec struct {
	// Rules are in configuration order.
	Rules []Rule
	// Warnings are about accepted but questionable entries.
	Warnings []Warning
}

// ExplicitManaged gives the places of the rules that say managed, true or
// false. When there are any, the conductor cap must permit RPC 1.1
// (specification, "Startup and periodic reporting").
func (s DeviceSpec) ExplicitManaged() []Location {
	var out []Location
	for _, r := range s.Rules {
		if r.Managed != nil {
			out = append(out, r.Location)
		}
	}
	return out
}

// Rule is one inclusion rule. All of its properties must hold for a device to
// match. The zero value matches every device.
type Rule struct {
	// Location is where the rule stands.
	Location Location
	// Managed is the explicit managed mode, nil when the rule does not say.
	Managed *bool

	vendor, product string // "" matches any
	address         addressPattern
	devname         string // "" when not given
}

// managed gives the effective mode: absent is true.
func (r *Rule) managed() bool { return r.Managed == nil || *r.Managed }

// matchesAll reports whether the rule restricts nothing.
func (r *Rule) matchesAll() bool {
	return r.vendor == "" && r.product == "" && r.devname == "" && r.address.matchesAll()
}

// matches tells whether all properties hold. A device whose parent matches the
// one concrete address of a physical function matches too, if withParent.
func (r *Rule) matches(d Device, facts hostFacts, withParent bool) bool {
	if r.vendor != "" && r.vendor != d.VendorID || r.product != "" && r.product != d.ProductID {
		return false
	}
	concrete := r.address.concrete
	if r.devname != "" {
		a, ok := facts.netdevs[r.devname]
		if !ok {
			return false
		}
		if a == d.Address {
			return true
		}
		concrete = &a
	} else if r.address.matches(d.Address) {
		return true
	}
	return withParent && concrete != nil && facts.pfs[*concrete] && d.Parent != nil && *d.Parent == *concrete
}

// Violation is one place where an entry breaks the JSON Schema.
type Violation struct {
	// Pointer is the absolute JSON pointer of the place, "" for the entry.
	Pointer string
	// Keyword is the JSON Schema keyword that failed.
	Keyword string
}

// SchemaCheck checks one decoded entry (an object of encoding/json values with
// json.Number for numbers) against the JSON Schema of device_spec entries. It
// must not change the entry. Package pci/specschema has one.
type SchemaCheck func(entry map[string]any) []Violation
