package keystone_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/keystone"
)

// cloud is a Keystone and a service whose API asks for its newest token.
type cloud struct {
	mu      sync.Mutex
	server  *httptest.Server
	logins  []map[string]any // bodies
	valid   string           // the only token that the service takes
	expires time.Duration
	refuse  int      // logins to refuse
	seen    []string // method, path and body of what the service took
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{expires: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /identity/v3/auth/tokens", c.login)
	mux.HandleFunc("/service/", c.serve)
	c.server = httptest.NewServer(mux)
	t.Cleanup(c.server.Close)
	return c
}

func (c *cloud) login(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.logins = append(c.logins, body)
	if c.refuse > 0 {
		c.refuse--
		http.Error(w, `{"error": {"code": 401, "message": "no"}}`, http.StatusUnauthorized)
		return
	}
	c.valid = fmt.Sprintf("token-%d", len(c.logins))
	w.Header().Set("X-Subject-Token", c.valid)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"token": {"expires_at": %q, "catalog": [
		{"type": "placement", "name": "placement", "endpoints": [
			{"interface": "public", "region": "R1", "region_id": "R1", "url": "%[2]s/elsewhere"},
			{"interface": "internal", "region": "R2", "region_id": "R2", "url": "%[2]s/elsewhere"},
			{"interface": "internal", "region": "R1", "region_id": "R1", "url": "%[2]s/service/"}]}]}}`,
		time.Now().Add(c.expires).UTC().Format("2006-01-02T15:04:05.000000Z"), c.server.URL)
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Header.Get("X-Auth-Token") != c.valid {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	c.seen = append(c.seen, r.Method+" "+r.URL.RequestURI()+" "+string(body))
}

func (c *cloud) options() keystone.Options {
	return keystone.Options{
		Section: "placement", AuthType: "password", ServiceType: "placement", Region: "R1", Interfaces: []string{"internal", "public"},
		Auth: gophercloud.AuthOptions{
			IdentityEndpoint: c.server.URL + "/identity/v3", Username: "cyborg", Password: "secret", DomainName: "Default",
			Scope: &gophercloud.AuthScope{ProjectName: "service", DomainName: "Default"},
		},
	}
}

func open(t *testing.T, o keystone.Options) *gophercloud.ServiceClient {
	t.Helper()
	s, err := keystone.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.Service("placement")
}

func put(t *testing.T, client *gophercloud.ServiceClient, path string) error {
	t.Helper()
	resp, err := client.Request(t.Context(), http.MethodPut, client.ServiceURL(path), &gophercloud.RequestOpts{
		JSONBody: map[string]int{"n": 1}, OkCodes: []int{http.StatusOK},
	})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// TestTokenIsKept: one login serves all requests until the service refuses the token; then the request is repeated
// with its body after another login.
func TestTokenIsKept(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	client := open(t, c.options())
	for range 3 {
		if err := put(t, client, "a%20b?x=1"); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.logins) != 1 {
		t.Fatalf("%d logins for three requests", len(c.logins))
	}
	c.valid = "another"
	if err := put(t, client, "c"); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("PUT /service/a%20b?x=1 {\"n\":1}|", 3) + `PUT /service/c {"n":1}`
	if got := strings.Join(c.seen, "|"); got != want || len(c.logins) != 2 {
		t.Errorf("%d logins, requests\n%s, want\n%s", len(c.logins), got, want)
	}
	scope, _ := json.Marshal(c.logins[0])
	for _, part := range []string{`"name":"cyborg"`, `"password":"secret"`, `"project":{"domain":{"name":"Default"},"name":"service"}`} {
		if !strings.Contains(string(scope), part) {
			t.Errorf("the login lacks %s: %s", part, scope)
		}
	}
}

// TestTokenNearItsEnd is replaced before it is refused.
func TestTokenNearItsEnd(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.expires = 10 * time.Second
	client := open(t, c.options())
	for range 2 {
		if err := put(t, client, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.logins) != 2 {
		t.Errorf("%d logins, want 2", len(c.logins))
	}
}

// TestRefusedLogin is an error of the request, and the next one tries again. One service that refuses every token is
// asked twice, not for ever.
func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.refuse = 1
	client := open(t, c.options())
	if err := put(t, client, "a"); err == nil || !strings.Contains(err.Error(), "[placement]") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a refused login gave %v", err)
	}
	if err := put(t, client, "a"); err != nil {
		t.Error(err)
	}
	o := c.options()
	o.Region = "R3"
	if err := put(t, open(t, o), "a"); err == nil || !strings.Contains(err.Error(), "R3") {
		t.Errorf("a service that is not in the catalog gave %v", err)
	}
}

// TestSilence: a Keystone that takes a log-in and never answers costs the request its time, and then the next one is as
// good as the first. Without an option that time is 10 s.
func TestSilence(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	if got := open(t, c.options()).HTTPClient.Timeout; got != 10*time.Second {
		t.Errorf("a request may take %s by default", got)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	o := c.options()
	o.Timeout, o.Auth.IdentityEndpoint = 50*time.Millisecond, server.URL
	client := open(t, o)
	for range 2 {
		if err := put(t, client, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a log-in without an answer gave %v", err)
		}
	}
}

func TestNoLogin(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	client := open(t, keystone.Options{AuthType: "none", EndpointOverride: c.server.URL + "/service"})
	if err := put(t, client, "a"); err != nil || len(c.logins) != 0 {
		t.Errorf("%v, %d logins", err, len(c.logins))
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options keystone.Options
		word    string
	}{
		"plugin":       {keystone.Options{AuthType: "kerberos"}, "auth_type"},
		"no URL":       {keystone.Options{AuthType: "password"}, "auth_url"},
		"no endpoint":  {keystone.Options{AuthType: "none"}, "endpoint_override"},
		"no CA":        {keystone.Options{AuthType: "none", EndpointOverride: "http://h", CAFile: "/nonexistent"}, "cafile"},
		"no key":       {keystone.Options{AuthType: "none", EndpointOverride: "http://h", CertFile: "/nonexistent"}, "certfile"},
		"foreign file": {keystone.Options{AuthType: "none", EndpointOverride: "http://h", CAFile: "session_test.go"}, "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := keystone.New(tt.options); err == nil || !strings.Contains(err.Error(), tt.word) {
				t.Errorf("got %v, want it to name %s", err, tt.word)
			}
		})
	}
}
