package conductor

import (
	"context"
	"encoding/json"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

func (m *Manager) deviceProfileCreate(ctx context.Context, a cyborgrpc.DeviceProfileArgs) (json.RawMessage, error) {
	switch { // what is there is stored; the rules of names and groups are the API's
	case !a.Profile.Name.IsSet():
		return nil, raise("ObjectActionError", 500, "Object action create failed because: name is required", "action", "create", "reason", "name is required")
	case !a.Profile.Groups.IsSet():
		return nil, raise("DeviceProfileGroupsExpected", 500, "DeviceProfile needs groups field.")
	}
	groups, err := cyborgrpc.GroupsOf(a.Profile.Groups.Value())
	if err != nil {
		return nil, err
	}
	created, err := m.cfg.Store.CreateProfile(ctx, store.Profile{
		UUID: a.Profile.UUID.Value(), Name: a.Profile.Name.Value(), Groups: groups,
		Description: a.Profile.Description.Ptr(), CreatedAt: a.Profile.CreatedAt.Value(),
	})
	if err != nil {
		return nil, err
	}
	object, err := profileObject(created)
	if err != nil {
		return nil, err
	}
	return m.wire.Reply(a.Profile, object)
}

func (m *Manager) deviceProfileDelete(ctx context.Context, a cyborgrpc.DeviceProfileArgs) error {
	return m.cfg.Store.DeleteProfile(ctx, a.Profile.UUID.Value())
}

// profileObject is a stored profile as the object that travels.
func profileObject(p store.Profile) (*cyborg.DeviceProfile, error) {
	groups, err := cyborgrpc.GroupDicts(p.Groups)
	return &cyborg.DeviceProfile{
		Object: cyborg.Object{CreatedAt: timeCell(p.CreatedAt), UpdatedAt: timeCell(p.UpdatedAt)},
		ID:     ovo.Stored(p.ID), UUID: ovo.Stored(p.UUID), Name: ovo.Stored(p.Name),
		Groups: ovo.Stored(groups), Description: ovo.NullStored(p.Description),
	}, err
}
