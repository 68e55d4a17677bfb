package cyborg

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// ControlpathIDList is the control paths of one lookup.
//
// Versions: 1.0 get_by_hostname, members ControlpathID 1.1.
type ControlpathIDList struct {
	ovo.List[ControlpathID]
	Object
}

// ControlpathIDLists are the remotable methods of [ControlpathIDList].
type ControlpathIDLists struct {
	// GetByHostname returns the control paths of the devices of one compute host. Reads only.
	GetByHostname func(ctx context.Context, hostname string) (*ControlpathIDList, error) `ovo:"get_by_hostname(cls, context, hostname)"`
}

func localControlpathIDLists(db ControlpathIDReader) ControlpathIDLists {
	return ControlpathIDLists{GetByHostname: func(ctx context.Context, hostname string) (*ControlpathIDList, error) {
		rows, err := db.ControlpathIDsByHostname(ctx, hostname)
		if err != nil {
			return nil, err
		}
		return ovo.ListOf[ControlpathIDList](fromRows(rows, controlpathIDFromRow)), nil
	}}
}

func controlpathIDListClass() *ovo.Class {
	return ovo.NewClass[ControlpathIDList](NameControlpathIDList,
		ovo.History{ovo.V("1.0", ovo.Part("objects", "1.1"))}, ovo.Methods[ControlpathIDLists]())
}
