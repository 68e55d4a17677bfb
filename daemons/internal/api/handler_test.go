package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/rpc"
)

// send makes one request; headers are name, value pairs.
func (w *world) send(t *testing.T, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	request.Host = "api.example"
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.ServeHTTP(out, request)
	return out
}

// headerValue reads a header by the spelling that is sent, which is not Go's.
func headerValue(r *httptest.ResponseRecorder, name string) string {
	return strings.Join(r.Header()[name], ", ")
}

// must sends and wants a status.
func (w *world) must(t *testing.T, status int, method, path, body string, headers ...string) string {
	t.Helper()
	out := w.send(t, method, path, body, headers...)
	if out.Code != status {
		t.Fatalf("%s %s: status %d, want %d; %s", method, path, out.Code, status, out.Body)
	}
	return out.Body.String()
}

// newRequest creates a profile and one request of it; the caller is in headers.
func (w *world) newRequest(t *testing.T, headers ...string) string {
	t.Helper()
	w.send(t, "POST", "/v2/device_profiles", `[{"name": "one", "groups": [{"resources:FPGA": "1"}]}]`, "X-Auth-Token", "admin")
	body := w.must(t, 201, "POST", "/v2/accelerator_requests", `{"device_profile_name": "one"}`, headers...)
	var created struct{ ARQs []struct{ UUID string } }
	if err := json.Unmarshal([]byte(body), &created); err != nil || len(created.ARQs) != 1 {
		t.Fatalf("%v in %s", err, body)
	}
	return created.ARQs[0].UUID
}

const theInstance = "11111111-0000-4000-8000-000000000000"

func bindBody(id string) string {
	return fmt.Sprintf(`{"%s": [{"path": "/hostname", "op": "add", "value": "%s"}, {"path": "/device_rp_uuid", "op": "add", "value": "%s"},
		{"path": "/instance_uuid", "op": "add", "value": "%s"}]}`, id, recordedHost, recordedProvider, theInstance)
}

// Case 090: with and without the service type; the header sent twice.
func TestVersionHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{}, policy.Config{})
	for _, tc := range []struct {
		values []string
		status int
		answer string
		ranged bool
	}{
		{[]string{"accelerator 2.4"}, 200, "accelerator 2.4", true},
		{[]string{"2.4"}, 200, "accelerator 2.4", true},
		{[]string{"compute 2.90, accelerator 2.4"}, 200, "accelerator 2.4", true},
		{[]string{"compute 2.90", "accelerator 2.4"}, 200, "accelerator 2.4", true},
		{[]string{"accelerator  2.4"}, 200, "accelerator 2.4", true},
		{[]string{"Accelerator 2.4"}, 200, "accelerator 2.4", true},
		{[]string{"accelerator latest"}, 200, "accelerator 2.4", true},
		{nil, 200, "accelerator 2.0", true},
		{[]string{"accelerator 2.5"}, 406, "", true},
		{[]string{"accelerator 2.99"}, 406, "", true},
		{[]string{"accelerator 1.0"}, 406, "", true},
		{[]string{"accelerator 2"}, 406, "", false},
		{[]string{"accelerator"}, 406, "", false},
		{[]string{"nova 2.4"}, 406, "", false},
		{[]string{"accelerator 2.-1"}, 406, "", true},
		{[]string{"accelerator 2.99999999999999999999"}, 406, "", false},
	} {
		var headers []string
		for _, v := range tc.values {
			headers = append(headers, headerVersion, v)
		}
		out := w.send(t, "GET", "/accelerator/v2/accelerator_requests", "", headers...)
		if out.Code != tc.status || headerValue(out, headerVersion) != tc.answer {
			t.Errorf("%q: status %d, version %q", tc.values, out.Code, headerValue(out, headerVersion))
		}
		if got := headerValue(out, "Vary") == headerVersion && headerValue(out, headerMaximum) == "2.4"; got != tc.ranged {
			t.Errorf("%q: headers %v", tc.values, out.Header())
		}
	}
}

