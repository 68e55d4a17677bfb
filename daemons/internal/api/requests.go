package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

const requestCollection = "accelerator_requests"

// needsService is the refusal of what only Nova may do on a user's behalf.
const needsService = "This operation requires a service token. Use the Compute API to manage instance accelerators."

func requestResource() resource {
	return resource{
		methods: []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost},
		route: func(method string, path []string) (action, bool) {
			switch {
			case len(path) > 1:
				return nil, false
			case method == http.MethodPost && len(path) == 0:
				return (*call).createRequests, true
			case method == http.MethodPost:
				return nil, false
			case method == http.MethodPatch: // the SDK sends it to one ARQ
				return (*call).patchRequests, true
			case method == http.MethodDelete:
				return (*call).deleteRequests, true
			case method == http.MethodGet && len(path) == 1:
				return (*call).showRequest, true
			case method == http.MethodGet:
				return (*call).listRequests, true
			}
			return nil, true
		},
	}
}

// requestsView is the body of every list of ARQs.
type requestsView struct {
	ARQs []arq.View `json:"arqs"`
}

func (c *call) requestsView(rows []arq.Request) (requestsView, error) {
	list, err := views(rows, c.requestView)
	return requestsView{list}, err
}

// requestView refuses a row with a UUID that is none, as the peer does when it
// writes the answer: a bind takes any text.
func (c *call) requestView(r arq.Request) (arq.View, error) {
	for _, id := range []string{r.UUID, r.DeviceRPUUID, r.InstanceUUID, r.ProjectID} {
		if id != "" && !isUUID(id) {
			return arq.View{}, badRequest("Expected a uuid but received %s.", id)
		}
	}
	return r.View(c.version, c.self(requestCollection, r.UUID))
}

func (c *call) listRequests() (int, any, error) {
	args, err := c.enter("cyborg:arq:get_all", "bind_state", "instance")
	if err != nil {
		return 0, nil, err
	}
	state, instance := args["bind_state"], args["instance"]
	if instance != "" {
		if err := checkUUID("instance", instance); err != nil {
			return 0, nil, err
		}
	}
	if state != "" && state != "resolved" {
		return 0, nil, wrongType("Bad state: %s for ARQ: None. Expected state(s): ['resolved']", state)
	}
	rows, err := c.Store.Requests(c.request.Context(), store.RequestFilter{Instance: instance, Project: c.caller.scope()})
	if err != nil {
		return 0, nil, err
	}
	if state != "" {
		resolved := slices.DeleteFunc(slices.Clone(rows), func(r arq.Request) bool { return !isResolved(r.State) })
		if instance != "" && len(resolved) < len(rows) {
			return http.StatusLocked, nil, nil
		}
		rows = resolved
	}
	view, err := c.requestsView(rows)
	return http.StatusOK, view, err
}

// isResolved: the bind has come to an end, one way or the other.
func isResolved(s arq.State) bool {
	return s == arq.Bound || s == arq.BindFailed || s == arq.Deleting
}

func (c *call) showRequest() (int, any, error) {
	if _, err := c.enter("cyborg:arq:get_one"); err != nil {
		return 0, nil, err
	}
	if err := checkUUID("uuid", c.path[0]); err != nil {
		return 0, nil, err
	}
	rows, err := c.visible([]string{c.path[0]})
	if err != nil {
		return 0, nil, err
	}
	view, err := c.requestView(rows[0])
	return http.StatusOK, view, err
}

// visible returns the requests of the UUIDs in their order; the first that is
// missing, or belongs to another project, is an error.
func (c *call) visible(ids []string) ([]arq.Request, error) {
	rows, err := c.Store.Requests(c.request.Context(), store.RequestFilter{UUIDs: ids, Project: c.caller.scope()})
	if err != nil {
		return nil, err
	}
	out := make([]arq.Request, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(rows, func(r arq.Request) bool { return strings.EqualFold(r.UUID, id) })
		if at < 0 {
			return nil, &arq.NotFoundError{Resource: "ExtArq", Msg: "with uuid=" + id}
		}
		out[i] = rows[at]
	}
	return out, nil
}

