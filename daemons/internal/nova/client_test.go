package nova_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/nova"
)

// exchange is one recorded request to Nova and its answer.
type exchange struct {
	To      string `json:"to"`
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         nova.Body
	}
	Response struct {
		Status int
		Body   json.RawMessage
	}
}

// answers is a Nova that answers what it is told to; nil is no answer.
type answers struct {
	queue []*exchange
	got   []*http.Request
	body  []nova.Body
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	var body nova.Body
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	a.got, a.body = append(a.got, r), append(a.body, body)
	e := a.queue[min(len(a.got), len(a.queue))-1]
	if e == nil {
		return nil, errors.New("connection refused")
	}
	return &http.Response{
		StatusCode: e.Response.Status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(e.Response.Body))), Request: r,
	}, nil
}

func (a *answers) client() *nova.Client {
	return nova.New(&gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: a}}, Endpoint: "http://nova.invalid/v2.1/",
	})
}

// TestRecordedAnswers sends what the peer sent, with the same headers, and judges each answer as the peer did.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "vectors")
	if given := os.Getenv("VECTORS_DIR"); given != "" {
		dir = given
	}
	for name, want := range map[string]string{
		"20-nova-ok":      "",
		"21-nova-422":     "",
		"22-nova-207-404": "Unexpected event code 404 for instance 11111111-0000-4000-8000-000000000002",
		"23-nova-mixed":   "All event responses are expected to have the same event code. Instance: 11111111-0000-4000-8000-000000000003",
		"24-nova-404":     "HTTP 404: ",
		"25-nova-500":     "HTTP 500: ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(dir, "placement", name+".json"))
			if errors.Is(err, os.ErrNotExist) {
				t.Skip(err)
			}
			var file struct{ Exchanges []*exchange }
			if err == nil {
				err = json.Unmarshal(text, &file)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range file.Exchanges {
				if e.To == "nova" {
					replay(t, e, want)
				}
			}
		})
	}
}

func replay(t *testing.T, e *exchange, want string) {
	t.Helper()
	a := &answers{queue: []*exchange{e}}
	err := a.client().Notify(t.Context(), e.Request.Body.Events)
	var refused *nova.ResponseError
	switch {
	case want == "" && err != nil, want != "" && !errors.As(err, &refused):
		t.Fatalf("Notify() = %v, want %q", err, want)
	case want != "" && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "Bad API response from Nova for os-server-external-events API. Details: ")):
		t.Errorf("Notify() = %v, want %q", err, want)
	}
	r := a.got[0]
	if len(a.got) != 1 || r.Method != e.Request.Method || r.URL.Path != e.Request.Path {
		t.Errorf("%d requests, %s %s", len(a.got), r.Method, r.URL)
	}
	for _, h := range []string{"OpenStack-API-Version", "X-OpenStack-Nova-API-Version", "Content-Type"} {
		if r.Header.Get(h) != e.Request.Headers[h] {
			t.Errorf("%s is %q, recorded %q", h, r.Header.Get(h), e.Request.Headers[h])
		}
	}
	if diff := cmp.Diff(e.Request.Body, a.body[0]); diff != "" {
		t.Error(diff)
	}
}

// TestUnreachable: no answer and 503 are tried three times within 5 s, other answers once.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	status := func(s int) *exchange {
		e := &exchange{}
		e.Response.Status, e.Response.Body = s, json.RawMessage("{}")
		return e
	}
	for name, tt := range map[string]struct {
		queue []*exchange
		tries int
		fails bool
	}{
		"never there":    {[]*exchange{nil}, 3, true},
		"busy":           {[]*exchange{status(503)}, 3, true},
		"back in time":   {[]*exchange{nil, status(503), status(200)}, 3, false},
		"answers 500":    {[]*exchange{status(500)}, 1, true},
		"207 of nothing": {[]*exchange{status(207)}, 1, true},
		"there":          {[]*exchange{status(200)}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, start := &answers{queue: tt.queue}, time.Now()
				err := a.client().Notify(t.Context(), []nova.Event{{Tag: "a"}})
				if (err != nil) != tt.fails || len(a.got) != tt.tries || time.Since(start) > 5*time.Second {
					t.Errorf("%v after %d tries and %s", err, len(a.got), time.Since(start))
				}
			})
		})
	}
}

// silent takes requests and never answers.
type silent struct{ requests int }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests++
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSilent: a Nova that takes events and never answers is given up after the time of one request, and asked again
// where that leaves some of the 5 s.
func TestSilent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		timeout, took time.Duration
		requests      int
	}{
		"default": {10 * time.Second, 10 * time.Second, 1},
		"short":   {time.Second, 3250 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &silent{}
				client := nova.New(&gophercloud.ServiceClient{
					ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: s, Timeout: tt.timeout}}, Endpoint: "http://nova.invalid/v2.1/",
				})
				start := time.Now()
				err := client.Notify(t.Context(), []nova.Event{{Tag: "a"}})
				if took := time.Since(start); err == nil || s.requests != tt.requests || took != tt.took {
					t.Errorf("%v after %d requests and %s", err, s.requests, took)
				}
			})
		})
	}
}

// TestCallerGone: the end of the caller's time is no reason to try again.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, start := &silent{}, time.Now()
		client := nova.New(&gophercloud.ServiceClient{
			ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: s}}, Endpoint: "http://nova.invalid/v2.1/",
		})
		if err := client.Notify(ctx, []nova.Event{{Tag: "a"}}); !errors.Is(err, context.DeadlineExceeded) || s.requests != 1 || time.Since(start) != time.Second {
			t.Errorf("%v after %d requests and %s", err, s.requests, time.Since(start))
		}
	})
}

func ExampleNew() {
	client := nova.New(&gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: &answers{queue: []*exchange{nil}}}},
		Endpoint:       "http://nova.example/v2.1/",
	})
	fmt.Println(client != nil, nova.Microversion)
	// Output: true 2.82
}
