package conductor

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// errNoGroups refuses a profile object without groups.
var errNoGroups = errors.New("DeviceProfile needs groups field.")

func (m *Manager) deviceProfileCreate(ctx context.Context, a cyborgrpc.DeviceProfileArgs) (json.RawMessage, error) {
	if !a.Profile.Groups.IsSet() {
		return nil, errNoGroups
	}
	created, err := m.cfg.Store.CreateProfile(ctx, store.Profile{
		UUID: a.Profile.UUID.Value(), Name: a.Profile.Name.Value(),
		Groups: groupsOf(a.Profile), Description: a.Profile.Description.Ptr(),
	})
	if err != nil {
		return nil, err
	}
	return m.wire.Reply(a.Profile, profileObject(created))
}

func (m *Manager) deviceProfileDelete(ctx context.Context, a cyborgrpc.DeviceProfileArgs) error {
	return m.cfg.Store.DeleteProfile(ctx, a.Profile.UUID.Value())
}

func groupsOf(p *cyborg.DeviceProfile) []arq.Group {
	return nil
}