func (c *call) createRequests() (int, any, error) {
	body, err := c.enterWithBody("cyborg:arq:create", "req")
	if err != nil {
		return 0, nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return 0, nil, wrongType("the body is of type %s, not an object", jsonKind(body))
	}
	name := scalarText(object["device_profile_name"])
	if name == nil {
		return 0, nil, wrongType("DeviceProfile name needed.")
	}
	p, err := c.profileNamed(*name)
	if err != nil {
		return 0, nil, err
	}
	ids, err := c.createFor(p)
	if err != nil {
		return 0, nil, err
	}
	rows, err := c.Store.Requests(c.request.Context(), store.RequestFilter{UUIDs: ids})
	if err != nil {
		return 0, nil, err
	}
	view, err := c.requestsView(rows)
	return http.StatusCreated, view, err
}

// profileNamed looks a profile up by name, also when the name looks like a UUID.
func (c *call) profileNamed(name string) (store.Profile, error) {
	p, err := c.Store.ProfileByName(c.request.Context(), name)
	if err == nil {
		err = p.GroupsErr
	}
	return p, renameMissing(err, "name", name)
}

// createFor asks for the requests of each group, one conductor call each: a failure
// in the middle leaves the earlier ones, as in the peer.
func (c *call) createFor(p store.Profile) ([]string, error) {
	ids := []string{}
	for group, properties := range p.Groups {
		n, err := properties.Requests()
		if err != nil {
			return nil, err
		}
		for range n {
			id, err := c.Conductor.CreateRequest(c.request.Context(), arq.New{
				ProfileID: p.ID, ProfileName: p.Name, GroupID: group, ProjectID: c.caller.Context.ProjectID,
			})
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (c *call) deleteRequests() (int, any, error) {
	args, err := c.enter("cyborg:arq:delete", "arqs", "instance")
	if err != nil {
		return 0, nil, err
	}
	list, instance := args["arqs"], args["instance"]
	if len(c.path) == 1 {
		list = c.path[0]
	}
	if instance != "" {
		if err := checkUUID("instance", instance); err != nil {
			return 0, nil, err
		}
	}
	if (list == "") == (instance == "") {
		return 0, nil, wrongType("Object action delete failed because: Provide either an ARQ uuid list or an instance UUID")
	}
	rows, err := c.deletable(list, instance)
	if err == nil {
		err = c.release(rows)
	}
	return http.StatusNoContent, nil, err
}

// deletable returns the requests to delete. What is bound to an instance may go only
// with a service token, whoever asks; nothing goes when one is missing.
func (c *call) deletable(list, instance string) ([]arq.Request, error) {
	if instance != "" {
		if !c.caller.Service {
			return nil, refuse(http.StatusForbidden, needsService)
		}
		return c.Store.Requests(c.request.Context(), store.RequestFilter{Instance: instance, Project: c.caller.scope()})
	}
	rows, err := c.visible(strings.Split(list, ","))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.InstanceUUID != "" && !c.caller.Service {
			return nil, refuse(http.StatusForbidden,
				"ARQ %s is bound to instance %s. Use the Compute API to manage instance accelerators.", r.UUID, r.InstanceUUID)
		}
	}
	return rows, nil
}

// release deletes in this process, as the peer does, except requests that owe a step
// on the compute host: those are the conductor's.
func (c *call) release(rows []arq.Request) error {
	var owing []string
	for _, r := range rows {
		if owesStep(r) {
			owing = append(owing, r.UUID)
			continue
		}
		if _, err := c.Store.Release(c.request.Context(), r.UUID, arq.LeaveDelete); err != nil {
			return err
		}
	}
	if len(owing) == 0 {
		return nil
	}
	return c.Conductor.DeleteRequests(c.request.Context(), owing)
}

func owesStep(r arq.Request) bool {
	return r.Handle != nil && (r.Handle.Type == arq.HandleMDEV || r.Device.Type == arq.DeviceTypeNVMe)
}