// Case 091: six callers and what they may do to an unbound and a bound request of
// project demo.
func TestBoundRequestsNeedAServiceToken(t *testing.T) {
	t.Parallel()
	callers := map[string][]string{
		"member of the project":       {"X-Auth-Token", "demo"},
		"member of another project":   {"X-Auth-Token", "alt"},
		"administrator":               {"X-Auth-Token", "admin"},
		"member with a service token": {"X-Auth-Token", "demo", "X-Service-Token", "nova"},
		"expired service token":       {"X-Auth-Token", "demo", "X-Service-Token", "expired"},
		"service token without role":  {"X-Auth-Token", "demo", "X-Service-Token", "alt"},
	}
	for _, tc := range []struct {
		caller                             string
		unbound, bound, both, instance     int
		bindUnbound, unbindBound, survived int
	}{
		{"member of the project", 204, 403, 403, 403, 403, 403, 1},
		{"member of another project", 404, 404, 404, 403, 403, 403, 2},
		{"administrator", 204, 403, 403, 403, 403, 403, 1},
		{"member with a service token", 204, 204, 404, 204, 404, 404, 0},
		{"expired service token", 401, 401, 401, 401, 401, 401, 2},
		{"service token without role", 401, 401, 401, 401, 401, 401, 2},
	} {
		t.Run(tc.caller, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Config{Authenticator: recordedPersonas()}, policy.Config{})
			u, b := w.newRequest(t, "X-Auth-Token", "demo"), w.newRequest(t, "X-Auth-Token", "demo")
			w.must(t, 202, "PATCH", "/v2/accelerator_requests", bindBody(b), "X-Auth-Token", "demo", "X-Service-Token", "nova")
			as := callers[tc.caller]
			unbind := fmt.Sprintf(`{"%s": [{"path": "/hostname", "op": "remove"}]}`, b)
			if tc.caller == "member with a service token" {
				w.must(t, tc.unbound, "DELETE", "/v2/accelerator_requests?arqs="+u, "", as...)
				w.must(t, tc.bound, "DELETE", "/v2/accelerator_requests?arqs="+b, "", as...)
			}
			if tc.caller != "member with a service token" {
				w.must(t, tc.both, "DELETE", "/v2/accelerator_requests?arqs="+u+","+b, "", as...)
				w.must(t, tc.bound, "DELETE", "/v2/accelerator_requests?arqs="+b, "", as...)
			}
			w.must(t, tc.instance, "DELETE", "/v2/accelerator_requests?instance="+theInstance, "", as...)
			w.must(t, tc.bindUnbound, "PATCH", "/v2/accelerator_requests", strings.ReplaceAll(bindBody(u), theInstance, "22222222-0000-4000-8000-000000000000"), as...)
			w.must(t, tc.unbindBound, "PATCH", "/v2/accelerator_requests", unbind, as...)
			if tc.caller != "member with a service token" {
				w.must(t, tc.unbound, "DELETE", "/v2/accelerator_requests/"+u, "", as...)
			}
			list := w.must(t, 200, "GET", "/v2/accelerator_requests", "", "X-Auth-Token", "admin")
			if got := strings.Count(list, `"state"`); got != tc.survived {
				t.Errorf("%d requests are left, want %d", got, tc.survived)
			}
		})
	}
}

