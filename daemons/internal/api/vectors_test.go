package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/policy"
)

// scenario is a recording of the peer, to be replayed in order.
type scenario struct {
	Scenario string
	Steps    []step
	Commands []json.RawMessage
}

type step struct {
	Note    string
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
		RawBody      string `json:"raw_body"`
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    json.RawMessage
	}
}

func TestVectors(t *testing.T) {
	dir := filepath.Join("testdata", "vectors", "api")
	if root := os.Getenv("VECTORS_DIR"); root != "" {
		dir = filepath.Join(root, "api")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var passed, failed, skipped int
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s scenario
		if err := json.Unmarshal(content, &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if reason := skipFile(name); reason != "" {
			skipped += len(s.Steps) + len(s.Commands)
			t.Logf("%s skipped: %s", name, reason)
			continue
		}
		r := &replay{world: newWorld(t, Config{
			Authenticator: recordedPersonas(), Highest: 3, TrustForwardedProto: true, KeystoneURL: "http://127.0.0.1:17501/v3",
		}, policy.Config{EnforceNewDefaults: strings.HasPrefix(name, "03b")}), ids: map[string]string{}}
		for i, step := range s.Steps {
			reason := skipStep(name, step)
			if reason != "" {
				skipped++
				t.Logf("%s %d skipped: %s", name, i, reason)
			}
			ok := t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) { r.run(t, step, reason != "") })
			switch {
			case reason != "":
			case ok:
				passed++
			default:
				failed++
			}
		}
	}
	fmt.Fprintf(os.Stdout, "api vectors: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
}

// skipFile names the recordings whose subject is built elsewhere.
func skipFile(name string) string {
	switch name[:2] {
	case "07":
		return "how Nova answers is the conductor's business"
	case "12":
		return "the inventory changes by reports, which come with the conductor"
	case "14":
		return "commands of Python clients, run by the interop tests"
	}
	return ""
}

// skipStep names the steps that we answer differently on purpose, or that need what
// is not built yet. They are still sent, since later steps build on them.
func skipStep(file string, s step) string {
	path, note := s.Request.Path, s.Note
	switch {
	case strings.HasPrefix(path, "/accelerator/"):
		return "paths below /accelerator are served here"
	case note == "the agent has no image service to fetch from":
		return "programming comes with the agent's drivers"
	case strings.HasPrefix(file, "03-") && s.Request.Headers["X-Auth-Token"] == "<token of unscoped>" && path == "/v2/accelerator_requests" && s.Request.Method == http.MethodGet:
		return "a token without a project sees no project's requests here"
	case note == "amount as a JSON float" || strings.Contains(path, "amount-float") || note == "after the row was removed in the database":
		return "an amount of 1.5 is refused, not stored for a later failure"
	case note == "created_at given":
		return "the time of creation is ours to set"
	case note == "name is a list":
		return "an accident of one database driver"
	case strings.Contains(note, "the bad UUID") || note == "it can be read by name" || note == "and cannot be deleted":
		return "a bad UUID is refused before anything is written"
	case strings.Contains(path, "type=fpga") || strings.Contains(path, "vendor=0xabcd"):
		return "MariaDB compares without case; this test runs on SQLite"
	}
	return skipBind(file, s)
}

// skipBind names the steps of 06 around a bind to a provider that does not exist.
func skipBind(file string, s step) string {
	if !strings.HasPrefix(file, "06") {
		return ""
	}
	switch {
	case strings.HasPrefix(s.Note, "423:"), s.Note == "bind in state BindStarted",
		s.Note == "" && strings.Contains(string(s.Response.Body), `"BindStarted"`),
		strings.HasSuffix(s.Request.Path, "?bind_state=resolved"):
		return "a bind that finds no provider ends in BindFailed here, never in BindStarted for ever"
	}
	return ""
}

