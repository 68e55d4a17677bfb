package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// plainArgs are the arguments of the ordinary calls.
type plainArgs struct {
	Hostname string `json:"hostname"`
}

// ready answers with bytes that were made beforehand; its caller does not read them. ordinary is what a method made for
// the purpose would be: rows into structs, structs into JSON, and back at the caller.
var (
	ready    = rpc.NewMethod[plainArgs, json.RawMessage]("ready", "1.1")
	ordinary = rpc.NewMethod[plainArgs, primitive[members]]("ordinary", "1.1")
)

// primitive has the members of an object on the wire, so that the answers are of the same size.
type primitive[T any] struct {
	Name      string `json:"cyborg_object.name"`
	Namespace string `json:"cyborg_object.namespace"`
	Version   string `json:"cyborg_object.version"`
	Data      T      `json:"cyborg_object.data"`
}

type members struct {
	Objects   []primitive[handle] `json:"objects"`
	CreatedAt *time.Time          `json:"created_at,omitempty"`
}

type handle struct {
	ID           int64      `json:"id"`
	UUID         string     `json:"uuid"`
	DeployableID int64      `json:"deployable_id"`
	CpidID       int64      `json:"cpid_id"`
	AttachType   string     `json:"attach_type"`
	AttachInfo   string     `json:"attach_info"`
	InUse        bool       `json:"in_use"`
	CreatedAt    *time.Time `json:"created_at"`
	UpdatedAt    *time.Time `json:"updated_at"`
}

// servePlain registers the ordinary calls.
func servePlain(ep *rpc.Endpoint, db cyborg.AttachHandleReader, answer json.RawMessage) {
	ready.Handle(ep, func(context.Context, plainArgs) (json.RawMessage, error) { return answer, nil })
	ordinary.Handle(ep, func(ctx context.Context, a plainArgs) (primitive[members], error) {
		rows, err := db.AttachHandlesByHostname(ctx, a.Hostname)
		list := primitive[members]{Name: cyborg.NameAttachHandleList, Namespace: "cyborg", Version: "1.0"}
		for _, r := range rows {
			list.Data.Objects = append(list.Data.Objects, primitive[handle]{
				Name: "AttachHandle", Namespace: "cyborg", Version: "1.1", Data: handle{
					ID: r.ID, UUID: r.UUID, DeployableID: r.DeployableID, CpidID: r.CpidID, AttachType: r.AttachType,
					AttachInfo: r.AttachInfo, InUse: r.InUse, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
				},
			})
		}
		return list, err
	})
}
