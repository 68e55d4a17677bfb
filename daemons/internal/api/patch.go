package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// The operations of a patch.
const (
	opAdd    = "add"
	opRemove = "remove"
)

// patchProject is the microversion that lets administrators set an ARQ's project.
const patchProject arq.Microversion = 1

// Patch binds or unbinds one accelerator request.
type Patch struct {
	// UUID is the request's.
	UUID string
	// Operations are those of the body, in order; all add or all remove.
	Operations []Operation
	// Fields are what a bind sets; a nil field is not set. An unbind clears
	// everything.
	Fields Fields
}

// Operation is one operation of a patch.
type Operation struct {
	// Op is add or remove, Path as the caller wrote it.
	Op, Path string
	// Value is nil for null and for remove.
	Value *string
}

// Fields are the values a bind sets.
type Fields struct {
	Hostname, DeviceRPUUID, InstanceUUID *string
	// ProjectID becomes the request's owner.
	ProjectID *string
}

// Bind reports whether the patch binds; its first operation decides.
func (p Patch) Bind() bool { return len(p.Operations) > 0 && p.Operations[0].Op == opAdd }

func (c *call) patchRequests() (int, any, error) {
	if err := c.allow("cyborg:arq:update"); err != nil {
		return 0, nil, err
	}
	body, err := c.body("patch_list")
	if err != nil {
		return 0, nil, err
	}
	patches, err := c.parsePatches(body)
	if err != nil {
		return 0, nil, err
	}
	if !c.caller.Service {
		return 0, nil, refuse(http.StatusForbidden, needsService)
	}
	if patches[0].Bind() {
		if err := c.refuseTaken(*patches[0].Fields.InstanceUUID); err != nil {
			return 0, nil, err
		}
	}
	return http.StatusAccepted, nil, c.Conductor.ApplyPatches(c.request.Context(), patches)
}

// refuseTaken refuses to bind more requests to an instance that has some: only the
// first patch's instance is looked at, as in the peer.
func (c *call) refuseTaken(instance string) error {
	rows, err := c.Store.Requests(c.request.Context(), store.RequestFilter{Instance: instance, Project: c.caller.scope()})
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return patchError("Instance %s already has accelerator requests. Cannot bind additional ARQs.", instance)
	}
	return nil
}

func patchError(format string, args ...any) error {
	return badRequest("Couldn't apply patch. Reason: %s", fmt.Sprintf(format, args...))
}

// parsePatches reads the object from ARQ UUID to list of operations, keeping its
// order: the first patch decides for the whole request, and they are applied in it.
func (c *call) parsePatches(body json.RawMessage) ([]Patch, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, wrongType("the body is of type %s, not an object", jsonKind(body))
	}
	var patches []Patch
	at := map[string]int{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, badRequest("Request is not in valid JSON format")
		}
		var list json.RawMessage
		if err := d.Decode(&list); err != nil {
			return nil, badRequest("Request is not in valid JSON format")
		}
		patch, err := c.parsePatch(list)
		if err != nil {
			return nil, err
		}
		patch.UUID, _ = key.(string)
		if i, twice := at[patch.UUID]; twice {
			patches[i] = patch
			continue
		}
		at[patch.UUID] = len(patches)
		patches = append(patches, patch)
	}
	if len(patches) == 0 {
		return nil, wrongType("list index out of range")
	}
	return patches, nil
}

// parsePatch reads and checks the operations on one ARQ in the peer's order.
func (c *call) parsePatch(list json.RawMessage) (Patch, error) {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil || jsonKind(list) != "list" {
		return Patch{}, wrongType("a patch is not a list of objects")
	}
	if err := uniform(raw); err != nil {
		return Patch{}, err
	}
	var patch Patch
	for _, members := range raw {
		op, err := c.parseOperation(members)
		if err != nil {
			return Patch{}, err
		}
		patch.Operations = append(patch.Operations, op)
		if err := patch.set(op); err != nil {
			return Patch{}, err
		}
	}
	if len(raw) == 0 {
		return Patch{}, wrongType("list index out of range")
	}
	return patch, c.complete(&patch)
}

// uniform wants every operation to be add, or every one to be remove.
func uniform(raw []map[string]json.RawMessage) error {
	for _, want := range []string{opAdd, opRemove} {
		same := true
		for _, members := range raw {
			op, given := members["op"]
			if !given {
				return wrongType("'op'")
			}
			if text := scalarText(op); text == nil || *text != want {
				same = false
				break
			}
		}
		if same {
			return nil
		}
	}
	return patchError("Every op must be add or remove")
}

func (c *call) parseOperation(members map[string]json.RawMessage) (Operation, error) {
	op := Operation{Op: *scalarText(members["op"])}
	path, given := members["path"]
	if !given {
		return op, wrongType("'path'")
	}
	if err := json.Unmarshal(path, &op.Path); err != nil || jsonKind(path) != "str" {
		return op, wrongType("a path is of type %s, not a string", jsonKind(path))
	}
	if op.field() == "project_id" {
		if c.version < patchProject {
			return op, needsVersion(patchProject)
		}
		if !c.caller.Context.IsAdmin {
			return op, refuse(http.StatusForbidden, "Access was denied to the following resource: cyborg:arq:update")
		}
	}
	value, given := members["value"]
	switch kind := jsonKind(value); {
	case op.Op == opRemove:
	case !given:
		// An unknown path is reported before a missing value.
		if err := new(Patch).set(op); err != nil {
			return op, err
		}
		return op, wrongType("'value'")
	case kind == "list" || kind == "dict":
		return op, wrongType("the value of %s is of type %s, not a string", op.Path, kind)
	default:
		op.Value = scalarText(value)
	}
	return op, nil
}

// field is the path without its leading slashes, which are optional.
func (o Operation) field() string { return strings.TrimLeft(o.Path, "/") }

// set records what an operation sets.
func (p *Patch) set(o Operation) error {
	var target **string
	switch o.field() {
	case "hostname":
		target = &p.Fields.Hostname
	case "device_rp_uuid":
		target = &p.Fields.DeviceRPUUID
	case "instance_uuid":
		target = &p.Fields.InstanceUUID
	case "project_id":
		target = &p.Fields.ProjectID
	default:
		return patchError("Invalid path in patch %s", o.Path)
	}
	if o.Op == opAdd {
		*target = o.Value
	}
	return nil
}

// complete fills in the owner of a bind and wants its three fields.
func (c *call) complete(p *Patch) error {
	if !p.Bind() {
		return nil
	}
	if p.Fields.ProjectID == nil || *p.Fields.ProjectID == "" {
		p.Fields.ProjectID = nil
		if own := c.caller.Context.ProjectID; own != "" {
			p.Fields.ProjectID = &own
		}
	}
	var absent []string
	for _, f := range []struct {
		name  string
		value *string
	}{{"hostname", p.Fields.Hostname}, {"device_rp_uuid", p.Fields.DeviceRPUUID}, {"instance_uuid", p.Fields.InstanceUUID}} {
		if f.value == nil {
			absent = append(absent, f.name)
		}
	}
	if len(absent) > 0 {
		return patchError("Fields absent in patch %s", strings.Join(absent, ","))
	}
	return nil
}
