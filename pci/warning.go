package pci

import "fmt"

// WarningCode names the kind of a [Warning].
type WarningCode string

// The kinds of warnings.
const (
	// WarnMatchesAll: a rule without any property selects every device.
	WarnMatchesAll WarningCode = "matches_all"
	// WarnDuplicateKey: a JSON key stands twice in an object; the last counts.
	WarnDuplicateKey WarningCode = "duplicate_key"
	// WarnUnusedKey: an accepted key without effect (physical_network).
	WarnUnusedKey WarningCode = "unused_key"
	// WarnManagedDiffers: a later matching rule carries another explicit
	// managed value; the first rule decided.
	WarnManagedDiffers WarningCode = "managed_differs"
	// WarnNotAssignable: managed=false on a virtual function that is not bound
	// to an assignment-capable driver.
	WarnNotAssignable WarningCode = "not_assignable"
	// WarnParentWithVFs: a physical function is selected together with virtual
	// functions of its own; assigning it destroys them.
	WarnParentWithVFs WarningCode = "parent_with_vfs"
	// WarnUnsafe: a device of an excluded class was admitted by the
	// workaround. The text is prominent on purpose.
	WarnUnsafe WarningCode = "unsafe"
	// WarnGone: a device vanished while it was read; it is left out.
	WarnGone WarningCode = "gone"
	// WarnWideDomain: devices in PCI domains above ffff are left out.
	WarnWideDomain WarningCode = "wide_domain"
	// WarnUnreadable: an optional fact could not be read and is unknown.
	WarnUnreadable WarningCode = "unreadable"
)

// Warning is something the operator should know and that stops nothing.
// Warnings are comparable, so that a caller who selects again and again can
// tell new ones from old ones ([NewWarnings]).
type Warning struct {
	Code WarningCode
	// Where is the rule ("[pci] device_spec, value 1") or the address.
	Where string
	// Message says what is the matter and what to do.
	Message string
}

// String gives "where: message".
func (w Warning) String() string { return fmt.Sprintf("%s: %s", w.Where, w.Message) }

// NewWarnings gives those of now that are not among before, in their order.
// With the warnings of one report and of the one before it, a periodic report
// repeats nothing, while a device that reappears is warned about again.
func NewWarnings(now, before []Warning) []Warning {
	old := make(map[Warning]bool, len(before))
	for _, w := range before {
		old[w] = true
	}
	var out []Warning
	for _, w := range now {
		if !old[w] {
			out = append(out, w)
		}
	}
	return out
}
