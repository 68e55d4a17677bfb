package api

import (
	"net/http"
	"slices"
	"strings"
)

// action answers a request: a status, the body to encode (nil for none), or an
// error.
type action func(*call) (status int, body any, err error)

// resource is a collection with what can be done to it.
type resource struct {
	// methods are those of the Allow header.
	methods []string
	// route finds the action for a method and the path below the collection; nil
	// when there is none. exists tells a wrong method from an unknown path.
	route func(method string, path []string) (a action, exists bool)
}

func (h *Handler) resources() map[string]resource {
	return map[string]resource{
		"device_profiles":      profileResource(),
		"accelerator_requests": requestResource(),
		"devices":              deviceResource(),
		"deployables":          deployableResource(),
		"attributes":           attributeResource(),
	}
}

// crud is a collection whose elements are listed, shown, created and deleted. POST
// also works below the collection, and DELETE on the collection itself.
func crud(list, show, create, remove action) resource {
	return resource{
		methods: []string{http.MethodDelete, http.MethodGet, http.MethodPost},
		route: func(method string, path []string) (action, bool) {
			switch {
			case len(path) > 1:
				return nil, false
			case method == http.MethodPost:
				return create, true
			case method == http.MethodDelete:
				return remove, true
			case method == http.MethodGet && len(path) == 1:
				return show, true
			case method == http.MethodGet:
				return list, true
			}
			return nil, true
		},
	}
}

// route finds what answers the call. No action and no methods is an unknown path,
// methods alone are those that the path allows.
func (c *call) route() (action, []string) {
	path := c.path
	if path[0] == "v2" {
		path = path[1:]
	}
	if len(path) == 0 {
		if c.request.Method == http.MethodGet {
			return (*call).serveVersion, nil
		}
		return nil, []string{http.MethodGet}
	}
	r, known := c.routes[path[0]]
	if !known {
		return nil, nil
	}
	c.path = path[1:]
	a, exists := r.route(c.request.Method, c.path)
	if a == nil && exists {
		return nil, r.methods
	}
	return a, nil
}

// splitPath takes a path apart. The prefix /accelerator, under which the catalogue
// publishes the service, a trailing slash and the suffix .json are accepted.
func splitPath(path string) []string {
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".json")
	parts := slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
	if len(parts) > 0 && parts[0] == serviceType {
		parts = parts[1:]
	}
	return parts
}
