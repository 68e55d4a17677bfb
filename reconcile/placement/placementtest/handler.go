package placementtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// maxMinor is the newest microversion, 1.39.
const maxMinor = 39

// Handler serves a [reconciletest.Placement] over HTTP. It is safe for
// concurrent use.
type Handler struct {
	// Placement is what is served; tests look into it and break it.
	Placement *reconciletest.Placement

	mux *http.ServeMux
}

// New makes a handler; a nil Placement starts empty.
func New(p *reconciletest.Placement) *Handler {
	if p == nil {
		p = &reconciletest.Placement{}
	}
	h := &Handler{Placement: p, mux: http.NewServeMux()}
	for pattern, serve := range map[string]func(call) (answer, error){
		"GET /{$}":                                        h.root,
		"GET /resource_providers":                         h.listProviders,
		"POST /resource_providers":                        h.createProvider,
		"GET /resource_providers/{uuid}":                  h.showProvider,
		"DELETE /resource_providers/{uuid}":               h.deleteProvider,
		"GET /resource_providers/{uuid}/inventories":      h.listInventories,
		"PUT /resource_providers/{uuid}/inventories":      h.putInventories,
		"GET /resource_providers/{uuid}/inventories/{rc}": h.showInventory,
		"PUT /resource_providers/{uuid}/inventories/{rc}": h.putInventory,
		"GET /resource_providers/{uuid}/traits":           h.listProviderTraits,
		"PUT /resource_providers/{uuid}/traits":           h.putProviderTraits,
		"GET /resource_providers/{uuid}/usages":           h.usages,
		"GET /resource_providers/{uuid}/allocations":      h.providerAllocations,
		"GET /traits":                    h.listTraits,
		"GET /traits/{name}":             h.showTrait,
		"PUT /traits/{name}":             h.putTrait,
		"DELETE /traits/{name}":          h.deleteTrait,
		"GET /resource_classes/{name}":   h.showClass,
		"PUT /resource_classes/{name}":   h.putClass,
		"GET /allocations/{consumer}":    h.showAllocations,
		"PUT /allocations/{consumer}":    h.putAllocations,
		"DELETE /allocations/{consumer}": h.deleteAllocations,
		"POST /allocations":              h.postAllocations,
		"GET /allocation_candidates":     h.candidates,
	} {
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answerTo(w, r, serve) })
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve, pattern := h.mux.Handler(r)
	if pattern != "" {
		h.mux.ServeHTTP(w, r) // sets the path's values, which serve alone would not
		return
	}
	// An unknown path or method: the mux knows which, Placement's words differ.
	refused := &recorder{header: http.Header{}}
	serve.ServeHTTP(refused, r)
	if allow := refused.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
	}
	minor, _ := microversion(r.Header.Get("OpenStack-API-Version"))
	detail := sentences[http.StatusNotFound] + "\n\n   "
	if refused.status == http.StatusMethodNotAllowed {
		detail = "The method " + r.Method + " is not allowed for this resource. \n\n The method specified is not allowed for this resource."
	}
	writeErrorBody(w, minor, refused.status, reconciletest.CodeUndefined, detail, nil)
}

// call is one request with its microversion.
type call struct {
	*http.Request
	minor int
}

// answer is what goes back; a nil body is an empty one.
type answer struct {
	status   int
	body     any
	location string
}

func answerTo(w http.ResponseWriter, r *http.Request, serve func(call) (answer, error)) {
	minor, ok := microversion(r.Header.Get("OpenStack-API-Version"))
	if !ok {
		_, version, _ := strings.Cut(r.Header.Get("OpenStack-API-Version"), " ")
		writeErrorBody(w, 0, http.StatusNotAcceptable, "",
			"The resource could not be generated that was acceptable to your browser (content of type application/json. \n\n Invalid microversion: Unacceptable version header: "+version,
			map[string]any{"max_version": fmt.Sprintf("1.%d", maxMinor), "min_version": "1.0"})
		return
	}
	w.Header().Set("OpenStack-API-Version", fmt.Sprintf("placement 1.%d", minor))
	w.Header().Set("Vary", "openstack-api-version")
	a, err := serve(call{r, minor})
	var refused *reconciletest.PlacementError
	switch {
	case errors.As(err, &refused):
		writeError(w, minor, refused)
		return
	case err != nil:
		writeError(w, minor, &reconciletest.PlacementError{Status: http.StatusInternalServerError, Code: reconciletest.CodeUndefined, Detail: err.Error()})
		return
	}
	if a.location != "" {
		w.Header().Set("Location", "http://"+r.Host+a.location)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	writeJSON(w, a.status, a.body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller is gone: nobody to tell
}

// sentences open the detail of every error of a status.
var sentences = map[int]string{
	http.StatusBadRequest:          "The server could not comply with the request since it is either malformed or otherwise incorrect.",
	http.StatusNotFound:            "The resource could not be found.",
	http.StatusConflict:            "There was a conflict when trying to complete your request.",
	http.StatusInternalServerError: "The server has either erred or is incapable of performing the requested operation.",
}

// codesSince is the microversion from which errors carry a code.
const codesSince = 23

func writeError(w http.ResponseWriter, minor int, e *reconciletest.PlacementError) {
	writeErrorBody(w, minor, e.Status, e.Code, sentences[e.Status]+"\n\n "+e.Detail+"  ", nil)
}

func writeErrorBody(w http.ResponseWriter, minor, status int, code, detail string, more map[string]any) {
	body := map[string]any{
		"status":     status,
		"title":      http.StatusText(status),
		"detail":     detail,
		"request_id": "req-" + uuid.NewString(),
	}
	if minor >= codesSince {
		body["code"] = code
	}
	maps.Copy(body, more)
	writeJSON(w, status, map[string]any{"errors": []any{body}})
}

// microversion reads the header; without one Placement answers at 1.0.
func microversion(header string) (minor int, ok bool) {
	version := "1.0"
	for item := range strings.SplitSeq(header, ",") {
		if f := strings.Fields(item); len(f) == 2 && strings.EqualFold(f[0], "placement") {
			version = f[1]
		}
	}
	if version == "latest" {
		return maxMinor, true
	}
	text, ok := strings.CutPrefix(version, "1.")
	if !ok {
		return 0, false
	}
	minor, err := strconv.Atoi(text)
	return minor, err == nil && minor >= 0 && minor <= maxMinor
}

func bad(format string, args ...any) error {
	return &reconciletest.PlacementError{Status: http.StatusBadRequest, Code: reconciletest.CodeUndefined, Detail: fmt.Sprintf(format, args...)}
}

func missing(format string, args ...any) error {
	return &reconciletest.PlacementError{Status: http.StatusNotFound, Code: reconciletest.CodeUndefined, Detail: fmt.Sprintf(format, args...)}
}

// named says twice which provider is missing, as several of Placement's reads do.
func named(err error, format string, c call) error {
	var e *reconciletest.PlacementError
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return missing(format+"%s", c.PathValue("uuid"), e.Detail)
	}
	return err
}

// decode reads a JSON body that may have no other keys than v.
func (c call) decode(v any) error {
	d := json.NewDecoder(c.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return bad("JSON does not validate: %v", err)
	}
	return nil
}

// root is the version document.
func (h *Handler) root(call) (answer, error) {
	return answer{status: http.StatusOK, body: map[string]any{"versions": []any{map[string]any{
		"id": "v1.0", "max_version": fmt.Sprintf("1.%d", maxMinor), "min_version": "1.0", "status": "CURRENT",
		"links": []link{{Rel: "self", Href: ""}},
	}}}}, nil
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}