// replay sends the steps of one recording and translates what differs from run to
// run: UUIDs that the service chose.
type replay struct {
	*world
	ids map[string]string // recorded → ours
}

func (r *replay) run(t *testing.T, s step, quiet bool) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, r.request(t, s))
	if quiet {
		r.learn(s.Response.Body, w.Body.Bytes())
		return
	}
	if w.Code != s.Response.Status {
		t.Fatalf("%s %s: status %d, recorded %d; body %s", s.Request.Method, s.Request.Path, w.Code, s.Response.Status, w.Body)
	}
	if s.Request.Method != http.MethodHead {
		r.compareBody(t, s.Response.Body, w.Body.Bytes())
	}
	r.compareHeaders(t, s, w.Result().Header, w.Body.Len())
}

func (r *replay) request(t *testing.T, s step) *http.Request {
	t.Helper()
	body := s.Request.RawBody
	if len(s.Request.Body) > 0 && string(s.Request.Body) != "null" && body == "" {
		body = r.translate(string(s.Request.Body))
	}
	if s.Note == "name is a list" {
		body = `{"device_profile_name": "fpga-one"}` // later lists count it
	}
	path := r.translate(s.Request.Path)
	if path == "" {
		path = "/"
	}
	request := httptest.NewRequestWithContext(t.Context(), s.Request.Method, path, strings.NewReader(body))
	request.Host = "127.0.0.1:16666"
	for name, value := range s.Request.Headers {
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Set(name, value)
	}
	return request
}

