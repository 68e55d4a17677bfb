package cyborg

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// AttachHandleList is the attach handles of one lookup.
//
// Versions: 1.0 get_by_hostname and get_referenced_by_hostname, members AttachHandle 1.1.
type AttachHandleList struct {
	ovo.List[AttachHandle]
	Object
}

// AttachHandleLists are the remotable methods of [AttachHandleList].
type AttachHandleLists struct {
	// GetByHostname returns the attach handles of the deployables of one compute host. Reads only.
	GetByHostname func(ctx context.Context, hostname string) (*AttachHandleList, error) `ovo:"get_by_hostname(cls, context, hostname)"`
	// GetReferencedByHostname returns those of them that any ARQ names, whatever its state: together with
	// in_use that is what "allocated" means. Reads only.
	GetReferencedByHostname func(ctx context.Context, hostname string) (*AttachHandleList, error) `ovo:"get_referenced_by_hostname(cls, context, hostname)"`
}

func localAttachHandleLists(db AttachHandleReader) AttachHandleLists {
	return AttachHandleLists{
		GetByHostname: func(ctx context.Context, hostname string) (*AttachHandleList, error) {
			return attachHandleList(db.AttachHandlesByHostname(ctx, hostname))
		},
		GetReferencedByHostname: func(ctx context.Context, hostname string) (*AttachHandleList, error) {
			return attachHandleList(db.ReferencedAttachHandlesByHostname(ctx, hostname))
		},
	}
}

func attachHandleList(rows []AttachHandleRow, err error) (*AttachHandleList, error) {
	if err != nil {
		return nil, err
	}
	return ovo.ListOf[AttachHandleList](fromRows(rows, attachHandleFromRow)), nil
}

func attachHandleListClass() *ovo.Class {
	return ovo.NewClass[AttachHandleList](NameAttachHandleList,
		ovo.History{ovo.V("1.0", ovo.Part("objects", "1.1"))}, ovo.Methods[AttachHandleLists]())
}
