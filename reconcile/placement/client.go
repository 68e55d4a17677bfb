package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/reconcile"
)

const (
	// Microversion is what every request asks for: Rocky's. It has nested
	// providers (1.14), POST with a body (1.20), error codes (1.23) and
	// reserved up to total (1.26).
	Microversion = "1.26"

	serviceType    = "placement"
	defaultTimeout = 10 * time.Second
)

// Config tunes a [Client]. The zero value is the default.
type Config struct {
	// Timeout bounds each single request; 0 is 10 s.
	Timeout time.Duration
	// Observe, if set, is called after every request with its method, a path
	// without uuids and names, its status (0: no answer) and how long it took.
	// It must be safe for concurrent use.
	Observe func(method, route string, status int, took time.Duration)
}

// Client is a Placement client. It implements [reconcile.Placement] and is
// safe for concurrent use.
type Client struct {
	service *gophercloud.ServiceClient
	cfg     Config

	mu    sync.Mutex
	roots map[string]string     // host -> uuid of its provider
	names map[string]customName // by kind and name
}

var _ reconcile.Placement = (*Client)(nil)

// New makes a client from an authenticated service client of type placement.
// The service client is not changed.
func New(service *gophercloud.ServiceClient, cfg Config) *Client {
	own := *service
	own.Type, own.Microversion = serviceType, Microversion
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	return &Client{service: &own, cfg: cfg, roots: map[string]string{}, names: map[string]customName{}}
}

// NewNoAuth makes a client of a Placement that asks for no token, such as the
// one of package placementtest. A nil HTTP client is http.DefaultClient.
func NewNoAuth(endpoint string, client *http.Client, cfg Config) *Client {
	provider := &gophercloud.ProviderClient{}
	if client != nil {
		provider.HTTPClient = *client
	}
	return New(&gophercloud.ServiceClient{
		ProviderClient: provider,
		Endpoint:       strings.TrimSuffix(endpoint, "/") + "/",
	}, cfg)
}

// Ping reports whether Placement can be reached, logging in where that is needed.
func (c *Client) Ping(ctx context.Context) error {
	return c.do(ctx, request{method: http.MethodGet, route: "/", ok: []int{http.StatusOK, http.StatusMultipleChoices}})
}

// Error is an answer of Placement with a status that was not expected.
type Error struct {
	Method, Path string
	Status       int
	Code         string // placement.concurrent_update and so on
	Detail       string // Placement's words without the status's own sentence
}

func (e *Error) Error() string {
	s := fmt.Sprintf("placement answered %d to %s %s", e.Status, e.Method, e.Path)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Codes that Placement sends with a 409.
const (
	codeConcurrentUpdate = "placement.concurrent_update"
	codeInventoryInUse   = "placement.inventory.inuse"
	codeDuplicateName    = "placement.duplicate_name"
)

func hasStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// request is one request; route names it for observers.
type request struct {
	method, route, path string
	body, answer        any
	ok                  []int
	says                func() bool // whether the answer is one to the request; nil: it is
}

// errGarbled is an answer of the right status that says something else: a proxy
// may have given it.
var errGarbled = errors.New("the answer is not one to this request")

// do sends a request. A status that is not in ok gives an *[Error]; no answer
// or a garbled one, a server error and a refused login give a
// *[reconcile.TransportError].
func (c *Client) do(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	opts := &gophercloud.RequestOpts{OkCodes: r.ok, JSONBody: r.body, JSONResponse: r.answer}
	start := time.Now()
	resp, err := c.service.Request(ctx, r.method, c.service.ServiceURL(r.path), opts)
	if err == nil && r.answer == nil {
		_ = resp.Body.Close() // an empty body; gophercloud closes the others
	}
	err = r.failure(err)
	if err == nil && r.says != nil && !r.says() {
		err = &reconcile.TransportError{Op: r.method + " " + r.route, Err: errGarbled}
	}
	if c.cfg.Observe != nil {
		c.cfg.Observe(r.method, r.route, statusOf(resp, err), time.Since(start))
	}
	return err
}

func statusOf(resp *http.Response, err error) int {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Status
	case err == nil && resp != nil:
		return resp.StatusCode
	}
	return 0
}

// failure gives gophercloud's errors their meaning.
func (r request) failure(err error) error {
	if err == nil {
		return nil
	}
	op := r.method + " " + r.route
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) {
		return &reconcile.TransportError{Op: op, Err: err}
	}
	code, detail := explanation(unexpected.Body)
	e := &Error{Method: r.method, Path: "/" + r.path, Status: unexpected.Actual, Code: code, Detail: detail}
	switch s := unexpected.Actual; {
	case s >= 500, s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout:
		return &reconcile.TransportError{Op: op, Err: e}
	}
	return e
}

// explanation reads the body of an error: its code, and its detail without
// the sentence that every answer of that status starts with.
func explanation(body []byte) (code, detail string) {
	var b struct {
		Errors []struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &b) != nil || len(b.Errors) == 0 {
		return "", ""
	}
	detail = b.Errors[0].Detail
	if _, own, ok := strings.Cut(detail, "\n\n"); ok {
		detail = own
	}
	return b.Errors[0].Code, strings.TrimSpace(detail)
}
