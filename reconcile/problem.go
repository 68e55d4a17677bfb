package reconcile

import (
	"fmt"
	"strings"
)

// Problem is something a plan could not or would not do. It is a comparable
// value, the same from run to run as long as nothing changes, so that a change
// of the set can be told.
type Problem struct {
	Host       string        `json:"host"`
	Device     string        `json:"device,omitempty"`     // cpid_info, as stored or reported
	Deployable string        `json:"deployable,omitempty"` // name
	Handle     string        `json:"handle,omitempty"`     // PCI address, else attach_info
	Field      string        `json:"field,omitempty"`
	Reason     ProblemReason `json:"reason"`
	Stored     string        `json:"stored,omitempty"`
	Reported   string        `json:"reported,omitempty"`
	Detail     string        `json:"detail,omitempty"`
}

// ProblemReason says what kind of problem it is.
type ProblemReason string

// The problems. Those marked "refused" leave the device as it is stored.
const (
	// ReasonInvalid: a value of the report is not acceptable; refused.
	ReasonInvalid ProblemReason = "invalid_value"
	// ReasonDuplicate: the control path is reported twice with different
	// content; the first counts.
	ReasonDuplicate ProblemReason = "reported_twice"
	// ReasonNameTaken: another device has a deployable of this name; refused.
	ReasonNameTaken ProblemReason = "name_taken"
	// ReasonFunctionTaken: a handle would be the second row of a function that
	// has one elsewhere on the host, or that another device of the report has;
	// the new device, or the deployable of a stored one, waits until the other
	// row has gone.
	ReasonFunctionTaken ProblemReason = "function_taken"
	// ReasonTypeHeld: the type of a held device may not change; refused.
	ReasonTypeHeld ProblemReason = "type_change_while_held"
	// ReasonTwins: two stored rows with one identity are both held; refused.
	ReasonTwins ProblemReason = "held_twice"
	// ReasonMissing: a held device, deployable or handle is not reported; it
	// is retained.
	ReasonMissing ProblemReason = "missing_but_held"
	// ReasonManaged: the report would change the managed mode of a held
	// handle; the stored text stays.
	ReasonManaged ProblemReason = "managed_conflict"
	// ReasonInfo: a stored attach_info is invalid; the text stays.
	ReasonInfo ProblemReason = "invalid_attach_info"
	// ReasonHandleHeld: the report would change a held handle; it stays.
	ReasonHandleHeld ProblemReason = "handle_change_while_held"
	// ReasonClassHeld: the resource class of a deployable may not change while
	// something is allocated from it; the old class stays.
	ReasonClassHeld ProblemReason = "class_change_while_held"
	// ReasonNoClass: a stored deployable has no resource class, so its
	// inventory cannot be reserved.
	ReasonNoClass ProblemReason = "no_resource_class"
	// ReasonOrphan: a provider that Cyborg made has no row.
	ReasonOrphan ProblemReason = "provider_without_row"
	// ReasonForeign: the provider's name or uuid belongs to somebody else.
	ReasonForeign ProblemReason = "foreign_provider"
	// ReasonAllocated: Placement refused to delete the provider of a missing
	// device; it is retained.
	ReasonAllocated ProblemReason = "missing_but_allocated"
	// ReasonUnreachable: Placement could not be reached or failed; the next
	// report repeats.
	ReasonUnreachable ProblemReason = "placement_unreachable"
	// ReasonRefused: Placement refused a request.
	ReasonRefused ProblemReason = "placement_refused"
	// ReasonDatabase: the database refused the device.
	ReasonDatabase ProblemReason = "database_refused"
	// ReasonBusy: the device kept changing while it was written; the next
	// report repeats.
	ReasonBusy ProblemReason = "keeps_changing"
)

// String is one line for an operator.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: host %s", p.Reason, p.Host)
	for _, f := range [...]struct{ name, value string }{
		{"device", p.Device},
		{"deployable", p.Deployable},
		{"handle", p.Handle},
		{"field", p.Field},
		{"stored", p.Stored},
		{"reported", p.Reported},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, ", %s %s", f.name, f.value)
		}
	}
	if p.Detail != "" {
		b.WriteString(": " + p.Detail)
	}
	return b.String()
}
