package conductor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/rpc"
)

// arqCreate stores one request. The object says group and project; the profile is the argument, or the one that
// the object names.
func (m *Manager) arqCreate(ctx context.Context, a cyborgrpc.ARQCreateArgs) (json.RawMessage, error) {
	want := a.ARQ.ARQ.Value()
	if want == nil {
		return nil, &arq.GroupError{Group: -1, Reason: "arq_create: the object has no arq", WrongType: true}
	}
	created, err := m.cfg.Store.CreateARQs(ctx, []arq.New{{
		UUID: want.UUID.Value(), ProfileID: a.ProfileID, ProfileName: want.DeviceProfileName.Value(),
		GroupID: int(want.DeviceProfileGroupID.Value()), ProjectID: want.ProjectID.Value(),
	}})
	if err != nil {
		return nil, err
	}
	object, err := requestObject(created[0])
	if err != nil {
		return nil, err
	}
	return m.wire.Reply(a.ARQ, object)
}

// arqDeleteByUUID deletes what it can and then names what it did not find.
func (m *Manager) arqDeleteByUUID(ctx context.Context, a cyborgrpc.ARQDeleteByUUIDArgs) error {
	var missing []string
	for uuid := range strings.SplitSeq(a.ARQs, ",") {
		current, err := m.request(ctx, uuid)
		if err == nil {
			err = m.leave(ctx, current, arq.LeaveDelete)
		}
		var notFound *arq.NotFoundError
		switch {
		case errors.As(err, &notFound):
			missing = append(missing, "'"+uuid+"'")
		case err != nil:
			return err
		}
	}
	if missing != nil {
		return &arq.NotFoundError{Resource: "ARQ", Msg: "with uuids [" + strings.Join(missing, ", ") + "]"}
	}
	return nil
}

func (m *Manager) arqDeleteByInstance(ctx context.Context, a cyborgrpc.ARQDeleteByInstanceArgs) error {
	requests, err := m.cfg.Store.Requests(ctx, store.RequestFilter{Instance: a.Instance, Project: scope(ctx)})
	if err != nil {
		return err
	}
	for _, r := range requests {
		if err := m.leave(ctx, r, arq.LeaveDelete); err != nil {
			return err
		}
	}
	return nil
}

// request reads one request that the caller may see; the others do not exist for it.
func (m *Manager) request(ctx context.Context, uuid string) (arq.Request, error) {
	found, err := m.cfg.Store.Requests(ctx, store.RequestFilter{UUIDs: []string{uuid}, Project: scope(ctx)})
	if err != nil {
		return arq.Request{}, err
	}
	if len(found) == 0 {
		return arq.Request{}, &arq.NotFoundError{Resource: "ExtArq", Msg: "with uuid=" + uuid}
	}
	return found[0], nil
}

// scope is the project whose requests the caller may see, nil for all of them.
func scope(ctx context.Context) *string {
	caller := rpc.RequestOf(ctx)
	if caller.IsAdmin {
		return nil
	}
	return &caller.ProjectID
}

// arqApplyPatch binds and unbinds in the order of the patches. The first error stops the later ones; then Nova is
// told nothing, as in Cyborg 17, and what was begun before goes on. Where programming is owed the answer does not wait for it: Nova is told of the whole
// patch when it is done.
func (m *Manager) arqApplyPatch(ctx context.Context, a cyborgrpc.ARQApplyPatchArgs) error {
	var bound []arq.Request
	owed := false
	for _, patch := range a.Patches {
		r, err := m.patch(ctx, patch, a.ValidFields[patch.UUID])
		switch {
		case err != nil:
			if owed { // nobody waits for it but the rows
				m.jobs.start(ctx, func(ctx context.Context) { m.programEach(ctx, bound) })
			}
			return err
		case patch.Binds():
			bound = append(bound, r)
			owed = owed || r.State == arq.BindStarted
		}
	}
	switch {
	case bound == nil:
		return nil
	case owed:
		if m.jobs.start(ctx, func(ctx context.Context) { m.programAll(ctx, bound) }) {
			return nil
		}
		return errClosing // the sweep of another conductor ends what was begun
	}
	events, err := nova.Events(bound)
	if err != nil {
		return err
	}
	return m.cfg.Notifier.Notify(ctx, events)
}

func (m *Manager) patch(ctx context.Context, p cyborgrpc.ARQPatch, f cyborgrpc.ARQFields) (arq.Request, error) {
	current, err := m.request(ctx, p.UUID)
	if err != nil {
		return arq.Request{}, err
	}
	if !p.Binds() {
		return arq.Request{}, m.leave(ctx, current, arq.LeaveUnbind)
	}
	defer m.busy.begin("bind of " + p.UUID)()
	start := time.Now()
	r, err := m.bind(ctx, current, f)
	m.moved(r.State, start)
	return r, err
}

// moved tells what a request was led to, if anything.
func (m *Manager) moved(to arq.State, start time.Time) {
	if m.cfg.Moved != nil && to.Valid() {
		m.cfg.Moved(string(to), time.Since(start))
	}
}
