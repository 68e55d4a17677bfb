package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// ARQState is the state of an accelerator request on the wire.
type ARQState string

// The ARQ states.
const (
	ARQInitial      ARQState = "Initial"
	ARQBindStarted  ARQState = "BindStarted"
	ARQBound        ARQState = "Bound"
	ARQUnbound      ARQState = "Unbound"
	ARQBindFailed   ARQState = "BindFailed"
	ARQUnbindFailed ARQState = "UnbindFailed" // exists on the wire only, never stored
	ARQDeleting     ARQState = "Deleting"
)

// Values lists the ARQ states.
func (ARQState) Values() ovo.Values {
	return ovo.OneOf(ARQInitial, ARQBindStarted, ARQBound, ARQUnbound, ARQBindFailed, ARQUnbindFailed, ARQDeleting)
}

// ARQ is an accelerator request.
//
// Versions: 1.1 v2 API; 1.2 attach_handle_info keeps JSON types (strings only before). Below 1.2 managed,
// stateful and numa_node are removed from it and what is left becomes text, as Python's DictOfStrings would
// have made it.
type ARQ struct {
	Object
	ID                   ovo.Field[int64]         `ovo:"id"`
	UUID                 ovo.Field[string]        `ovo:"uuid,UUID"`
	State                ovo.Field[ARQState]      `ovo:"state,ARQState"`
	DeviceProfileName    ovo.Field[string]        `ovo:"device_profile_name"`
	DeviceProfileGroupID ovo.Field[int64]         `ovo:"device_profile_group_id"`
	Hostname             ovo.Null[string]         `ovo:"hostname"`
	DeviceRPUUID         ovo.Null[string]         `ovo:"device_rp_uuid"`
	InstanceUUID         ovo.Null[string]         `ovo:"instance_uuid"`
	ProjectID            ovo.Null[string]         `ovo:"project_id"`
	AttachHandleType     ovo.Null[string]         `ovo:"attach_handle_type"` // "" unless Bound
	AttachHandleUUID     ovo.Null[string]         `ovo:"attach_handle_uuid"`
	AttachHandleInfo     ovo.Null[map[string]any] `ovo:"attach_handle_info"` // {} unless Bound
}

func arqClass() *ovo.Class {
	return ovo.NewClass[ARQ]("ARQ", ovo.History{
		ovo.V("1.0"),
		ovo.V("1.1"),
		ovo.V("1.2", ovo.Rewrites(textInfo)),
	})
}
