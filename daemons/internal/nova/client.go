package nova

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// Microversion is that of the compute API which every request asks for, as Cyborg 17 does.
const Microversion = "2.82"

const (
	serviceType = "compute" // gophercloud's name, which decides the header of the microversion
	eventsPath  = "os-server-external-events"
	// A Nova that cannot be reached, or says that it is not there (503), is tried again within patience.
	maxTries = 3
	patience = 5 * time.Second
)

// Client tells Nova over its compute API. It is safe for concurrent use.
type Client struct {
	service *gophercloud.ServiceClient
}

// New makes a client from an authenticated service client of type compute, which is not changed.
func New(service *gophercloud.ServiceClient) *Client {
	own := *service
	own.Type, own.Microversion = serviceType, Microversion
	return &Client{service: &own}
}

// ResponseError says that Nova did not take the events. It maps to Cyborg's InvalidAPIResponse and has its text.
type ResponseError struct {
	Status int    // of the answer
	Detail string // what was wrong with it
}

func (e *ResponseError) Error() string {
	return "Bad API response from Nova for " + eventsPath + " API. Details: " + e.Detail
}

// Notify sends one notification. Nova answers 207 with code 422 for every event while an instance has no host yet:
// that is no error, because Nova then asks for resolved requests itself before it waits. Any other answer than that
// and 200 is a *[ResponseError]. An unreachable Nova and status 503 are tried three times within 5 s. How long one
// request waits for its answer is up to the service client.
func (c *Client) Notify(ctx context.Context, events []Event) error {
	start := time.Now()
	for try := 1; ; try++ {
		err := c.send(ctx, events)
		if err == nil || try == maxTries || ctx.Err() != nil || !temporary(err) {
			return err
		}
		wait := time.Duration(try) * patience / 4
		if time.Since(start)+wait > patience {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		case <-timer.C:
		}
	}
}

// temporary reports whether an error is worth another try: no answer, or 503.
func temporary(err error) bool {
	if answered, ok := errors.AsType[*ResponseError](err); ok {
		return answered.Status == http.StatusServiceUnavailable
	}
	return true
}

func (c *Client) send(ctx context.Context, events []Event) error {
	var code gophercloud.ErrUnexpectedResponseCode
	resp, err := c.service.Request(ctx, http.MethodPost, c.service.ServiceURL(eventsPath), &gophercloud.RequestOpts{
		JSONBody: Body{Events: events}, OkCodes: []int{http.StatusOK, http.StatusMultiStatus}, KeepResponseBody: true,
	})
	switch {
	case errors.As(err, &code):
		return &ResponseError{code.Actual, fmt.Sprintf("Failed to send events %s: HTTP %d: %s", pythonList(events), code.Actual, code.Body)}
	case err != nil:
		return fmt.Errorf("tell nova: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("tell nova: %w", err)
	}
	return multiStatus(text)
}

// multiStatus judges the body of a 207.
func multiStatus(text []byte) error {
	var body struct {
		Events []struct {
			Code       int    `json:"code"`
			ServerUUID string `json:"server_uuid"`
		} `json:"events"`
	}
	if err := json.Unmarshal(text, &body); err != nil || len(body.Events) == 0 {
		return &ResponseError{http.StatusMultiStatus, "HTTP 207 without events"}
	}
	first := body.Events[0]
	for _, e := range body.Events[1:] {
		if e.Code != first.Code {
			return &ResponseError{
				http.StatusMultiStatus,
				"All event responses are expected to have the same event code. Instance: " + first.ServerUUID,
			}
		}
	}
	if first.Code == http.StatusUnprocessableEntity {
		return nil
	}
	return &ResponseError{http.StatusMultiStatus, fmt.Sprintf("Unexpected event code %d for instance %s", first.Code, first.ServerUUID)}
}

// pythonList writes events as the peer's message has them.
func pythonList(events []Event) string {
	parts := make([]string, len(events))
	for i, e := range events {
		parts[i] = fmt.Sprintf("{'name': '%s', 'server_uuid': '%s', 'tag': '%s', 'status': '%s'}", e.Name, e.ServerUUID, e.Tag, e.Status)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
