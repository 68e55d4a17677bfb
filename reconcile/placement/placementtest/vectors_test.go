package placementtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// exchange is one recorded request and its answer.
type exchange struct {
	To      string `json:"to"`
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         any
	} `json:"request"`
	Response struct {
		Status  int
		Headers map[string]string
		Body    any
	} `json:"response"`
}

// tally counts cases for the one line a conformance run prints.
type tally struct{ passed, failed, skipped int }

// vectors names the recorded files of an area; $VECTORS_DIR wins.
func vectors(t *testing.T, area, pattern string) []string {
	t.Helper()
	dir := os.Getenv("VECTORS_DIR")
	if dir == "" {
		dir = filepath.Join("testdata", "vectors")
	}
	files, err := filepath.Glob(filepath.Join(dir, area, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// replay sends a recorded request to the handler and compares status, version
// and body; request ids differ by nature.
func replay(client *http.Client, e exchange) string {
	var body io.Reader
	if e.Request.Body != nil {
		text, err := json.Marshal(e.Request.Body)
		if err != nil {
			return err.Error()
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequest(e.Request.Method, "http://placement.invalid"+e.Request.Path, body)
	if err != nil {
		return err.Error()
	}
	for k, v := range e.Request.Headers {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var got any
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil && !errors.Is(err, io.EOF) {
		return err.Error()
	}
	want := e.Response.Body
	if want == "" {
		want = nil
	}
	if resp.StatusCode != e.Response.Status {
		return fmt.Sprintf("status %d, recorded %d; body %v", resp.StatusCode, e.Response.Status, got)
	}
	if v, ok := e.Response.Headers["openstack-api-version"]; ok && v != resp.Header.Get("OpenStack-API-Version") {
		return fmt.Sprintf("version %q, recorded %q", resp.Header.Get("OpenStack-API-Version"), v)
	}
	return cmp.Diff(withoutRequestID(want), withoutRequestID(got))
}

func withoutRequestID(v any) any {
	if m, ok := v.(map[string]any); ok {
		if list, ok := m["errors"].([]any); ok {
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					delete(m, "request_id")
				}
			}
		}
	}
	return v
}

// TestPlacementVectors replays what Cyborg 17 said to a real Placement 15, in
// the order of the recording, and compares every answer.
func TestPlacementVectors(t *testing.T) {
	var n tally
	handler := placementtest.New(nil)
	client := placementtest.Client(handler)
	for _, file := range vectors(t, "placement", "[0-9][0-9]-*.json") {
		var recorded struct{ Exchanges []exchange }
		read(t, file, &recorded)
		for i, e := range recorded.Exchanges {
			if e.To != "placement" {
				continue
			}
			seedRoot(t, handler, e)
			if diff := replay(client, e); diff != "" {
				n.failed++
				t.Errorf("%s: exchange %d: %s %s: %s", filepath.Base(file), i, e.Request.Method, e.Request.Path, diff)
				continue
			}
			n.passed++
		}
	}
	n.reserved(t)
	fmt.Fprintf(os.Stdout, "placement vectors: %d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped)
}

// seedRoot creates the host's own provider, which Nova had made before the
// recording began, from the first answer that shows it.
func seedRoot(t *testing.T, h *placementtest.Handler, e exchange) {
	t.Helper()
	if e.Request.Method != http.MethodGet || len(h.Placement.Providers("", "", "")) > 0 {
		return
	}
	body, _ := e.Response.Body.(map[string]any)
	list, _ := body["resource_providers"].([]any)
	if len(list) == 0 {
		return
	}
	root, _ := list[0].(map[string]any)
	if _, err := h.Placement.CreateProvider(root["uuid"].(string), root["name"].(string), ""); err != nil {
		t.Fatal(err)
	}
}

// reserved replays the recorded facts about reserved, allocations and
// generations.
func (n *tally) reserved(t *testing.T) {
	t.Helper()
	client := placementtest.Client(placementtest.New(nil))
	for _, file := range vectors(t, "nvme", "placement-reserved.json") {
		var recorded []struct {
			Method, Path, Microversion string
			Request, Response          any
			Status                     int
		}
		read(t, file, &recorded)
		for i, r := range recorded {
			var e exchange
			e.Request.Method, e.Request.Path, e.Request.Body = r.Method, r.Path, r.Request
			e.Request.Headers = map[string]string{"OpenStack-API-Version": "placement " + r.Microversion}
			e.Response.Status, e.Response.Body = r.Status, r.Response
			if diff := replay(client, e); diff != "" {
				n.failed++
				t.Errorf("%s: %d: %s %s: %s", filepath.Base(file), i, r.Method, r.Path, diff)
				continue
			}
			n.passed++
		}
	}
}
