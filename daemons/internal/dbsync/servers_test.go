package dbsync_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
)

func TestNovaServers(t *testing.T) {
	t.Parallel()
	nova := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-OpenStack-Nova-API-Version") != "2.82" || r.Header.Get("OpenStack-API-Version") != "compute 2.82" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v2.1/servers/known":
			_, _ = io.WriteString(w, `{"server": {"id": "known", "tenant_id": "project-1"}}`)
		case "/v2.1/servers/odd":
			_, _ = io.WriteString(w, `{"server": {}}`)
		case "/v2.1/servers/broken":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(nova.Close)
	servers := dbsync.NovaServers(&gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{}, Endpoint: nova.URL + "/v2.1/",
	})
	ctx := context.Background()
	if p, err := servers.ProjectOf(ctx, "known"); p != "project-1" || err != nil {
		t.Errorf("known: %q, %v", p, err)
	}
	if _, err := servers.ProjectOf(ctx, "gone"); !errors.Is(err, dbsync.ErrNoServer) {
		t.Errorf("gone: %v", err)
	}
	for _, id := range []string{"odd", "broken", "../flavors"} {
		if p, err := servers.ProjectOf(ctx, id); err == nil || id != "../flavors" && errors.Is(err, dbsync.ErrNoServer) {
			t.Errorf("%s: %q, %v", id, p, err)
		}
	}
}
