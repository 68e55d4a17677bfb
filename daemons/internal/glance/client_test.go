package glance_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/glance"
)

func TestImages(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/images/one", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id": "one", "accel:function_id": "f", "visibility": "public"}`)
	})
	mux.HandleFunc("GET /v2/images", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, map[string]string{"f": `{"images": [{"id": "one"}]}`, "g": `{"images": [{"id": "one"}, {"id": "two"}]}`, "h": `{"images": []}`}[r.URL.Query().Get("accel:function_id")])
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client := glance.New(&gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{}, Endpoint: server.URL + "/"})
	if got, err := client.ByID(t.Context(), "one"); err != nil || got != (glance.Image{ID: "one", FunctionID: "f"}) {
		t.Errorf("ByID() = %v, %v", got, err)
	}
	if _, err := client.ByID(t.Context(), "two"); err == nil {
		t.Error("an absent image is no error")
	}
	if got, err := client.ByFunction(t.Context(), "f"); err != nil || got != (glance.Image{ID: "one", FunctionID: "f"}) {
		t.Errorf("ByFunction() = %v, %v", got, err)
	}
	for _, function := range []string{"g", "h"} {
		if got, err := client.ByFunction(t.Context(), function); err == nil {
			t.Errorf("ByFunction(%s) = %v", function, got)
		}
	}
}