// Case 096: managed is a JSON boolean from 2.4 on, absent below, and the row stays
// as it is.
func TestManagedByMicroversion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind, info string
		status     int
		want       string
	}{
		{"PCI", `{"domain": "0000", "bus": "25", "device": "00", "function": "1"}`, 200, `"managed": true, `},
		{"PCI", `{"domain": "0000", "managed": true}`, 200, `"managed": true, `},
		{"PCI", `{"domain": "0000", "managed": false}`, 200, `"managed": false, `},
		{"PCI", `{"domain": "0000", "managed": "false"}`, 500, ""},
		{"PCI", `{"domain": "0000", "managed": "no"}`, 500, ""},
		{"PCI", `{"domain": "0000", "managed": 0}`, 500, ""},
		{"PCI", `{"domain": "0000", "managed": null}`, 500, ""},
		{"PCI", `{"domain": "0000", "managed": ""}`, 500, ""},
		{"MDEV", `{"domain": "0000", "managed": false}`, 200, `"stateful": false, `},
	} {
		t.Run(tc.kind+tc.info, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Config{}, policy.Config{})
			id := w.newRequest(t)
			if _, err := w.db.ExecContext(t.Context(), "UPDATE attach_handles SET attach_type = ?, attach_info = ?", tc.kind, tc.info); err != nil {
				t.Fatal(err)
			}
			w.must(t, 202, "PATCH", "/v2/accelerator_requests", bindBody(id))
			if tc.kind == "MDEV" {
				// The agent's part of the bind is not played here.
				if _, err := w.db.ExecContext(t.Context(), "UPDATE extended_accelerator_requests SET state = 'Bound'"); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				for path, wrap := range map[string]string{"/" + id: "", "": `{"arqs": [`} {
					at := "/v2/accelerator_requests" + path
					if got := w.must(t, 200, "GET", at, "", headerVersion, "accelerator 2.3"); strings.Contains(got, "managed") || strings.Contains(got, "stateful") {
						t.Errorf("2.3 shows %s", got)
					}
					got := w.must(t, tc.status, "GET", at, "", headerVersion, "accelerator 2.4")
					if tc.status == 200 && (!strings.Contains(got, tc.want) || !strings.HasPrefix(got, wrap) || !strings.Contains(got, `"domain": "0000"`)) {
						t.Errorf("2.4 shows %s", got)
					}
					if tc.kind == "MDEV" && strings.Contains(got, "managed") {
						t.Errorf("an mdev shows %s", got)
					}
				}
			}
			var stored string
			if err := w.db.QueryRowContext(t.Context(), "SELECT attach_info FROM attach_handles WHERE in_use = 1").Scan(&stored); err != nil || stored != tc.info {
				t.Errorf("stored %s, %v", stored, err)
			}
		})
	}
}

// Case 097: the deployable is recorded, and the forms of DELETE differ.
func TestDeleteForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{}, policy.Config{})
	id := w.newRequest(t)
	w.must(t, 202, "PATCH", "/v2/accelerator_requests", bindBody(id))
	var deployable int
	if err := w.db.QueryRowContext(t.Context(), "SELECT deployable_id FROM extended_accelerator_requests").Scan(&deployable); err != nil || deployable != 1 {
		t.Errorf("deployable %d, %v", deployable, err)
	}
	const gone = "deadbeef-0000-4000-8000-000000000001"
	w.must(t, 404, "DELETE", "/v2/accelerator_requests?arqs="+id+","+gone, "")
	w.must(t, 404, "DELETE", "/v2/accelerator_requests?arqs="+gone, "")
	w.must(t, 404, "DELETE", "/v2/accelerator_requests?arqs="+id+",%20"+gone, "")
	w.must(t, 500, "DELETE", "/v2/accelerator_requests?arqs="+id+"&instance="+theInstance, "")
	w.must(t, 500, "DELETE", "/v2/accelerator_requests", "")
	w.must(t, 200, "GET", "/v2/accelerator_requests/"+id, "")
	for range 2 {
		w.must(t, 204, "DELETE", "/v2/accelerator_requests?instance="+theInstance, "")
	}
	w.must(t, 404, "GET", "/v2/accelerator_requests/"+id, "")
	var free int
	if err := w.db.QueryRowContext(t.Context(), "SELECT count(*) FROM attach_handles WHERE in_use = 0").Scan(&free); err != nil || free != 16 {
		t.Errorf("%d handles are free, %v", free, err)
	}
}

