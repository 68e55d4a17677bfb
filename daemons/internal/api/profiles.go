package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

const profileCollection = "device_profiles"

// profileByName is the microversion that finds device profiles by name.
const profileByName arq.Microversion = 2

func profileResource() resource {
	return crud((*call).listProfiles, (*call).showProfile, (*call).createProfile, (*call).deleteProfiles)
}

// profileView is a device profile in lists and after creation.
type profileView struct {
	UUID        string      `json:"uuid"`
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	Groups      []arq.Group `json:"groups"`
	CreatedAt   *string     `json:"created_at"`
	UpdatedAt   *string     `json:"updated_at"`
	Links       []arq.Link  `json:"links"`
}

// profileDetail is a device profile by itself: other keys' order and other
// timestamps.
type profileDetail struct {
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	UUID        string      `json:"uuid"`
	Groups      []arq.Group `json:"groups"`
	CreatedAt   string      `json:"created_at"`
	UpdatedAt   string      `json:"updated_at"`
	Links       []arq.Link  `json:"links"`
}

func (c *call) profileView(p store.Profile) (profileView, error) {
	if p.GroupsErr != nil {
		return profileView{}, p.GroupsErr
	}
	if !isUUID(p.UUID) {
		return profileView{}, badRequest("Expected a uuid but received %s.", p.UUID)
	}
	return profileView{
		UUID: p.UUID, Name: p.Name, Description: p.Description, Groups: p.Groups,
		CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
		Links: c.selfLinks(profileCollection, p.UUID),
	}, nil
}

func (c *call) listProfiles() (int, any, error) {
	args, err := c.enter("cyborg:device_profile:get_all", "name")
	if err != nil {
		return 0, nil, err
	}
	rows, err := c.Store.Profiles(c.request.Context())
	if err != nil {
		return 0, nil, err
	}
	if wanted, given := args["name"]; given {
		names := strings.Split(wanted, ",")
		rows = slices.DeleteFunc(rows, func(p store.Profile) bool { return !slices.Contains(names, p.Name) })
	}
	list, err := views(rows, c.profileView)
	return http.StatusOK, struct {
		Profiles []profileView `json:"device_profiles"`
	}{list}, err
}

func (c *call) showProfile() (int, any, error) {
	if _, err := c.enter("cyborg:device_profile:get_one"); err != nil {
		return 0, nil, err
	}
	if !isUUID(c.path[0]) && c.version < profileByName {
		return 0, nil, needsVersion(profileByName)
	}
	p, err := c.findProfile(c.path[0])
	if err == nil {
		err = p.GroupsErr
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, struct {
		Profile profileDetail `json:"device_profile"`
	}{profileDetail{
		Name: p.Name, Description: p.Description, UUID: p.UUID, Groups: p.Groups,
		CreatedAt: looseTimestamp(p.CreatedAt), UpdatedAt: looseTimestamp(p.UpdatedAt),
		Links: c.selfLinks(profileCollection, p.UUID),
	}}, nil
}

// findProfile looks up by UUID or name; the text of the 404 is the peer's.
func (c *call) findProfile(id string) (store.Profile, error) {
	key, find := "name", c.Store.ProfileByName
	if isUUID(id) {
		key, find = "uuid", c.Store.ProfileByUUID
	}
	p, err := find(c.request.Context(), id)
	return p, renameMissing(err, key, id)
}

// renameMissing gives a missing profile the text of the peer's 404.
func renameMissing(err error, key, id string) error {
	if _, missing := errors.AsType[*arq.NotFoundError](err); missing {
		return &arq.NotFoundError{Resource: "Device Profile", Msg: "with " + key + "=" + id}
	}
	return err
}

func (c *call) createProfile() (int, any, error) {
	body, err := c.enterWithBody("cyborg:device_profile:create", "req_devprof_list")
	if err != nil {
		return 0, nil, err
	}
	p, err := parseProfile(body)
	if err != nil {
		return 0, nil, err
	}
	id, err := c.Conductor.CreateProfile(c.request.Context(), p)
	if err != nil {
		return 0, nil, err
	}
	p, err = c.Store.ProfileByUUID(c.request.Context(), id)
	if err != nil {
		return 0, nil, err
	}
	view, err := c.profileView(p)
	return http.StatusCreated, view, err
}

// maxName is the size of the name column, in characters.
const maxName = 255

// parseProfile applies the checks of POST in the peer's order, and that of the UUID,
// which the peer makes too late.
func parseProfile(body json.RawMessage) (store.Profile, error) {
	var p store.Profile
	object, err := onlyObject(body)
	if err != nil {
		return p, err
	}
	if falsy(object["name"]) {
		return p, wrongType("DeviceProfile name needed.")
	}
	if err := json.Unmarshal(object["name"], &p.Name); err != nil {
		return p, wrongType("the name is of type %s, not a string", jsonKind(object["name"]))
	}
	if err := arq.CheckProfileName(p.Name); err != nil {
		return p, err
	}
	if len(p.Name) > maxName {
		return p, wrongType("the name is longer than %d characters", maxName)
	}
	if falsy(object["groups"]) {
		return p, wrongType("DeviceProfile needs groups field.")
	}
	groups, err := arq.ParseGroups(object["groups"])
	if err != nil {
		return p, err
	}
	if p.Groups, err = arq.CheckGroups(groups); err != nil {
		return p, err
	}
	p.Description = scalarText(object["description"])
	if id := scalarText(object["uuid"]); id != nil {
		p.UUID = *id
		if !isUUID(p.UUID) {
			return p, badRequest("Expected a uuid but received %s.", p.UUID)
		}
	}
	return p, nil
}

// onlyObject takes the one object out of the list that the body must be.
func onlyObject(body json.RawMessage) (map[string]json.RawMessage, error) {
	var list []json.RawMessage
	var members map[string]json.RawMessage
	switch jsonKind(body) {
	case "list":
		if err := json.Unmarshal(body, &list); err != nil || len(list) != 1 {
			return nil, badRequest("Only one device profile allowed per POST request for now.")
		}
	case "dict":
		if err := json.Unmarshal(body, &members); err != nil || len(members) != 1 {
			return nil, badRequest("Only one device profile allowed per POST request for now.")
		}
		return nil, wrongType("the body is an object, not a list")
	default:
		return nil, wrongType("the body is of type %s, not a list", jsonKind(body))
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(list[0], &object); err != nil || object == nil {
		return nil, wrongType("a device profile is of type %s, not an object", jsonKind(list[0]))
	}
	return object, nil
}

func (c *call) deleteProfiles() (int, any, error) {
	args, err := c.enter("cyborg:device_profile:delete", "value")
	if err != nil {
		return 0, nil, err
	}
	value, given := args["value"]
	if len(c.path) == 1 {
		value, given = c.path[0], true
	}
	if !given {
		return 0, nil, missingArgument("value")
	}
	names := []string{value}
	if !isUUID(value) {
		names = strings.Split(value, ",")
	}
	// One after the other, as the peer does: those before a missing one are gone.
	for _, name := range names {
		p, err := c.findProfile(name)
		if err != nil {
			return 0, nil, err
		}
		if err := c.Conductor.DeleteProfile(c.request.Context(), p); err != nil {
			return 0, nil, err
		}
	}
	return http.StatusNoContent, nil, nil
}

// looseTimestamp is Python's str() of a time or of None.
func looseTimestamp(t time.Time) string {
	if t.IsZero() {
		return "None"
	}
	return t.UTC().Format("2006-01-02 15:04:05-07:00")
}
