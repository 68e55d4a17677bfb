package cyborgrpc

import (
	"encoding/json"

	"github.com/go-cyborg/cyborg/daemons/internal/upgradelevels"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// ConductorTopic is the topic of every conductor.
const ConductorTopic = "cyborg-conductor"

// ConductorVersion is the highest version of the conductor interface that this code speaks.
const ConductorVersion = upgradelevels.ConductorVersion

// The methods of the conductor, version 1.0.
var (
	ReportData              = rpc.NewMethod[ReportDataArgs, rpc.Null]("report_data", "1.0").Idempotent()
	DeviceProfileCreate     = rpc.NewMethod[DeviceProfileArgs, json.RawMessage]("device_profile_create", "1.0")
	DeviceProfileDelete     = rpc.NewMethod[DeviceProfileArgs, rpc.Null]("device_profile_delete", "1.0").Idempotent()
	ARQCreate               = rpc.NewMethod[ARQCreateArgs, json.RawMessage]("arq_create", "1.0")
	ARQDeleteByUUID         = rpc.NewMethod[ARQDeleteByUUIDArgs, rpc.Null]("arq_delete_by_uuid", "1.0").Idempotent()
	ARQDeleteByInstanceUUID = rpc.NewMethod[ARQDeleteByInstanceArgs, rpc.Null]("arq_delete_by_instance_uuid", "1.0").Idempotent()
	ARQApplyPatch           = rpc.NewMethod[ARQApplyPatchArgs, rpc.Null]("arq_apply_patch", "1.0")
)

// ObjectMethods are the object operations of the conductor, version 1.1. An error means that the names are
// wrong, which is a mistake of the program.
func ObjectMethods() (ovorpc.Methods, error) { return ovorpc.NewMethods(ovorpc.DefaultNames()) }

// ReportDataArgs are the arguments of report_data.
type ReportDataArgs struct {
	Hostname string           `json:"hostname"` // name of the host's resource provider
	Devices  []ReportedDevice `json:"driver_device_list"`
}

// ReportedDevice is one device of a report. On the receiving side Err says why a device could not be read, so
// that it can be refused without refusing its neighbours; Device is nil then, and Path its control path if at least
// that can be read.
type ReportedDevice struct {
	Device *cyborg.DriverDevice
	Err    error
	Path   *cyborg.DriverControlPathID
}

// DeviceProfileArgs are the arguments of device_profile_create and device_profile_delete.
type DeviceProfileArgs struct {
	Profile *cyborg.DeviceProfile `json:"obj_devprof"`
}

// ARQCreateArgs are the arguments of arq_create.
type ARQCreateArgs struct {
	ARQ       *cyborg.ExtARQ `json:"obj_extarq"`
	ProfileID int64          `json:"devprof_id"`
}

// ARQDeleteByUUIDArgs are the arguments of arq_delete_by_uuid.
type ARQDeleteByUUIDArgs struct {
	ARQs string `json:"arqs"` // UUIDs joined by commas
}

// ARQDeleteByInstanceArgs are the arguments of arq_delete_by_instance_uuid.
type ARQDeleteByInstanceArgs struct {
	Instance string `json:"instance"`
}

// ARQApplyPatchArgs are the arguments of arq_apply_patch.
type ARQApplyPatchArgs struct {
	Patches     ARQPatches           `json:"patch_list"`
	ValidFields map[string]ARQFields `json:"valid_fields"` // by ARQ UUID
}

// ARQFields are the fields that a patch sets, as the API validated them: nil, sent as null, for those that it does not.
// A peer that leaves one out means the same.
type ARQFields struct {
	Hostname     *string `json:"hostname"`
	DeviceRPUUID *string `json:"device_rp_uuid"`
	InstanceUUID *string `json:"instance_uuid"`
	ProjectID    *string `json:"project_id"`
}
