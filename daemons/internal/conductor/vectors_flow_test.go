package conductor_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// flow is one file of recorded steps.
type flow struct {
	file  string
	steps []vectorStep
}

func newFlow(file string, steps []vectorStep) *flow { return &flow{file: file, steps: steps} }

// play does one step on the peer's state before it: want is what the peer left, got what we leave.
func (f *flow) play(t *testing.T, scene *placementScene, i int) (want, got []string, ok bool) {
	t.Helper()
	s := &f.steps[i]
	before, after := f.rows(t, i)
	call := f.call(i, before, after)
	if call == nil {
		return nil, nil, false
	}
	if i == 0 && s.Rows == nil {
		*scene = *newPlacementScene(t)
		scene.happened(func(t *testing.T, h *placementtest.Handler) { offerAll(t, h, before) })
	}
	scene.happened(s.setup)
	ours := scene.now(t)
	scene.happened(func(t *testing.T, h *placementtest.Handler) {
		for _, r := range s.Placement {
			r.replay(t, h)
		}
	})
	v := newVectorWorld(t, s, before, ours)
	err := call(t, v)
	v.stop()
	rows := dumpRows(t, v.db)
	v.close(t)
	known := before.uuids()
	sameChoice(before, after, rows)
	want = slices.Concat(after.lines(known), placementLines(t, scene.now(t).Placement), s.effects())
	got = slices.Concat(rows.lines(known), placementLines(t, ours.Placement), v.effects())
	return append(want, "error "+f.failure(s)), append(got, "error "+sameFailure(err, f.failure(s))), true
}

// failure is the recorded error, "none" without.
func (f *flow) failure(s *vectorStep) string {
	if s.Error == nil {
		return "none"
	}
	if strings.HasPrefix(*s.Error, "DBReferenceError") { // its text is the driver's
		return "DBReferenceError"
	}
	return *s.Error
}

// sameFailure writes an error as class and text, the text cut where the recorder cut it.
func sameFailure(err error, recorded string) string {
	if err == nil {
		return "none"
	}
	var remote *rpc.RemoteError
	if !errors.As(err, &remote) {
		return err.Error()
	}
	text := remote.Class.Name + ": " + remote.Message
	if strings.HasPrefix(text, recorded) && recorded != "none" {
		return recorded
	}
	return text
}

// effects are the recorded calls of other services.
func (s *vectorStep) effects() (lines []string) {
	for _, n := range s.Nova {
		for _, e := range n.Body.Events {
			lines = append(lines, eventLine(nova.Event{Name: e["name"], ServerUUID: e["server_uuid"], Tag: e["tag"], Status: e["status"]}))
		}
	}
	var calls []struct {
		Host, Bitstream, Driver string
		Path                    struct {
			Info json.RawMessage `json:"cpid_info"`
		} `json:"controlpath_id"`
	}
	if json.Unmarshal(s.Agent, &calls) == nil {
		for _, c := range calls {
			lines = append(lines, fmt.Sprintf("agent program %s %s %s %s", c.Host, c.Bitstream, c.Driver, compact(c.Path.Info)))
		}
	}
	return lines
}

