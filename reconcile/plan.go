package reconcile

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
// with a report.
type Plan struct {
	Host      string
	Tree      Tree         // as the plan was made against
	Devices   []DevicePlan // only those with something to do
	Problems  []Problem
	Unchanged int // devices that need nothing
}

// DevicePlan is what has to be done for one device. Nothing in it refers to
// another device.
type DevicePlan struct {
	Verdict Verdict
	// Have is the device as read, nil for Add. A store compares it with the
	// rows before it writes.
	Have *Device
	// Want is the device as reported, nil for Remove and Retain.
	Want  *Device
	Steps []Step
}

// Problem is something a plan could not or would not do. It is a value, stable
// from run to run, so that a change of the set can be told.
type Problem struct {
	Host       string        `json:"host"`
	Device     string        `json:"device"` // control path, as stored or reported
	Deployable string        `json:"deployable,omitempty"`
	Handle     string        `json:"handle,omitempty"` // address or text
	Field      string        `json:"field,omitempty"`
	Reason     ProblemReason `json:"reason"`
	Stored     string        `json:"stored,omitempty"`
	Reported   string        `json:"reported,omitempty"`
	Detail     string        `json:"detail,omitempty"`
}

// ProblemReason says what kind of problem it is.
type ProblemReason string