func TestDevicesThatOweAStepAreTheConductors(t *testing.T) {
	t.Parallel()
	for kind, owes := range map[arq.HandleType]bool{arq.HandlePCI: false, arq.HandleMDEV: true} {
		if got := owesStep(arq.Request{Handle: &arq.Handle{Type: kind}}); got != owes {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if !owesStep(arq.Request{Handle: &arq.Handle{Type: arq.HandlePCI}, Device: arq.Device{Type: arq.DeviceTypeNVMe}}) {
		t.Error("an NVMe device would be freed without being erased")
	}
}

func TestErrorsByOrigin(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err    error
		status int
		text   string
	}{
		{&arq.NotFoundError{Resource: "ExtArq", Msg: "with uuid=x"}, 404, "ExtArq not found with uuid=x"},
		{&store.DuplicateError{Resource: "Device Profile", Key: "uuid", Value: "x"}, 500, "DeviceProfile with uuid x already exists."},
		{&store.Error{Op: "X", Kind: store.Unavailable, Err: errors.New("SELECT secret")}, 503, "The database is not available."},
		{&store.Error{Op: "X", Kind: store.Referenced, Err: errors.New("SELECT secret")}, 500, "Database error: row is referred to, or refers to a missing row."},
		{&rpc.RemoteError{
			Class: rpc.Class{Module: "cyborg.common.exception", Name: "ResourceNotFound"}, Message: "AttachHandle not found\nTraceback: secret",
			Kwargs: map[string]json.RawMessage{"code": json.RawMessage("404")},
		}, 404, "AttachHandle not found"},
		{&rpc.RemoteError{Class: rpc.Class{Module: "cyborg.common.exception", Name: "X"}, Message: "m"}, 500, "m"},
		{&rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "ValueError"}, Message: "bad\nsecret"}, 500, "Remote error: ValueError bad"},
		{errors.New("secret"), 500, "Internal error; the log of the API names it by this request's id."},
	} {
		f := asFault(fmt.Errorf("wrapped: %w", tc.err))
		if f.status != tc.status || f.text != tc.text {
			t.Errorf("%v: %d %q", tc.err, f.status, f.text)
		}
	}
}

func TestIdentityServiceDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{Authenticator: broken{}}, policy.Config{})
	if out := w.send(t, "GET", "/v2/devices", ""); out.Code != 503 || strings.Contains(out.Body.String(), "refused") {
		t.Errorf("%d %s", out.Code, out.Body)
	}
	w.must(t, 200, "GET", "/v2", "")
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "down")
	w := newWorld(t, Config{DisableByFile: file, Authenticator: recordedPersonas()}, policy.Config{})
	if got := w.must(t, 200, "GET", "/healthcheck", ""); got != "OK" {
		t.Errorf("body %q", got)
	}
	w.must(t, 204, "HEAD", "/healthcheck", "")
	if got := w.must(t, 200, "GET", "/healthcheck", "", "Accept", "application/json"); got != `{"detailed": false, "reasons": ["OK"]}` {
		t.Errorf("body %q", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.must(t, 503, "GET", "/healthcheck", ""); got != "DISABLED BY FILE" {
		t.Errorf("body %q", got)
	}
	w.must(t, 503, "HEAD", "/healthcheck", "")
}

func TestLargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{}, policy.Config{})
	w.must(t, 413, "POST", "/v2/device_profiles", `["`+strings.Repeat("x", maxBody)+`"]`)
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := New(Config{})
	for _, name := range []string{"Store", "Conductor", "Authenticator", "Policy"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
}

func TestJSONIsWrittenAsPythonDoes(t *testing.T) {
	t.Parallel()
	got, err := encode(map[string]any{"a": []any{"é, \"x\": <", nil, 1}, "😀": "\\"})
	if err != nil || string(got) != `{"a": ["\u00e9, \"x\": <", null, 1], "\ud83d\ude00": "\\"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestLinksFollowTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Config{}, policy.Config{})
	if got := w.must(t, 200, "GET", "/v2", "", "X-Forwarded-Proto", "https"); !strings.Contains(got, `"http://api.example/accelerator/v2/"`) {
		t.Errorf("an untrusted header is believed: %s", got)
	}
	w = newWorld(t, Config{PublicEndpoint: "https://cloud.example:6666/"}, policy.Config{})
	if got := w.must(t, 200, "GET", "/", ""); !strings.Contains(got, `"https://cloud.example:6666/accelerator/v2"`) {
		t.Errorf("public_endpoint is ignored: %s", got)
	}
}
