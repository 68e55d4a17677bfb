package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// programOperation is one operation of PATCH …/program. Unlike other bodies it is
// typed: what it does not know is refused.
type programOperation struct {
	path, op string
	value    json.RawMessage
}

var (
	programPath = regexp.MustCompile(`^(/[\w-]+)+$`)
	programOps  = []string{"add", "replace", "remove"}
)

// internalPaths are attributes of a deployable that nobody may set.
func internalPaths() []string {
	return []string{"/uuid", "/id", "/links", "/created_at", "/updated_at", "/name", "/num_accelerators"}
}

// programDeployable loads an image onto a deployable; the path of the operation is
// not interpreted.
func (c *call) programDeployable() (int, any, error) {
	if err := c.allow("cyborg:deployable:program"); err != nil {
		return 0, nil, err
	}
	if err := checkUUID("uuid", c.path[0]); err != nil {
		return 0, nil, err
	}
	body, err := c.body("program_info")
	if err != nil {
		return 0, nil, err
	}
	image, err := parseProgram(body)
	if err != nil {
		return 0, nil, err
	}
	d, err := c.Store.DeployableByUUID(c.request.Context(), c.path[0])
	if err != nil {
		return 0, nil, err
	}
	return c.program(d, image)
}

func (c *call) program(d store.Deployable, image string) (int, any, error) {
	if c.Programmer == nil {
		return 0, nil, refuse(http.StatusNotImplemented, "This service cannot program devices.")
	}
	if err := c.Programmer.Program(c.request.Context(), d, image); err != nil {
		return 0, nil, err
	}
	d, err := c.Store.DeployableByUUID(c.request.Context(), d.UUID)
	if err != nil {
		return 0, nil, err
	}
	view, err := c.deployableView(d)
	return http.StatusOK, view, err
}

// parseProgram checks every operation and takes the image from the first.
func parseProgram(body json.RawMessage) (image string, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil || jsonKind(body) != "list" {
		return "", badRequest("Invalid input for field/attribute program_info. Value: '%s'. Value not a valid list: %s", body, body)
	}
	operations := make([]programOperation, len(list))
	for i, raw := range list {
		if operations[i], err = parseProgramOperation(raw); err != nil {
			return "", err
		}
	}
	if len(operations) == 0 {
		return "", wrongType("list index out of range")
	}
	var value []struct {
		Image json.RawMessage `json:"image_uuid"`
	}
	if err := json.Unmarshal(operations[0].value, &value); err != nil {
		return "", wrongType("the value is not a list of objects")
	}
	if len(value) == 0 {
		return "", wrongType("list index out of range")
	}
	id := scalarText(value[0].Image)
	if id == nil {
		return "", wrongType("'image_uuid'")
	}
	if !isUUID(*id) {
		return "", badRequest("Expected a uuid but received %s.", *id)
	}
	return *id, nil
}

func parseProgramOperation(raw json.RawMessage) (programOperation, error) {
	var o programOperation
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return o, badRequest("Invalid input for field/attribute program_info. Value: '%s'. Value not a valid object", raw)
	}
	for name := range members {
		if name != "path" && name != "op" && name != "value" {
			return o, badRequest("Unknown attribute for argument program_info: %s", name)
		}
	}
	for name, target := range map[string]*string{"path": &o.path, "op": &o.op} {
		text := scalarText(members[name])
		if text == nil {
			return o, badRequest("Invalid input for field/attribute %s. Value: 'None'. Mandatory field missing.", name)
		}
		*target = *text
	}
	o.value = members["value"]
	switch {
	case !programPath.MatchString(o.path):
		return o, badRequest("Invalid input for field/attribute path. Value: '%s'. Value should match the pattern %s", o.path, programPath)
	case !slices.Contains(programOps, o.op):
		return o, badRequest("Invalid input for field/attribute op. Value: '%s'. Value should be one of: %s", o.op, strings.Join(programOps, ", "))
	case slices.Contains(internalPaths(), o.path):
		return o, badRequest("'%s' is an internal attribute and can not be updated", o.path)
	case o.op != opRemove && jsonKind(o.value) == "NoneType":
		return o, badRequest("'add' and 'replace' operations need a value")
	}
	return o, nil
}
