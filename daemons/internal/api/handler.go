package api

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/rpc"
)

// Config is what an API needs. Store, Conductor, Authenticator and Policy are
// required.
type Config struct {
	Store         Store
	Conductor     Conductor
	Authenticator Authenticator
	Policy        *policy.Enforcer
	// Inventories follows the status of devices in Placement; nil leaves it.
	Inventories Inventories
	// Programmer loads images; nil answers 501.
	Programmer Programmer
	// PublicEndpoint is the base of links; empty takes scheme and Host of the
	// request.
	PublicEndpoint string
	// KeystoneURL is named in the WWW-Authenticate header of a 401.
	KeystoneURL string
	// Highest is the highest microversion served; zero means
	// [arq.MicroversionMax].
	Highest arq.Microversion
	// TrustForwardedProto takes the scheme of links from X-Forwarded-Proto. Set it
	// only behind a proxy that removes the header from clients' requests.
	TrustForwardedProto bool
	// DisableByFile is a file whose existence makes /healthcheck answer 503.
	DisableByFile string
	// Log takes errors that are not the caller's fault; nil discards.
	Log *slog.Logger
}

// Handler is the API. It is safe for concurrent use.
type Handler struct {
	Config
	routes map[string]resource
}

// New checks the configuration and builds the API. The error joins everything that
// is missing.
func New(c Config) (*Handler, error) {
	var problems []error
	for name, missing := range map[string]bool{
		"Store": c.Store == nil, "Conductor": c.Conductor == nil,
		"Authenticator": c.Authenticator == nil, "Policy": c.Policy == nil,
	} {
		if missing {
			problems = append(problems, errors.New("api: Config."+name+" is required"))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if c.Highest == 0 {
		c.Highest = arq.MicroversionMax
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{Config: c}
	h.routes = h.resources()
	return h, nil
}

// call is one request on its way to a resource.
type call struct {
	*Handler
	request *http.Request
	caller  Caller
	version arq.Microversion
	path    []string // below the resource
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		write(w, http.StatusOK, nil)
		return
	}
	if r.URL.Path == healthPath {
		h.serveHealth(w, r)
		return
	}
	id := "req-" + uuid.NewString()
	w.Header()[headerRequestID] = []string{id}
	path := splitPath(r.URL.Path)
	caller, ok := h.authenticate(w, r, path, id)
	if !ok {
		return
	}
	ctx := rpc.WithRequest(r.Context(), &caller.Context)
	c := &call{Handler: h, request: r.WithContext(ctx), caller: caller, path: path}
	c.serve(w)
}

// authenticate finds out who calls; ok is false when the answer was sent.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request, path []string, id string) (caller Caller, ok bool) {
	if !public(path) {
		var err error
		caller, err = h.Authenticator.Authenticate(r)
		switch {
		case errors.Is(err, ErrUnauthorized):
			writeUnauthorized(w, h.KeystoneURL)
			return caller, false
		case err != nil:
			h.Log.ErrorContext(r.Context(), "tokens cannot be checked", "error", err, "request_id", id)
			writeFault(w, &fault{http.StatusServiceUnavailable, "The identity service is not available."})
			return caller, false
		}
	}
	caller.Context.RequestID = id
	if global := r.Header.Get(headerRequestID); globalID.MatchString(global) {
		caller.Context.GlobalRequestID = global
	}
	return caller, true
}

// globalID is the form in which a caller's request id is passed on.
var globalID = regexp.MustCompile(`^req-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// public paths need no token: the root and the version document, in the spellings
// the peer lets through.
func public(path []string) bool {
	return len(path) == 0 || len(path) == 1 && path[0] == "v2"
}

func (c *call) serve(w http.ResponseWriter) {
	if len(c.path) == 0 {
		c.serveRoot(w)
		return
	}
	version, err := negotiate(c.request.Header, c.Highest)
	if unsupported, ok := errors.AsType[*versionError](err); ok {
		if unsupported.inRange {
			setVersionHeaders(w.Header(), c.Highest)
		}
		acceptPage(c.request.Header.Get("Accept"), unsupported.text).write(w, c.request)
		return
	}
	c.version = version
	handle, methods := c.route()
	switch {
	case handle == nil && methods == nil:
		notFoundPage().write(w, c.request)
	case handle == nil:
		w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
		methodPage(c.request.Method).write(w, c.request)
	case !acceptsJSON(c.request.Header.Get("Accept")):
		acceptPage(c.request.Header.Get("Accept"), "").write(w, c.request)
	default:
		setVersionHeaders(w.Header(), c.Highest)
		w.Header()[headerVersion] = []string{serviceType + " " + version.String()}
		c.answer(w, handle)
	}
}

// answer runs the resource and sends what it returns.
func (c *call) answer(w http.ResponseWriter, handle action) {
	status, value, err := handle(c)
	var body []byte
	if err == nil && value != nil {
		body, err = encode(value)
	}
	if err != nil {
		f := asFault(err)
		if f.status >= http.StatusInternalServerError {
			c.Log.ErrorContext(c.request.Context(), "request failed",
				"method", c.request.Method, "path", c.request.URL.Path, "status", f.status, "error", err)
		}
		writeFault(w, f)
		return
	}
	if status == http.StatusLocked {
		writeMessage(w, status, "null")
		return
	}
	write(w, status, body)
}

// acceptsJSON reports whether JSON is among what the client takes.
func acceptsJSON(accept string) bool {
	if strings.TrimSpace(accept) == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(accept, ","), func(item string) bool {
		kind, _, _ := strings.Cut(item, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "*/*", "application/*", "application/json":
			return true
		}
		return false
	})
}
