package conductor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// noUUID is what an unbound request shows as the UUID of its deployable.
const noUUID = "00000000-0000-0000-0000-000000000000"

// substate is the only value that Cyborg writes.
const substate = "Initial"

// requestObject is a stored request as the object that travels.
func requestObject(r arq.Request) (*cyborg.ExtARQ, error) {
	times := cyborg.Object{CreatedAt: timeCell(r.CreatedAt), UpdatedAt: timeCell(r.UpdatedAt)}
	inner := &cyborg.ARQ{
		Object: times,
		ID:     ovo.Stored(r.ID), UUID: ovo.Stored(r.UUID), State: ovo.Stored(cyborg.ARQState(r.State)),
		DeviceProfileName: ovo.Stored(r.ProfileName), DeviceProfileGroupID: ovo.Stored(int64(r.GroupID)),
		Hostname: textCell(r.Hostname), DeviceRPUUID: textCell(r.DeviceRPUUID),
		InstanceUUID: textCell(r.InstanceUUID), ProjectID: textCell(r.ProjectID),
	}
	if err := setHandle(inner, r); err != nil {
		return nil, err
	}
	deployable := r.DeployableUUID
	if deployable == "" {
		deployable = noUUID
	}
	outer := &cyborg.ExtARQ{
		Object: times, ARQ: ovo.Stored(inner), Substate: ovo.Stored(substate),
		DeployableUUID: textCell(deployable), DeviceProfileGroup: ovo.NullStored(groupDict(r.Group)),
		AttachHandleID: ovo.NullStored[int64](nil), DeployableID: numberCell(r.DeployableID),
	}
	if r.Handle != nil {
		outer.AttachHandleID = numberCell(r.Handle.ID)
	}
	return outer, nil
}

// setHandle shows the attach handle of a bound request, and an empty one otherwise.
func setHandle(o *cyborg.ARQ, r arq.Request) error {
	kind, info := "", map[string]any{}
	uuid := textCell("")
	if r.State == arq.Bound && r.Handle != nil {
		var err error
		if info, err = infoDict(r.Handle.Info); err != nil {
			return fmt.Errorf("attach_info of handle %s: %w", r.Handle.UUID, err)
		}
		kind, uuid = string(r.Handle.Type), textCell(r.Handle.UUID)
	}
	o.AttachHandleType, o.AttachHandleUUID, o.AttachHandleInfo = ovo.NullStored(&kind), uuid, ovo.NullStored(&info)
	return nil
}

// infoDict is the text of an attach handle as values that keep their JSON types.
func infoDict(info arq.HandleInfo) (map[string]any, error) {
	dict := map[string]any{}
	d := json.NewDecoder(bytes.NewReader([]byte(info.String())))
	d.UseNumber()
	if err := d.Decode(&dict); err != nil {
		return nil, err
	}
	for key, v := range dict {
		n, ok := v.(json.Number)
		if !ok {
			continue
		}
		i, err := n.Int64()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		dict[key] = i
	}
	return dict, nil
}

func groupDict(g arq.Group) *map[string]string {
	dict := make(map[string]string, len(g))
	for _, p := range g {
		dict[p.Key] = p.Value
	}
	return &dict
}

func timeCell(t time.Time) ovo.Null[time.Time] {
	if t.IsZero() {
		return ovo.NullStored[time.Time](nil)
	}
	return ovo.NullStored(&t)
}

func textCell(s string) ovo.Null[string] {
	if s == "" {
		return ovo.NullStored[string](nil)
	}
	return ovo.NullStored(&s)
}

func numberCell(n int64) ovo.Null[int64] {
	if n == 0 {
		return ovo.NullStored[int64](nil)
	}
	return ovo.NullStored(&n)
}
