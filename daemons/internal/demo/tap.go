package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/go-cyborg/cyborg/rpc"
)

// tap is a transport that keeps the envelope of every request it is given, and then sends it. It is safe for
// concurrent use.
type tap struct {
	rpc.Transport
	mu   sync.Mutex
	sent []request
}

// request is one request as it left: the evidence of what an RPC client sent.
type request struct {
	Method   string
	Version  string
	Call     string          // class.method of an object operation
	Envelope json.RawMessage // the body, byte for byte
}

func newTap(t rpc.Transport) *tap { return &tap{Transport: t} }

// Send implements [rpc.Transport].
func (t *tap) Send(ctx context.Context, m rpc.Message, done func(error)) {
	if m.To.Queue == "" { // an answer goes to a queue, a request to a topic
		t.keep(m.Body)
	}
	t.Transport.Send(ctx, m, done)
}

func (t *tap) keep(body []byte) {
	r := request{Envelope: bytes.Clone(body)}
	var outer struct {
		Message string `json:"oslo.message"`
	}
	var inner struct {
		Method  string `json:"method"`
		Version string `json:"version"`
		Args    struct {
			Object string `json:"objname"`
			Method string `json:"objmethod"`
		} `json:"args"`
	}
	if json.Unmarshal(body, &outer) == nil && json.Unmarshal([]byte(outer.Message), &inner) == nil {
		r.Method, r.Version = inner.Method, inner.Version
		if inner.Args.Object != "" {
			r.Call = inner.Args.Object + "." + inner.Args.Method
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = append(t.sent, r)
}

// requests returns what was sent so far.
func (t *tap) requests() []request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}

// answer is a REST answer as it came.
type answer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// into decodes the body.
func (a answer) into(v any) error {
	if err := json.Unmarshal(a.Body, v); err != nil {
		return fmt.Errorf("REST answer %d %q: %w", a.Status, a.Body, err)
	}
	return nil
}

// rest calls an HTTP API and keeps nothing but the answer.
type rest struct{ base string }

// call sends one request; body is nil for none. Only a request that got no answer is an error.
func (r rest) call(ctx context.Context, method, path string, body any, header ...string) (answer, error) {
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, payload)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: res.StatusCode}
	if len(raw) > 0 {
		a.Body = raw
	}
	return a, nil
}

// want calls and insists on a status.
func (r rest) want(ctx context.Context, status int, method, path string, body any, header ...string) (answer, error) {
	a, err := r.call(ctx, method, path, body, header...)
	if err == nil && a.Status != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	return a, err
}
