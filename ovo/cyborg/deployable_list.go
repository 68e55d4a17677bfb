package cyborg

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo"
)

// DeployableList is the deployables of one lookup.
//
// Versions: 1.0 get_by_hostname, members Deployable 1.1.
type DeployableList struct {
	ovo.List[Deployable]
	Object
}

// DeployableLists are the remotable methods of [DeployableList].
type DeployableLists struct {
	// GetByHostname returns the deployables of the devices of one compute host. Reads only.
	GetByHostname func(ctx context.Context, hostname string) (*DeployableList, error) `ovo:"get_by_hostname(cls, context, hostname)"`
}

func localDeployableLists(db DeployableReader) DeployableLists {
	return DeployableLists{GetByHostname: func(ctx context.Context, hostname string) (*DeployableList, error) {
		rows, err := db.DeployablesByHostname(ctx, hostname)
		if err != nil {
			return nil, err
		}
		return ovo.ListOf[DeployableList](fromRows(rows, deployableFromRow)), nil
	}}
}

func deployableListClass() *ovo.Class {
	return ovo.NewClass[DeployableList](NameDeployableList,
		ovo.History{ovo.V("1.0", ovo.Part("objects", "1.1"))}, ovo.Methods[DeployableLists]())
}
