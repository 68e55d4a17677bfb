package api

import (
	"net/http"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// versionInfo is a version in the root document; its keys stand in the peer's order.
type versionInfo struct {
	ID      string     `json:"id"`
	Status  string     `json:"status"`
	Maximum string     `json:"max_version"`
	Minimum string     `json:"min_version"`
	Links   []arq.Link `json:"links"`
}

type rootDocument struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Versions    []versionInfo `json:"versions"`
	Default     versionInfo   `json:"default_version"`
}

// versionDocument is the answer at /v2; the id differs from the root document's.
type versionDocument struct {
	ID      string     `json:"id"`
	Links   []arq.Link `json:"links"`
	Maximum string     `json:"max_version"`
	Minimum string     `json:"min_version"`
	Status  string     `json:"status"`
}

// serveRoot answers the root document, which looks at no version header and carries
// none.
func (c *call) serveRoot(w http.ResponseWriter) {
	switch {
	case c.request.URL.Path == "/.json":
		notFoundPage().write(w, c.request)
		return
	case c.request.Method != http.MethodGet:
		w.Header()["Allow"] = []string{http.MethodGet}
		methodPage(c.request.Method).write(w, c.request)
		return
	case !acceptsJSON(c.request.Header.Get("Accept")):
		acceptPage(c.request.Header.Get("Accept"), "").write(w, c.request)
		return
	}
	v2 := versionInfo{
		ID: "v2", Status: "CURRENT", Maximum: c.Highest.String(), Minimum: arq.MicroversionMin.String(),
		Links: []arq.Link{{Href: c.public() + "/accelerator/v2", Rel: "self"}},
	}
	body, err := encode(rootDocument{
		Name: "OpenStack Cyborg API",
		Description: "Cyborg is the OpenStack project for lifecycle management of hardware accelerators, " +
			"such as GPUs,FPGAs, AI chips, security accelerators, etc.",
		Versions: []versionInfo{v2}, Default: v2,
	})
	if err != nil {
		writeFault(w, asFault(err))
		return
	}
	write(w, http.StatusOK, body)
}

func (c *call) serveVersion() (int, any, error) {
	return http.StatusOK, versionDocument{
		ID: "v2.0", Status: "CURRENT", Maximum: c.Highest.String(), Minimum: arq.MicroversionMin.String(),
		Links: []arq.Link{{Href: c.public() + "/accelerator/v2/", Rel: "self"}},
	}, nil
}

// public is the base of links.
func (c *call) public() string {
	if c.PublicEndpoint != "" {
		return strings.TrimSuffix(c.PublicEndpoint, "/")
	}
	scheme := "http"
	if c.request.TLS != nil {
		scheme = "https"
	}
	if forwarded := c.request.Header.Get("X-Forwarded-Proto"); c.TrustForwardedProto && forwarded == "https" {
		scheme = forwarded
	}
	return scheme + "://" + c.request.Host
}

// self is the href of a resource's own link.
func (c *call) self(collection, id string) string {
	return c.public() + "/accelerator/v2/" + collection + "/" + id
}

func (c *call) selfLinks(collection, id string) []arq.Link {
	return []arq.Link{{Href: c.self(collection, id), Rel: "self"}}
}