var (
	uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{6})?\+00:00$`)
	// pythonText matches texts that show the inside of a Python program.
	pythonText = regexp.MustCompile(`object has no attribute|has no len\(\)|argument must be|is not iterable|argument after|invalid literal|expected string|` +
		`string indices must be|DBReferenceError|DBDataError|pymysql|cannot be None|Cannot load|got 'int'|^0$|Expected a uuid`)
)

func (r *replay) translate(text string) string {
	return uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if ours, ok := r.ids[id]; ok {
			return ours
		}
		return id
	})
}

// learn pairs the UUIDs of a recorded body and ours.
func (r *replay) learn(recorded, ours []byte) {
	var want, got any
	if json.Unmarshal(recorded, &want) == nil && json.Unmarshal(ours, &got) == nil {
		r.same("", want, got)
	}
}

func (r *replay) compareBody(t *testing.T, recorded, ours []byte) {
	t.Helper()
	if len(recorded) == 0 || string(recorded) == "null" {
		if len(ours) > 0 {
			t.Errorf("body %s, recorded none", ours)
		}
		return
	}
	var want, got any
	if err := json.Unmarshal(recorded, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(ours, &got); err != nil {
		t.Fatalf("%v in %s", err, ours)
	}
	if difference := r.same("", want, got); difference != "" {
		t.Errorf("%s\nrecorded %s\nours     %s", difference, recorded, ours)
	}
	if keys(recorded) != keys(ours) {
		t.Errorf("order of keys: recorded %s, ours %s", keys(recorded), keys(ours))
	}
}

// same compares two JSON values and says where they differ.
func (r *replay) same(place string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		return r.sameObject(place, want, got)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s: %d elements recorded, ours %v", place, len(want), got)
		}
		for i := range want {
			if d := r.same(fmt.Sprintf("%s[%d]", place, i), want[i], list[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		text, ok := got.(string)
		if !ok || !r.sameText(place, want, text) {
			return fmt.Sprintf("%s: %q recorded, ours %v", place, want, got)
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf("%s: %v recorded, ours %v", place, want, got)
	}
	return ""
}

func (r *replay) sameObject(place string, want map[string]any, got any) string {
	object, ok := got.(map[string]any)
	if !ok || len(object) != len(want) {
		return fmt.Sprintf("%s: object with %d keys recorded, ours %v", place, len(want), got)
	}
	for _, key := range slices.Sorted(mapKeys(want)) {
		value, ok := object[key]
		if !ok {
			return fmt.Sprintf("%s.%s is missing", place, key)
		}
		if d := r.same(place+"."+key, want[key], value); d != "" {
			return d
		}
	}
	return ""
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (r *replay) sameText(place, want, got string) bool {
	if strings.Contains(place, ".attach_handle_info.") {
		return got != "" // which of the free handles is taken is not fixed
	}
	if strings.HasSuffix(place, "attach_handle_uuid") && uuidForm.MatchString(want) {
		return uuidForm.MatchString(got)
	}
	if place == ".error_message" {
		return r.sameError(want, got)
	}
	if timeForm.MatchString(want) {
		// Our row has the database's second where the peer answers with its clock.
		return timeForm.MatchString(got) && want[10] == got[10]
	}
	if uuidForm.MatchString(want) && len(want) == len(got) && want != got {
		wanted, have := uuidForm.FindAllString(want, -1), uuidForm.FindAllString(got, -1)
		if len(wanted) != len(have) {
			return false
		}
		for i, id := range wanted {
			if known, ok := r.ids[id]; ok && known != have[i] {
				return false
			}
			r.ids[id] = have[i]
		}
	}
	return r.translate(want) == got
}

// sameError compares the texts of errors: without tracebacks, and without those that
// show the inside of a Python program.
func (r *replay) sameError(want, got string) bool {
	var recorded, ours struct{ FaultCode, FaultString string }
	if json.Unmarshal([]byte(want), &recorded) != nil || recorded.FaultCode == "" {
		return r.translate(want) == got
	}
	if json.Unmarshal([]byte(got), &ours) != nil || ours.FaultCode != recorded.FaultCode || ours.FaultString == "" {
		return false
	}
	text, _, _ := strings.Cut(recorded.FaultString, "\n<")
	if recorded.FaultCode == "Server" && pythonText.MatchString(text) {
		return true
	}
	// A set in no fixed order, and Python's way of writing an object.
	for _, open := range []string{"Value should be one of: ", "field/attribute program_info. Value: "} {
		if before, _, found := strings.Cut(text, open); found {
			return strings.HasPrefix(ours.FaultString, before+open)
		}
	}
	return r.translate(text) == ours.FaultString
}

// keys lists the keys of a JSON text in order.
func keys(text []byte) string {
	var out []string
	for _, m := range regexp.MustCompile(`"([a-z_]+)": ?`).FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return strings.Join(out, " ")
}

func (r *replay) compareHeaders(t *testing.T, s step, got http.Header, length int) {
	t.Helper()
	for _, name := range []string{"Content-Type", headerVersion, headerMinimum, headerMaximum, "Vary", "WWW-Authenticate", "Allow", headerRequestID} {
		want, recorded := s.Response.Headers[name]
		values := got[name]
		switch {
		case !recorded && len(values) > 0:
			t.Errorf("header %s: %q is not recorded", name, values)
		case !recorded:
		case len(values) != 1:
			t.Errorf("header %s: %q, recorded %q", name, values, want)
		case name == headerRequestID:
			if !globalID.MatchString(values[0]) {
				t.Errorf("header %s: %q", name, values[0])
			}
		case values[0] != want:
			t.Errorf("header %s: %q, recorded %q", name, values[0], want)
		}
	}
	want, recorded := s.Response.Headers["Content-Length"]
	if !recorded || s.Request.Method == http.MethodHead || !fixedLength(s.Response.Body) {
		return
	}
	if want != fmt.Sprint(length) {
		t.Errorf("length %d, recorded %s", length, want)
	}
}

// fixedLength: bodies whose texts are ours to choose have no length to compare.
func fixedLength(body json.RawMessage) bool {
	text := string(body)
	return !strings.Contains(text, `\"Server\"`) && !strings.Contains(text, "Value should be one of") && !strings.Contains(text, "+00:00") && !strings.Contains(text, "not a valid list")
}
