package conductord_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	_ "github.com/lib/pq" // the database of one test

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// placementCall sends a request to the real Placement, past the front.
func (s *stack) placementCall(method, path string, body any) (int, map[string]any) {
	s.t.Helper()
	status, _, answer := s.call(s.admin, method, s.url("placement")+path, body, "OpenStack-API-Version", "placement 1.28")
	return status, answer
}

// addHost makes the provider that nova-compute would have made.
func (s *stack) addHost(name string) {
	s.t.Helper()
	if status, answer := s.placementCall(http.MethodPost, "/resource_providers", map[string]any{"name": name}); status != http.StatusOK {
		s.t.Fatalf("provider %s: %d %v", name, status, answer)
	}
}

// providers is what Placement holds below every host, without generations.
func (s *stack) providers() map[string]any {
	s.t.Helper()
	_, list := s.placementCall(http.MethodGet, "/resource_providers", nil)
	out := map[string]any{}
	for _, p := range list["resource_providers"].([]any) {
		p := p.(map[string]any)
		id := p["uuid"].(string)
		_, inventories := s.placementCall(http.MethodGet, "/resource_providers/"+id+"/inventories", nil)
		_, traits := s.placementCall(http.MethodGet, "/resource_providers/"+id+"/traits", nil)
		names := fmt.Sprint(traits["traits"])
		if list, ok := traits["traits"].([]any); ok {
			sorted := make([]string, len(list))
			for i := range list {
				sorted[i] = list[i].(string)
			}
			slices.Sort(sorted)
			names = strings.Join(sorted, " ")
		}
		out[p["name"].(string)] = map[string]any{
			"uuid": id, "parent": p["parent_provider_uuid"], "inventories": inventories["inventories"], "traits": names,
		}
	}
	return out
}

// rows are all of Cyborg's tables, without updated_at.
func rows(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for table, order := range map[string]string{
		"devices": "id", "controlpath_ids": "id", "deployables": "id", "attributes": "id", "attach_handles": "id",
		"device_profiles": "id", "extended_accelerator_requests": "id",
	} {
		found, err := db.Query("SELECT * FROM " + table + " ORDER BY " + order)
		if err != nil {
			t.Fatal(err)
		}
		names, err := found.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			values := make([]sql.NullString, len(names))
			into := make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := found.Scan(into...); err != nil {
				t.Fatal(err)
			}
			var line []string
			for i, n := range names {
				if n != "updated_at" {
					line = append(line, fmt.Sprintf("%s=%q,%t", n, values[i].String, values[i].Valid))
				}
			}
			out[table] = append(out[table], strings.Join(line, " "))
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// state is everything that a swap must not change.
type state struct {
	Rows      map[string][]string
	Providers map[string]any
}

func (s *stack) state(db *sql.DB) state { return state{rows(s.t, db), s.providers()} }

func (s *stack) unchanged(what string, db *sql.DB, before state) {
	s.t.Helper()
	if diff := cmp.Diff(before, s.state(db)); diff != "" {
		s.t.Errorf("%s: %s", what, diff)
	}
}

// agent runs the peer's agent for one report. Its orderly stop waits for the report's answer.
func (s *stack) agent(config string) {
	s.t.Helper()
	s.mu.Lock()
	from := len(s.seen)
	s.mu.Unlock()
	log := s.dir + "/agent.log"
	start := time.Now()
	defer func() { s.t.Logf("agent: %s", time.Since(start)) }()
	d := s.start("cyborg-agent", "cyborg-agent", "--config-file", s.dir+"/"+config, "--log-file", log)
	s.until("the agent's report reaches Placement", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		reads := 0
		for _, r := range s.seen[from:] { // the first is the agent's own look-up of its provider
			if strings.HasPrefix(r, "GET /resource_providers?") {
				reads++
			}
		}
		return reads > 1
	}, d.log, s.root+log, filepath.Join(s.root, s.dir, "go-conductor.log"))
	d.stop()
	if text, err := os.ReadFile(s.root + log); err != nil || strings.Contains(string(text), "ERROR") {
		s.t.Errorf("the agent logged an error: %v\n%s", err, text)
	}
}

// report plays an agent with n devices through the peer's own client.
func (s *stack) report(config, host string, n, calls int) (seconds []float64) {
	s.t.Helper()
	script, err := os.ReadFile("testdata/interop/report.py")
	if err != nil {
		s.t.Fatal(err)
	}
	out := s.inside("python3", "-W", "ignore", s.write("report.py", string(script)), s.dir+"/"+config, host, fmt.Sprint(n), fmt.Sprint(calls))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &seconds); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return seconds
}