func compact(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func eventLine(e nova.Event) string {
	return fmt.Sprintf("event %s %s %s %s", e.Name, e.ServerUUID, e.Tag, e.Status)
}

// vectorWorld is a conductor on a recorded state.
type vectorWorld struct {
	world
	step   *vectorStep
	db     *sql.DB
	mu     sync.Mutex
	events []nova.Event
}

func newVectorWorld(t *testing.T, s *vectorStep, before tables, p *placementtest.Handler) *vectorWorld {
	t.Helper()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	v := &vectorWorld{step: s, world: world{registry: registry, bus: memory.New(), agents: &agents{}}}
	if strings.Contains(s.Step, "agent") {
		v.agents.err = &rpc.RemoteError{Class: rpc.Class{Module: "builtins", Name: "RuntimeError"}, Message: "mdev fail"}
	}
	file := filepath.Join(t.TempDir(), "cyborg.sqlite")
	if v.store, err = store.Connect(t.Context(), store.Config{URL: "sqlite:///" + file, Unsynced: true}); err != nil {
		t.Fatal(err)
	}
	if err := v.store.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if v.db, err = sql.Open("sqlite", file); err != nil {
		t.Fatal(err)
	}
	before.load(t, v.db)
	client := placement.NewNoAuth("http://placement.invalid", placementtest.Client(p), placement.Config{})
	v.configure = func(c *conductor.Config) {
		c.Placement, c.Providers, c.Images, c.Notifier = client, client, v, v.notifier()
	}
	v.serve(t)
	return v
}

func (v *vectorWorld) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(v.db.Close(), v.store.Close()); err != nil {
		t.Fatal(err)
	}
}

func (v *vectorWorld) notifier() *nova.Client {
	return nova.New(&gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: v}}, Endpoint: "http://nova.invalid/v2.1/",
	})
}

// RoundTrip answers as the recorded Nova did.
func (v *vectorWorld) RoundTrip(r *http.Request) (*http.Response, error) {
	var body nova.Body
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.events = append(v.events, body.Events...)
	v.mu.Unlock()
	status, code := http.StatusOK, http.StatusOK
	if len(v.step.Nova) > 0 {
		status = v.step.Nova[0].Status
	}
	if _, err := fmt.Sscanf(v.step.Step[strings.LastIndex(v.step.Step, "_")+1:], "%d", &code); err != nil {
		code = http.StatusOK
	}
	type answered struct {
		nova.Event
		Code int `json:"code"`
	}
	answer := struct {
		Events []answered `json:"events"`
	}{}
	for _, e := range body.Events {
		answer.Events = append(answer.Events, answered{e, code})
	}
	text, err := pythonJSON(answer)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, err
}

// pythonJSON has the blanks that the recorded stub's answers have.
func pythonJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	text = bytes.ReplaceAll(text, []byte(`":`), []byte(`": `))
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`,"`), []byte(`, "`)), []byte(`},{`), []byte(`}, {`)), err
}

// ByID implements [conductor.Images] as the recorded image service answered.
func (v *vectorWorld) ByID(_ context.Context, id string) (glance.Image, error) {
	switch {
	case strings.Contains(v.step.Step, "not_found"):
		return glance.Image{}, errors.New("no such image")
	case strings.Contains(v.step.Step, "no_clouds"):
		return glance.Image{}, errors.New("no image service")
	case strings.Contains(v.step.Step, "dashes"):
		return glance.Image{ID: id, FunctionID: "5e6c3a2b-1111-2222-3333-444455556666"}, nil
	}
	return glance.Image{ID: id, FunctionID: "d8424dc4a4a3c413f89e433683f9040b"}, nil
}

// ByFunction implements [conductor.Images].
func (v *vectorWorld) ByFunction(context.Context, string) (glance.Image, error) {
	return glance.Image{}, errors.New("no recorded step asks for a function")
}

// effects are the calls of other services that we made.
func (v *vectorWorld) effects() (lines []string) {
	for _, e := range v.events {
		lines = append(lines, eventLine(e))
	}
	for _, c := range v.agents.calls {
		if what, info, ok := strings.Cut(c, "{"); ok && strings.HasPrefix(what, "program") && v.step.Agent != nil {
			lines = append(lines, "agent "+what+compact([]byte("{"+info)))
		}
	}
	return lines
}

// vectorCall does what a step recorded.
type vectorCall func(*testing.T, *vectorWorld) error

func patches(uuids []string, op string) cyborgrpc.ARQPatches {
	value := "x"
	var out cyborgrpc.ARQPatches
	for _, id := range uuids {
		out = append(out, cyborgrpc.ARQPatch{UUID: id, Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: op, Value: &value}}})
	}
	return out
}
