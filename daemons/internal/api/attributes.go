package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

const attributeCollection = "attributes"

func attributeResource() resource {
	return crud((*call).listAttributes, (*call).showAttribute, (*call).createAttribute, (*call).deleteAttribute)
}

// attributeView is an attribute of a deployable.
type attributeView struct {
	UUID         string     `json:"uuid"`
	DeployableID int64      `json:"deployable_id"`
	Key          string     `json:"key"`
	Value        string     `json:"value"`
	CreatedAt    *string    `json:"created_at"`
	UpdatedAt    *string    `json:"updated_at"`
	Links        []arq.Link `json:"links"`
}

func (c *call) attributeView(a store.Attribute) attributeView {
	return attributeView{
		UUID: a.UUID, DeployableID: a.DeployableID, Key: a.Key, Value: a.Value,
		CreatedAt: timestampOf(a.CreatedAt), UpdatedAt: timestampOf(a.UpdatedAt),
		Links: c.selfLinks(attributeCollection, a.UUID),
	}
}

func (c *call) listAttributes() (int, any, error) {
	args, err := c.enter("cyborg:attribute:get_all", "deployable_id", "key")
	if err != nil {
		return 0, nil, err
	}
	f := store.AttributeFilter{Key: args["key"]}
	if text := args["deployable_id"]; text != "" {
		id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return 0, nil, badRequest("Invalid input for field/attribute deployable_id. Value: '%s'. unable to convert to integer. "+
				"Error: invalid literal for int() with base 10: '%s'", text, text)
		}
		f.DeployableID = &id
	}
	rows, err := c.Store.Attributes(c.request.Context(), f)
	if err != nil {
		return 0, nil, err
	}
	views := make([]attributeView, len(rows))
	for i, a := range rows {
		views[i] = c.attributeView(a)
	}
	return http.StatusOK, struct {
		Attributes []attributeView `json:"attributes"`
	}{views}, nil
}

func (c *call) showAttribute() (int, any, error) {
	if _, err := c.enter("cyborg:attribute:get_one"); err != nil {
		return 0, nil, err
	}
	if err := checkUUID("uuid", c.path[0]); err != nil {
		return 0, nil, err
	}
	a, err := c.Store.AttributeByUUID(c.request.Context(), c.path[0])
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.attributeView(a), nil
}

func (c *call) createAttribute() (int, any, error) {
	body, err := c.enterWithBody("cyborg:attribute:create", "req_attr")
	if err != nil {
		return 0, nil, err
	}
	a, err := parseAttribute(body)
	if err != nil {
		return 0, nil, err
	}
	a, err = c.Store.CreateAttribute(c.request.Context(), a)
	if err != nil {
		return 0, nil, err
	}
	view := c.attributeView(a)
	if a.CreatedAt != nil {
		// The peer answers with its own clock, fractions included.
		precise := a.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000-07:00")
		if a.CreatedAt.Nanosecond() >= int(time.Microsecond) {
			view.CreatedAt = &precise
		}
	}
	return http.StatusCreated, view, nil
}

// parseAttribute reads the body of POST; whatever is wrong with it is 500, as in the
// peer.
func parseAttribute(body json.RawMessage) (store.Attribute, error) {
	var a store.Attribute
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return a, wrongType("the body is of type %s, not an object", jsonKind(body))
	}
	id := scalarText(object["deployable_id"])
	if id == nil {
		return a, wrongType("deployable_id is missing")
	}
	var err error
	if a.DeployableID, err = strconv.ParseInt(*id, 10, 64); err != nil {
		return a, wrongType("deployable_id: %q is not an integer", *id)
	}
	for name, target := range map[string]*string{"key": &a.Key, "value": &a.Value} {
		text := scalarText(object[name])
		if text == nil || jsonKind(object[name]) == "list" || jsonKind(object[name]) == "dict" {
			return a, wrongType("%s is missing or no string", name)
		}
		*target = *text
	}
	if own := scalarText(object["uuid"]); own != nil {
		a.UUID = *own
		if !isUUID(a.UUID) {
			return a, wrongType("Expected a uuid but received %s.", a.UUID)
		}
	}
	return a, nil
}

func (c *call) deleteAttribute() (int, any, error) {
	args, err := c.enter("cyborg:attribute:delete", "uuid")
	if err != nil {
		return 0, nil, err
	}
	id, given := args["uuid"]
	if len(c.path) == 1 {
		id, given = c.path[0], true
	}
	if !given {
		return 0, nil, missingArgument("uuid")
	}
	return http.StatusNoContent, nil, c.Store.DeleteAttribute(c.request.Context(), id)
}
