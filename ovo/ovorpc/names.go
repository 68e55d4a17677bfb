package ovorpc

import (
	"encoding/json"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/rpc"
)

// Names are what the three operations are called on an RPC interface.
type Names struct {
	ClassAction string // a class method
	Action      string // an instance method
	Backport    string // conversion to older versions
	Version     string // the version of the interface that has them, for example "1.1"
}

// DefaultNames are the names that Nova and Cyborg use, at version 1.1 as in Cyborg's conductor.
func DefaultNames() Names {
	return Names{
		ClassAction: "object_class_action_versions",
		Action:      "object_action",
		Backport:    "object_backport_versions",
		Version:     "1.1",
	}
}

// Methods are the operations of one RPC interface as values, for its clients and its servers.
type Methods struct {
	ClassAction *rpc.Method[ClassActionArgs, json.RawMessage]
	Action      *rpc.Method[ActionArgs, json.RawMessage]
	Backport    *rpc.Method[BackportArgs, json.RawMessage]
}

// NewMethods makes the operations with these names. It fails on an empty name and on a malformed version.
func NewMethods(n Names) (Methods, error) {
	if n.ClassAction == "" || n.Action == "" || n.Backport == "" {
		return Methods{}, fmt.Errorf("names of object operations: %+v has an empty one", n)
	}
	if _, err := rpc.ParseVersion(n.Version); err != nil {
		return Methods{}, fmt.Errorf("version of object operations: %w", err)
	}
	return Methods{
		ClassAction: rpc.NewMethod[ClassActionArgs, json.RawMessage](n.ClassAction, n.Version),
		Action:      rpc.NewMethod[ActionArgs, json.RawMessage](n.Action, n.Version),
		Backport:    rpc.NewMethod[BackportArgs, json.RawMessage](n.Backport, n.Version).Idempotent(),
	}, nil
}

// ClassActionArgs are the arguments of the class-method operation.
type ClassActionArgs struct {
	Object   string          `json:"objname"`
	Method   string          `json:"objmethod"`
	Versions ovo.Manifest    `json:"object_versions"`
	Args     json.RawMessage `json:"args"`
	Kwargs   json.RawMessage `json:"kwargs"`
}

// ActionArgs are the arguments of the instance-method operation. Its result is the pair [updates, result].
type ActionArgs struct {
	Object json.RawMessage `json:"objinst"`
	Method string          `json:"objmethod"`
	Args   json.RawMessage `json:"args"`
	Kwargs json.RawMessage `json:"kwargs"`
}

// BackportArgs are the arguments of the conversion.
type BackportArgs struct {
	Object   json.RawMessage `json:"objinst"`
	Versions ovo.Manifest    `json:"object_versions"`
}
