package pci

import (
	"fmt"
	"slices"
)

// hostFacts are the facts that rules need beside the device at hand.
type hostFacts struct {
	netdevs map[string]Address // interface name to address
	pfs     map[Address]bool   // physical functions
}

func newHostFacts(devices []Device) hostFacts {
	f := hostFacts{netdevs: map[string]Address{}, pfs: map[Address]bool{}}
	for _, d := range devices {
		for _, name := range d.NetDevs {
			f.netdevs[name] = d.Address
		}
		if d.PhysicalFunction() {
			f.pfs[d.Address] = true
		}
	}
	return f
}

// decide applies inclusion, exclusion and class guard to one device, in the
// order of the specification ("Internal device-class exclusions").
func (s Selector) decide(d Device, facts hostFacts) (Decision, []Warning) {
	matching := s.matching(d, facts)
	if len(matching) == 0 {
		return Decision{Device: d, Verdict: Unmatched, Reason: "no rule of [pci] device_spec matches"}, nil
	}
	first := matching[0]
	out := Decision{Device: d, Rule: &first.Location, Managed: first.managed(), ManagedExplicit: first.Managed != nil}
	guarded := d.Class.Excluded() || !d.Class.Known()
	switch {
	case s.Exclude.Contains(d.Address):
		out.Verdict = Excluded
		out.Reason = "named in [pci] exclude_list"
		return out, nil
	case guarded && !s.AllowUnsafe:
		out.Verdict = Refused
		out.Reason = fmt.Sprintf("class %s is refused by the generic pci driver", classText(d.Class))
		return out, nil
	}
	out.Verdict = Selected
	out.Unsafe = guarded
	out.Reason = "selected by " + first.Location.String()
	return out, decisionWarnings(out, matching)
}

// matching gives the rules that match the device, in configuration order.
func (s Selector) matching(d Device, facts hostFacts) []*Rule {
	var out []*Rule
	for i := range s.Spec.Rules {
		if r := &s.Spec.Rules[i]; r.matches(d, facts, s.MatchParent) {
			out = append(out, r)
		}
	}
	return out
}

func decisionWarnings(d Decision, matching []*Rule) []Warning {
	var out []Warning
	where := d.Device.Address.String()
	if d.Unsafe {
		out = append(out, Warning{WarnUnsafe, where, UnsafeWarning("generic pci driver")})
	}
	later := slices.IndexFunc(matching, func(r *Rule) bool { return r.Managed != nil && *r.Managed != d.Managed })
	if later > 0 {
		out = append(out, Warning{WarnManagedDiffers, where, fmt.Sprintf(
			"managed is %t because of %s; %s, which matches too, says %t and is not used",
			d.Managed, d.Rule, matching[later].Location, *matching[later].Managed)})
	}
	if !d.Managed && d.Device.Parent != nil && d.Device.VFIODev == "" {
		out = append(out, Warning{WarnNotAssignable, where, fmt.Sprintf(
			"managed is false, but the device is not bound to an assignment-capable driver (kernel driver %s); "+
				"bind it before a guest uses it", driverText(d.Device.Driver))})
	}
	return out
}

// UnsafeWarning is the warning that every driver gives for each device that
// [workarounds] allow_unsafe_devices admitted (specification, "Unsafe-device
// workaround"). The caller adds the address.
func UnsafeWarning(driver string) string {
	return fmt.Sprintf("UNSAFE DEVICE admitted to the %s by [workarounds] allow_unsafe_devices: "+
		"it is not cleaned between tenants, so the next tenant can read the data of the last one; "+
		"the operator is responsible for all multi-tenancy issues of its use", driver)
}

// parentWarnings tells of physical functions selected together with virtual
// functions of theirs.
func parentWarnings(selected []Decision) []Warning {
	vfs := map[Address]int{}
	for _, d := range selected {
		if d.Device.Parent != nil {
			vfs[*d.Device.Parent]++
		}
	}
	var out []Warning
	for _, d := range selected {
		if n := vfs[d.Device.Address]; n > 0 {
			out = append(out, Warning{WarnParentWithVFs, d.Device.Address.String(), fmt.Sprintf(
				"the physical function is selected together with %d of its virtual functions; "+
					"assigning it to a guest destroys them; name it in [pci] exclude_list or narrow the rule", n)})
		}
	}
	return out
}
