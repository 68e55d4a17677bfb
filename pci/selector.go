package pci

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Verdict is what became of one device.
type Verdict string

// The verdicts.
const (
	// Selected: report the device.
	Selected Verdict = "selected"
	// Unmatched: no rule matches the device.
	Unmatched Verdict = "unmatched"
	// Excluded: a rule matches, and exclude_list names the address.
	Excluded Verdict = "excluded"
	// Refused: a rule matches, and the class guard refuses the device. No
	// report may be sent while any device is refused.
	Refused Verdict = "refused"
)

// Decision is what was decided for one device, and why.
type Decision struct {
	Device  Device
	Verdict Verdict
	// Rule is where the first matching rule stands; nil when Unmatched.
	Rule *Location
	// Managed is the effective managed mode of the first matching rule: true
	// when the rule does not say.
	Managed bool
	// ManagedExplicit tells that the rule says it, and that the report must
	// carry the key.
	ManagedExplicit bool
	// Unsafe tells that the class guard would have refused the device and the
	// workaround admitted it. Such a device keeps data between tenants.
	Unsafe bool
	// Reason explains the verdict to an operator.
	Reason string
}

// Selector decides which devices may be managed. The zero value selects
// nothing.
type Selector struct {
	// Spec holds the inclusion rules.
	Spec DeviceSpec
	// Exclude holds the addresses that are never reported.
	Exclude ExcludeList
	// AllowUnsafe is [workarounds] allow_unsafe_devices: it bypasses the class
	// guard and nothing else. The operator then answers for data that passes
	// between tenants.
	AllowUnsafe bool
	// MatchParent lets a rule with one concrete address of a physical function
	// select its virtual functions too, as Nova does. The default, false, is
	// what Cyborg 17 does at run time: the address selects the physical
	// function alone. Switching it on makes a running host report all virtual
	// functions next to an assignable physical function; assigning the
	// physical function destroys them.
	MatchParent bool
}

// Selection is the outcome of [Selector.Select].
type Selection struct {
	// Decisions has one element for each device, in ascending address order.
	Decisions []Decision
	// Warnings are in the order of the decisions.
	Warnings []Warning
}

// Selected gives the decisions whose device is to be reported, in ascending
// address order.
func (s Selection) Selected() []Decision { return s.with(Selected) }

func (s Selection) with(v Verdict) []Decision {
	var out []Decision
	for _, d := range s.Decisions {
		if d.Verdict == v {
			out = append(out, d)
		}
	}
	return out
}

// ErrUnknownClass says that the class of a selected device cannot be read.
// It is transient: the report must be withheld, and the next may succeed.
var ErrUnknownClass = errors.New("the pci class of selected devices cannot be read")

// Err tells whether a report may be sent: nil, or an error for which
// errors.As finds a [*ClassError] (a configuration error: at start the service
// must stop, later the report is withheld), or errors.Is an
// [ErrUnknownClass], or both.
func (s Selection) Err() error {
	var excluded, unknown []Decision
	for _, d := range s.with(Refused) {
		if d.Device.Class.Known() {
			excluded = append(excluded, d)
		} else {
			unknown = append(unknown, d)
		}
	}
	var errs []error
	if excluded != nil {
		errs = append(errs, &ClassError{Refused: excluded})
	}
	if unknown != nil {
		errs = append(errs, fmt.Errorf("%w: %s", ErrUnknownClass, refusedText(unknown)))
	}
	return errors.Join(errs...)
}

// NewWarnings gives the warnings that the previous selection did not have.
func (s Selection) NewWarnings(previous Selection) []Warning {
	return NewWarnings(s.Warnings, previous.Warnings)
}

// ClassError says that selected devices belong to an excluded PCI class.
type ClassError struct {
	// Refused are the decisions for these devices.
	Refused []Decision
}

func (e *ClassError) Error() string {
	return fmt.Sprintf("the generic pci driver refuses devices of an excluded pci class: %s; "+
		"narrow [pci] device_spec, name the addresses in [pci] exclude_list, or set "+
		"[workarounds] allow_unsafe_devices = true and answer for data left on the devices between tenants",
		refusedText(e.Refused))
}

func refusedText(refused []Decision) string {
	parts := make([]string, len(refused))
	for i, d := range refused {
		parts[i] = fmt.Sprintf("%s (class %s, kernel driver %s, selected by %s)",
			d.Device.Address, classText(d.Device.Class), driverText(d.Device.Driver), d.Rule)
	}
	return strings.Join(parts, ", ")
}

func classText(c Class) string {
	if !c.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%04x, %s", c.Code()>>8, c)
}

func driverText(driver string) string {
	if driver == "" {
		return "none"
	}
	return driver
}

// Select decides for every device. It does not change devices.
func (s Selector) Select(devices []Device) Selection {
	devices = slices.SortedFunc(slices.Values(devices), func(a, b Device) int { return a.Address.Compare(b.Address) })
	facts := newHostFacts(devices)
	sel := Selection{Decisions: make([]Decision, 0, len(devices))}
	for _, d := range devices {
		decision, warnings := s.decide(d, facts)
		sel.Decisions = append(sel.Decisions, decision)
		sel.Warnings = append(sel.Warnings, warnings...)
	}
	sel.Warnings = append(sel.Warnings, parentWarnings(sel.Selected())...)
	return sel
}
