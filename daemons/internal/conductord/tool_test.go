package conductord_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// toolWorld is a database and a Placement for the sub-commands.
type toolWorld struct {
	t         *testing.T
	file      string
	store     *store.Store
	db        *sql.DB // a peer's view of the rows
	placement *reconciletest.Placement
	client    *placement.Client
	writes    atomic.Int64 // requests to Placement that are none to read
}

const toolHost = "tool-host"

func newToolWorld(t *testing.T) *toolWorld {
	t.Helper()
	handler := placementtest.New(nil)
	if _, err := handler.Placement.CreateProvider("", toolHost, ""); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &toolWorld{t: t, file: filepath.Join(dir, "cyborg.conf"), placement: handler.Placement}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.writes.Add(1)
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.client = placement.NewNoAuth(server.URL, server.Client(), placement.Config{})
	url := "sqlite:///" + filepath.Join(dir, "cyborg.sqlite")
	text := "[DEFAULT]\nhost = " + toolHost + "\n[database]\nconnection = " + url +
		"\n[agent]\nresource_provider_name = " + toolHost + "\nenabled_drivers = fake_driver\n[placement]\nauth_type = none\nendpoint_override = " + server.URL + "\n"
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.store, err = store.Connect(t.Context(), store.Config{URL: url, Unsynced: true}); err != nil {
		t.Fatal(err)
	}
	if w.db, err = sql.Open("sqlite", filepath.Join(dir, "cyborg.sqlite")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close(); w.store.Close() })
	if err := w.store.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *toolWorld) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, problems bytes.Buffer
	code = conductord.Daemon{}.Main(w.t.Context(), service.Invocation{
		Args: append([]string{"--config-file", w.file}, args...), Stdout: &out, Stderr: &problems,
	})
	return code, out.String(), problems.String()
}