// api sends a request to the peer's API as demo with Nova's service token.
func (s *stack) api(method, path string, body any) (int, map[string]any) {
	s.t.Helper()
	status, _, answer := s.call(s.token("demo", "demo"), method, s.url("cyborg")+"/v2"+path, body,
		"X-Service-Token", s.token("nova", "service"), "OpenStack-API-Version", "accelerator latest")
	return status, answer
}

func (s *stack) bind(arq string) {
	s.t.Helper()
	s.patch(arq, "add", map[string]string{
		"/hostname": stackHost, "/device_rp_uuid": fakeProvider, "/instance_uuid": stackInstance,
	})
}

func (s *stack) unbind(arq string) {
	s.t.Helper()
	s.patch(arq, "remove", map[string]string{"/hostname": "", "/device_rp_uuid": "", "/instance_uuid": ""})
}

func (s *stack) patch(arq, op string, fields map[string]string) {
	s.t.Helper()
	var ops []map[string]string
	for path, value := range fields {
		o := map[string]string{"path": path, "op": op}
		if value != "" {
			o["value"] = value
		}
		ops = append(ops, o)
	}
	if status, answer := s.api(http.MethodPatch, "/accelerator_requests", map[string]any{arq: ops}); status != http.StatusAccepted {
		s.t.Fatalf("%s %s: %d %v", op, arq, status, answer)
	}
}

const (
	stackInstance = "99999999-0000-4000-8000-000000000001"
	fakeProvider  = "922aaf1a-3f2b-3c55-894d-3b9a39b9a80d" // of peer-host-1_FakeDevice
)

// request makes a profile and one ARQ of it.
func (s *stack) request() string {
	s.t.Helper()
	name := "p-" + uuid.NewString()[:8]
	admin := s.token("cyborg", "service")
	status, _, answer := s.call(admin, http.MethodPost, s.url("cyborg")+"/v2/device_profiles",
		[]map[string]any{{"name": name, "groups": []map[string]string{{"resources:FPGA": "1", "trait:CUSTOM_FAKE_DEVICE": "required"}}}})
	if status != http.StatusCreated {
		s.t.Fatalf("device profile: %d %v", status, answer)
	}
	status, answer = s.api(http.MethodPost, "/accelerator_requests", map[string]string{"device_profile_name": name})
	if status != http.StatusCreated {
		s.t.Fatalf("accelerator request: %d %v", status, answer)
	}
	return answer["arqs"].([]any)[0].(map[string]any)["uuid"].(string)
}

func (s *stack) bound(arq string) bool {
	s.t.Helper()
	_, answer := s.api(http.MethodGet, "/accelerator_requests/"+arq, nil)
	return answer["state"] == "Bound"
}

// allocate asks for one unit of the fake device.
func (s *stack) allocate(consumer string) int {
	s.t.Helper()
	status, _ := s.placementCall(http.MethodPut, "/allocations/"+consumer, map[string]any{
		"allocations": map[string]any{fakeProvider: map[string]any{"resources": map[string]int{"FPGA": 1}}},
		"project_id":  "demo", "user_id": "demo", "consumer_generation": nil,
	})
	return status
}

// TestInteropSwap: real Python agent and API with the Go conductor on a database that the Python cyborg-dbsync made.
// Swapping the conductors, in either order, changes no row, UUID or provider. A missing device that is allocated is
// retained, and the real Placement refuses a new consumer.
func TestInteropSwap(t *testing.T) {
	s := newStack(t)
	s.swapMariaDB(t)
	s.swapPostgreSQL(t)
}

