package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// ExtARQ is an ARQ with what the conductor keeps beside it.
//
// Versions: 1.1 v2 API; 1.2 deployable_id; 1.3 ARQ 1.2.
type ExtARQ struct {
	Object
	ARQ                ovo.Field[*ARQ]             `ovo:"arq"`
	Substate           ovo.Field[string]           `ovo:"substate"`
	DeployableUUID     ovo.Null[string]            `ovo:"deployable_uuid,UUID"`
	DeviceProfileGroup ovo.Null[map[string]string] `ovo:"device_profile_group"`
	AttachHandleID     ovo.Null[int64]             `ovo:"attach_handle_id"`
	DeployableID       ovo.Null[int64]             `ovo:"deployable_id"`
}

func extARQHistory() ovo.History {
	return ovo.History{
		ovo.V("1.0", ovo.Part("arq", "1.0")),
		ovo.V("1.1", ovo.Part("arq", "1.1")),
		ovo.V("1.2", ovo.Adds("deployable_id")),
		ovo.V("1.3", ovo.Part("arq", "1.2")),
	}
}

func extARQClass() *ovo.Class { return ovo.NewClass[ExtARQ]("ExtARQ", extARQHistory()) }

// FPGAExtARQ is an [ExtARQ] whose device may need programming: the same fields and versions under a name of
// its own.
type FPGAExtARQ struct{ ExtARQ }

func fpgaExtARQClass() *ovo.Class { return ovo.NewClass[FPGAExtARQ]("FPGAExtARQ", extARQHistory()) }
