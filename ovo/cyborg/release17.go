package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// ARQ17 is the ARQ of Cyborg 17.0.0 (version 1.1): attach_handle_info holds strings only.
type ARQ17 struct {
	Object
	ID                   ovo.Field[int64]            `ovo:"id"`
	UUID                 ovo.Field[string]           `ovo:"uuid,UUID"`
	State                ovo.Field[ARQState]         `ovo:"state,ARQState"`
	DeviceProfileName    ovo.Field[string]           `ovo:"device_profile_name"`
	DeviceProfileGroupID ovo.Field[int64]            `ovo:"device_profile_group_id"`
	Hostname             ovo.Null[string]            `ovo:"hostname"`
	DeviceRPUUID         ovo.Null[string]            `ovo:"device_rp_uuid"`
	InstanceUUID         ovo.Null[string]            `ovo:"instance_uuid"`
	ProjectID            ovo.Null[string]            `ovo:"project_id"`
	AttachHandleType     ovo.Null[string]            `ovo:"attach_handle_type"`
	AttachHandleUUID     ovo.Null[string]            `ovo:"attach_handle_uuid"`
	AttachHandleInfo     ovo.Null[map[string]string] `ovo:"attach_handle_info"`
}

// ExtARQ17 is the ExtARQ of Cyborg 17.0.0 (version 1.2). It declares no child versions: converting it needs a
// manifest.
type ExtARQ17 struct {
	Object
	ARQ                ovo.Field[*ARQ17]           `ovo:"arq"`
	Substate           ovo.Field[string]           `ovo:"substate"`
	DeployableUUID     ovo.Null[string]            `ovo:"deployable_uuid,UUID"`
	DeviceProfileGroup ovo.Null[map[string]string] `ovo:"device_profile_group"`
	AttachHandleID     ovo.Null[int64]             `ovo:"attach_handle_id"`
	DeployableID       ovo.Null[int64]             `ovo:"deployable_id"`
}

// FPGAExtARQ17 is the FPGAExtARQ of Cyborg 17.0.0 (version 1.2).
type FPGAExtARQ17 struct{ ExtARQ17 }

// Release17 are the classes of Cyborg 17.0.0, all fourteen, exactly as released. They stay for ever: the
// recorded vectors run against them, and they are the old peer of compatibility tests.
func Release17() []*ovo.Class {
	extHistory := ovo.History{ovo.V("1.0"), ovo.V("1.1"), ovo.V("1.2", ovo.Adds("deployable_id"))}
	return append(sharedClasses(),
		ovo.NewClass[ARQ17]("ARQ", ovo.History{ovo.V("1.0"), ovo.V("1.1")}),
		ovo.NewClass[ExtARQ17]("ExtARQ", extHistory),
		ovo.NewClass[FPGAExtARQ17]("FPGAExtARQ", extHistory),
		ovo.NewClass[AttachHandle]("AttachHandle", ovo.History{ovo.V("1.0")}))
}

// NewRelease17 makes the registry of Cyborg 17.0.0.
func NewRelease17() (*ovo.Registry, error) { return ovo.NewRegistry(Namespace(), Release17()...) }

// Release17Versions is the table of object versions that travel on RPC 1.0: those of 17.0.0, which every peer
// of that interface reads. A message of RPC 1.0 is backlevelled to it before it is sent.
func Release17Versions() ovo.Manifest {
	return ovo.Manifest{
		"ARQ": "1.1", "ExtARQ": "1.2", "FPGAExtARQ": "1.2", "AttachHandle": "1.0", "Attribute": "1.0",
		"ControlpathID": "1.1", "Deployable": "1.1", "Device": "1.5", "DeviceProfile": "1.1",
		"DriverAttachHandle": "1.0", "DriverAttribute": "1.0", "DriverControlPathID": "1.0",
		"DriverDeployable": "1.0", "DriverDevice": "1.4",
	}
}