// report carries out the report of the fake driver.
func (w *toolWorld) report() {
	w.t.Helper()
	objects, err := fake.New(toolHost).Discover(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var want []reconcile.Device
	for _, o := range objects {
		d, err := inventory.Reported(o)
		if err != nil {
			w.t.Fatal(err)
		}
		want = append(want, d)
	}
	result, err := (&reconcile.Runner{Store: w.store, Placement: w.client}).Run(w.t.Context(), toolHost, want)
	if err != nil || len(result.Problems) > 0 {
		w.t.Fatal(err, result.Problems)
	}
}

func (w *toolWorld) devices() int {
	w.t.Helper()
	have, err := w.store.Inventory(w.t.Context(), toolHost)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(have.Devices)
}

// TestPlan: the plan of a first report adds, that of the same report again changes nothing, that of an empty one
// removes; none of them writes.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	code, out, stderr := w.run("plan", "--hostname", toolHost)
	if code != 0 || !strings.Contains(out, "add") || !strings.Contains(out, "sync provider "+toolHost+"_FakeDevice") {
		t.Errorf("first plan: %d\n%s%s", code, out, stderr)
	}
	if w.devices() != 0 || len(w.placement.Providers("", "", "")) != 1 {
		t.Error("plan wrote something")
	}
	w.report()
	if code, out, stderr = w.run("plan", "--hostname", toolHost); code != 0 || !strings.Contains(out, "unchanged  1") {
		t.Errorf("plan after the report: %d\n%s%s", code, out, stderr)
	}
	empty := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(empty, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr = w.run("plan", "--hostname="+toolHost, "--report", empty, "--json")
	var p struct {
		Host    string
		Devices []struct {
			Verdict string
			Steps   []struct{ Step string }
		}
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 || p.Host != toolHost || len(p.Devices) != 1 || p.Devices[0].Verdict != "remove" {
		t.Errorf("plan of an empty report: %d %v\n%s%s", code, err, out, stderr)
	}
	if w.devices() != 1 {
		t.Error("plan wrote something")
	}
	if code, out, _ = w.run("plan", "--hostname="+toolHost, "--json"); code != 0 || !strings.Contains(out, `"devices": []`) || !strings.Contains(out, `"problems": []`) {
		t.Errorf("plan without changes: %d\n%s", code, out)
	}
}

// rows is everything that the database holds.
func (w *toolWorld) rows() (out []string) {
	w.t.Helper()
	for _, table := range []string{"devices", "controlpath_ids", "deployables", "attributes", "attach_handles", "extended_accelerator_requests", "device_profiles", "alembic_version"} {
		found, err := w.db.QueryContext(w.t.Context(), "SELECT * FROM "+table)
		if err != nil {
			w.t.Fatal(err)
		}
		columns, err := found.Columns()
		if err != nil {
			w.t.Fatal(err)
		}
		for found.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := found.Scan(into...); err != nil {
				w.t.Fatal(err)
			}
			out = append(out, fmt.Sprint(table, values))
		}
		if err := errors.Join(found.Err(), found.Close()); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// TestPlanWritesNothing: whatever a report would change, a plan of it leaves every column of every row as it is, the
// offers and the times by which they are claimed too, and only reads Placement.
func TestPlanWritesNothing(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	w.report()
	exec := func(query string) {
		t.Helper()
		if _, err := w.db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	report := func(text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	empty, unreadable := report("[]"), report(`[{"x": 1}]`)
	for _, step := range []struct {
		name  string
		query string
		args  []string
		says  string
	}{
		{"missing and free", "", []string{"--report", empty}, "drop provider"},
		{"missing and held", "UPDATE attach_handles SET in_use = 1", []string{"--report", empty}, "withdraw"},
		{"changed", "UPDATE attributes SET value = 'CUSTOM_OTHER' WHERE \"key\" LIKE 'trait%'", nil, "sync provider"},
		{"off offer", "UPDATE deployables SET rp_uuid = NULL", nil, "sync provider"},
		{"a device to refuse", "", []string{"--report", unreadable, "--json"}, "invalid_value"},
		{"a handle to be freed", "UPDATE attach_handles SET in_use = 0, attach_info = '{}'", nil, "delete handle"},
		{"a provider to be made", "UPDATE devices SET model = 'x'", nil, "set board"},
	} {
		if step.query != "" {
			exec(step.query)
		}
		before, writes := w.rows(), w.writes.Load()
		code, out, stderr := w.run(append([]string{"plan", "--hostname", toolHost}, step.args...)...)
		if code != 0 || !strings.Contains(out, step.says) {
			t.Errorf("%s: %d\n%s%s", step.name, code, out, stderr)
		}
		if diff := cmp.Diff(before, w.rows()); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
		if n := w.writes.Load() - writes; n > 0 {
			t.Errorf("%s: %d writes to Placement", step.name, n)
		}
	}
}

// TestPlanOfFile reads a report as agents send it.
func TestPlanOfFile(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := fake.New("other").Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := cyborgrpc.NewWire(registry).Serialize(t.Context(), []cyborgrpc.ReportedDevice{{Device: objects[0]}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := w.run("plan", "--hostname", toolHost, "--report", file); code != 0 || !strings.Contains(out, "sync provider other_FakeDevice") {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
}

// TestForgetHost refuses while a handle is held or something is allocated, then leaves nothing.
func TestForgetHost(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	w.report()
	p, err := w.store.CreateProfile(t.Context(), store.Profile{Name: "p", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := w.store.CreateARQs(t.Context(), []arq.New{{ProfileID: p.ID}})
	if err != nil {
		t.Fatal(err)
	}
	provider := reconcile.ProviderUUID(toolHost + "_FakeDevice")
	if _, err := w.store.Begin(t.Context(), arq.Bind{UUID: made[0].UUID, Hostname: toolHost, DeviceRPUUID: provider, InstanceUUID: "i"}); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run("forget-host", toolHost); code != 1 || !strings.Contains(stderr, made[0].UUID) || w.devices() != 1 {
		t.Errorf("a bound request does not stop it: %d %s", code, stderr)
	}
	if _, err := w.store.Release(t.Context(), made[0].UUID, arq.LeaveUnbind); err != nil {
		t.Fatal(err)
	}
	if err := w.placement.PutAllocations("c", nil, reconciletest.Consumer{Project: "p", User: "u", Allocations: map[string]map[string]int{provider: {"FPGA": 1}}}); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run("forget-host", toolHost); code != 1 || !strings.Contains(stderr, "allocation of provider") || w.devices() != 1 {
		t.Errorf("an allocation does not stop it: %d %s", code, stderr)
	}
	if err := w.placement.DeleteAllocations("c"); err != nil {
		t.Fatal(err)
	}
	// A Python conductor died between two of its transactions; no report finds this row.
	const halfMade = "11111111-2222-3333-4444-555555555555"
	if _, err := w.db.ExecContext(t.Context(), "INSERT INTO devices (uuid, type, vendor, model, hostname, status) VALUES (?, 'GPU', 'v', 'm', ?, 'enabled'), (?, 'GPU', 'v', 'm', 'elsewhere', 'enabled')",
		halfMade, toolHost, strings.ReplaceAll(halfMade, "1", "9")); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := w.run("forget-host", toolHost)
	if left := w.rows(); !strings.Contains(out, halfMade) || slices.ContainsFunc(left, func(r string) bool { return strings.Contains(r, toolHost) || strings.Contains(r, halfMade) }) || !slices.ContainsFunc(left, func(r string) bool { return strings.Contains(r, "elsewhere") }) {
		t.Errorf("left: %v\n%s", left, out)
	}
	if code != 0 || w.devices() != 0 || len(w.placement.Providers("", "", "")) != 1 {
		t.Errorf("forget: %d, %d devices left, providers %v\n%s%s", code, w.devices(), w.placement.Providers("", "", ""), out, stderr)
	}
}

// TestForgetHostWithoutProvider removes the rows of a host that Placement does not know any more.
func TestForgetHostWithoutProvider(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	w.report()
	for _, p := range slices.Backward(w.placement.Providers("", "", "")) {
		if err := w.placement.DeleteProvider(p.UUID); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, stderr := w.run("forget-host", toolHost); code != 0 || w.devices() != 0 {
		t.Errorf("%d, %d devices\n%s%s", code, w.devices(), out, stderr)
	}
}

// TestForgetOrphans removes what plan names, and nothing else.
func TestForgetOrphans(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	w.report()
	root := w.placement.Providers(toolHost, "", "")[0].UUID
	for name, id := range map[string]string{"lost": reconcile.ProviderUUID("lost"), "foreign": ""} {
		if _, err := w.placement.CreateProvider(id, name, root); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, _ := w.run("plan", "--hostname", toolHost); code != 0 || !strings.Contains(out, "lost") || strings.Contains(out, "foreign") {
		t.Errorf("plan: %d\n%s", code, out)
	}
	code, out, stderr := w.run("forget-host", toolHost, "--orphans")
	left := w.placement.Providers("", "", "")
	if code != 0 || !strings.Contains(out, "removed provider lost") || w.devices() != 1 || len(left) != 3 {
		t.Errorf("%d, providers %v\n%s%s", code, left, out, stderr)
	}
}

// TestToolsMakeNoDatabase: a path that is wrong is said to be, and nothing is made of it.
func TestToolsMakeNoDatabase(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	missing := filepath.Join(t.TempDir(), "wrong.sqlite")
	text, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "[database]\nconnection = sqlite:///"+missing+"\n"...)
	if err := os.WriteFile(w.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"plan", "--hostname", toolHost}, {"forget-host", toolHost}} {
		if code, _, stderr := w.run(args...); code != 1 || !strings.Contains(stderr, missing) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestToolUsage(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	for _, args := range [][]string{
		{"plan"},
		{"plan", "x", "--hostname", "h"},
		{"plan", "--hostname", "elsewhere"},
		{"plan", "--hostname", "h", "--report", "/nonexistent"},
		{"forget-host"},
		{"forget-host", "a", "b"},
		{"remember", "plan"},
	} {
		if code, _, stderr := w.run(args...); code == 0 || stderr == "" {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}
}

func TestACommandIsAWordOfItsOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("plan", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	v := service.Invocation{Args: []string{"--config-file", "plan"}, Stdout: &out, Stderr: &errs}
	if code := (conductord.Daemon{}).Main(t.Context(), v); code != 2 || !strings.Contains(errs.String(), "is not a command") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
