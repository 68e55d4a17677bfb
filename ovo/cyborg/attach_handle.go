package cyborg

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// AttachType is how an attach handle attaches to a guest.
type AttachType string

// The attach types.
const (
	AttachPCI     AttachType = "PCI"
	AttachMDEV    AttachType = "MDEV"
	AttachTestPCI AttachType = "TEST_PCI"
)

// Values lists the attach types.
func (AttachType) Values() ovo.Values { return ovo.OneOf(AttachPCI, AttachMDEV, AttachTestPCI) }

// AttachHandle is a persisted handle of a deployable: what Nova needs to attach one unit of it.
//
// Versions: 1.1 update_attach_info.
type AttachHandle struct {
	Object
	ID           ovo.Field[int64]      `ovo:"id"`
	UUID         ovo.Field[string]     `ovo:"uuid,UUID"`
	DeployableID ovo.Field[int64]      `ovo:"deployable_id"`
	CpidID       ovo.Field[int64]      `ovo:"cpid_id"`
	AttachType   ovo.Field[AttachType] `ovo:"attach_type"`
	AttachInfo   ovo.Field[string]     `ovo:"attach_info"` // JSON text, bytes as stored
	InUse        ovo.Field[bool]       `ovo:"in_use,default=False"`
}

// AttachHandles are the remotable methods of [AttachHandle].
type AttachHandles struct {
	// UpdateAttachInfo replaces the metadata of one handle if nothing of expected changed since the caller
	// read it ([HandleExpectation.Dict] makes that dict), and returns the handle as it is afterwards. With
	// requireUnallocated an allocated handle is refused too. Errors: *[StaleHandleError], with nothing
	// written; *[HandleNotFoundError]; *[InvalidArgumentError] for an expected dict of another shape.
	UpdateAttachInfo func(ctx context.Context, uuid string, expected map[string]any, attachInfo string, requireUnallocated bool) (*AttachHandle, error) `ovo:"update_attach_info(cls, context, uuid, expected, attach_info, require_unallocated)"`
}

func localAttachHandles(db AttachInfoUpdater) AttachHandles {
	return AttachHandles{UpdateAttachInfo: func(ctx context.Context, uuid string, expected map[string]any, attachInfo string, requireUnallocated bool) (*AttachHandle, error) {
		expect, err := expectationOf(expected)
		if err != nil {
			return nil, err
		}
		row, err := db.UpdateAttachInfo(ctx, AttachInfoUpdate{
			UUID: uuid, Expected: expect, AttachInfo: attachInfo, RequireUnallocated: requireUnallocated,
		})
		if err != nil {
			return nil, err
		}
		return attachHandleFromRow(*row), nil
	}}
}

func attachHandleClass() *ovo.Class {
	return ovo.NewClass[AttachHandle]("AttachHandle",
		ovo.History{ovo.V("1.0"), ovo.V("1.1", ovo.AddsMethod("update_attach_info"))}, ovo.Methods[AttachHandles]())
}

func attachHandleFromRow(r AttachHandleRow) *AttachHandle {
	return &AttachHandle{
		Object: storedTimes(r.CreatedAt, r.UpdatedAt),
		ID:     ovo.Stored(r.ID), UUID: ovo.Stored(r.UUID),
		DeployableID: ovo.Stored(r.DeployableID), CpidID: ovo.Stored(r.CpidID),
		AttachType: ovo.Stored(AttachType(r.AttachType)), AttachInfo: ovo.Stored(r.AttachInfo),
		InUse: ovo.Stored(r.InUse),
	}
}