func (s *stack) swapMariaDB(t *testing.T) {
	s.inside("cyborg-dbsync", "--config-file", s.dir+"/cyborg.conf", "upgrade")
	db := s.mysql(s.name + "_cyborg")
	stop := s.goConductor("cyborg.conf")
	s.agent("cyborg.conf")
	if p, ok := s.providers()[stackHost+"_FakeDevice"].(map[string]any); !ok || p["uuid"] != fakeProvider {
		t.Fatalf("Placement has no fake device: %v", s.providers())
	}
	s.gunicorn("cyborg")
	arq := s.request()
	s.bind(arq)
	if !s.bound(arq) || len(s.events) != 1 || !strings.Contains(s.events[0], `"completed"`) {
		t.Fatalf("the bind: bound %t, Nova got %v", s.bound(arq), s.events)
	}
	first := s.state(db)
	s.agent("cyborg.conf")
	s.unchanged("Go, reported again", db, first)
	stop()

	stop = s.pythonConductor("cyborg.conf")
	s.agent("cyborg.conf")
	s.unchanged("Python after Go", db, first)
	s.addHost("peer-host-2")
	s.report("cyborg.conf", "peer-host-2", 4, 1)
	s.unbind(arq)
	s.bind(arq)
	second := s.state(db)
	stop()

	stop = s.goConductor("cyborg.conf")
	s.agent("cyborg.conf")
	s.report("cyborg.conf", "peer-host-2", 4, 1)
	s.unchanged("Go after Python", db, second)
	s.retained(arq, db)
	stop()
	fmt.Fprintln(os.Stdout, "interop: Go and Python conductors swapped on MariaDB, no row, UUID or provider changed")
}

// retained takes the device of a bound ARQ away and brings it back.
func (s *stack) retained(arq string, db *sql.DB) {
	s.t.Helper()
	holder, other := uuid.NewString(), uuid.NewString()
	before := s.state(db)
	if status := s.allocate(holder); status != http.StatusNoContent {
		s.t.Fatalf("allocation of the holder: %d", status)
	}
	s.configureCyborg("nothing.conf", s.databaseURL("cyborg"), "pci_driver") // its whitelist matches nothing
	s.agent("nothing.conf")
	status := s.allocate(other)
	if status != http.StatusConflict {
		s.t.Errorf("a new consumer of the retained device got %d, want 409", status)
	}
	if !s.bound(arq) {
		s.t.Error("the ARQ of the retained device is not bound any more")
	}
	s.agent("cyborg.conf")
	s.unchanged("the device came back", db, before)
	if back := s.allocate(other); back != http.StatusNoContent {
		s.t.Errorf("a consumer of the device that came back got %d, want 204", back)
	}
	fmt.Fprintf(os.Stdout, "interop: a new consumer of a retained device got %d from Placement\n", status)
}

// swapPostgreSQL: a database that we made, reported to by our conductor, the peer's and ours again, and in the other
// order for a second host.
func (s *stack) swapPostgreSQL(t *testing.T) {
	base := os.Getenv("CYBORG_TEST_POSTGRES_URL")
	if base == "" {
		t.Log("CYBORG_TEST_POSTGRES_URL is not set: not swapped on PostgreSQL")
		return
	}
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) *sql.DB {
		u := url.URL{Scheme: "postgres", User: at.User, Host: at.Host, Path: "/" + name, RawQuery: "sslmode=disable"}
		db, err := sql.Open("postgres", u.String())
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	shared := strings.TrimPrefix(at.Path, "/")
	server := open(shared)
	defer server.Close()
	if _, err := server.Exec("CREATE DATABASE " + s.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again := open(shared)
		defer again.Close()
		if _, err := again.Exec("DROP DATABASE " + s.name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	at.Path = "/" + s.name
	made, err := store.Connect(t.Context(), store.Config{URL: at.String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(made.Upgrade(t.Context(), ""), made.Close()); err != nil {
		t.Fatal(err)
	}
	db := open(s.name)
	defer db.Close()
	s.configureCyborg("postgres.conf", at.String(), "fake_driver")
	s.addHost("pg-host-1")
	s.addHost("pg-host-2")
	var before state
	for i, start := range []func(string) func(){s.goConductor, s.pythonConductor, s.goConductor} {
		stop := start("postgres.conf")
		s.report("postgres.conf", "pg-host-1", 4, 1)
		if i > 0 {
			s.unchanged(fmt.Sprintf("PostgreSQL, swap %d", i), db, before)
			s.report("postgres.conf", "pg-host-2", 4, 1)
		}
		before = s.state(db)
		stop()
	}
	fmt.Fprintln(os.Stdout, "interop: Go and Python conductors swapped on PostgreSQL, no row, UUID or provider changed")
}
