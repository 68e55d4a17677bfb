package conductord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc"
)

// cloud stands for Placement and Nova.
func cloud(t *testing.T) string {
	t.Helper()
	places := placementtest.New(nil)
	if _, err := places.Placement.CreateProvider("", host, ""); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/placement/", http.StripPrefix("/placement", places))
	mux.HandleFunc("POST /compute/os-server-external-events", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Events []map[string]any `json:"events"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("event for Nova: %v", err)
		}
		for _, e := range body.Events {
			e["code"] = 200
		}
		_ = json.NewEncoder(w).Encode(body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// rows17 is what the Python conductor's database holds.
type rows17 struct {
	Devices, Handles int
	Profiles         []string
	ARQs             [][]string
}

var interopRows = rpc.NewMethod[struct{}, rows17]("interop_rows", "1.0")

// TestInteropGoClients: every method of RPC 1.0 against the real conductor and agent of 17.0.0, with the caps at their
// defaults and both at 1.0: the messages are the same.
func TestInteropGoClients(t *testing.T) {
	dir := currentPeer(t)
	messages := map[string][]request{}
	for _, caps := range []string{"", "[upgrade_levels]\nconductor = 1.0\nagent = 1.0\n"} {
		bus := vhost(t)
		conductor := startPython(t, dir, cyborg17Script, "conductor", bus, host, cloud(t))
		agent := startPython(t, dir, cyborg17Script, "agent", bus, host)
		conductor.ready()
		agent.ready()
		file := configFile(t, bus, caps)
		p := newPeer(t, file)
		seen := tap(t, bus, cyborgrpc.ConductorTopic, cyborgrpc.AgentTopic+"."+host)
		goCallsConductor17(t, p, rowsOf(t, file))
		goCallsAgent17(t, p)
		if caps == "" {
			refusesIndirection17(t, p)
		}
		messages[caps] = slices.DeleteFunc(seen.requests(), func(r request) bool {
			return r.Method == "interop_rows" || strings.HasPrefix(r.Method, "object_")
		})
		if caps == "" {
			agentReportsTo17(t, file)
		}
		var nothing map[string]any
		conductor.finish(&nothing)
		var called [][]any
		agent.finish(&called)
		agentWasCalled(t, called)
	}
	judgeMessages17(t, messages[""])
	var both [2][]string
	for i, caps := range []string{"", "[upgrade_levels]\nconductor = 1.0\nagent = 1.0\n"} {
		both[i] = anonymous(t, messages[caps])
	}
	if diff := cmp.Diff(both[0], both[1]); diff != "" {
		t.Errorf("messages under caps of 1.0 differ from those under the defaults:\n%s", diff)
	}
	fmt.Printf("interop: go clients, Cyborg 17.0.0, %d messages: failed %t\n", len(messages[""]), t.Failed())
}

// rowsOf asks the Python process for its rows, over a client of its own.
func rowsOf(t *testing.T, file string) func() rows17 {
	t.Helper()
	cfg := mustLoad(t, file)
	bus, err := messaging.Open(cfg, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := rpc.NewClient(bus, rpc.ClientConfig{})
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(client.Close(ctx), bus.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return func() rows17 {
		t.Helper()
		r, err := interopRows.Call(admin(context.WithoutCancel(t.Context())), rpc.Remote{Client: client, Target: rpc.Target{Topic: cyborgrpc.ConductorTopic}}, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

const (
	profileUUID  = "b2a7b1ce-0000-4000-8000-000000000001"
	instanceUUID = "b2a7b1ce-0000-4000-8000-000000000002"
	project      = "project-1"
)

// goCallsConductor17 plays the life of a host, a profile and two requests.
func goCallsConductor17(t *testing.T, p *peer, rows func() rows17) {
	t.Helper()
	ctx := admin(t.Context())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	devices, err := fake.New(host).Discover(ctx)
	must(err)
	must(p.conductor.ReportData(ctx, host, devices))
	if r := rows(); r.Devices != 1 || r.Handles != 16 {
		t.Errorf("after the report: %+v", r)
	}
	groups, err := cyborgrpc.GroupDicts([]arq.Group{{{Key: "resources:FPGA", Value: "1"}, {Key: "trait:CUSTOM_FAKE_DEVICE", Value: "required"}}})
	must(err)
	profile, err := p.conductor.DeviceProfileCreate(ctx, &cyborg.DeviceProfile{
		UUID: ovo.Of(profileUUID), Name: ovo.Of("go"), Groups: ovo.Of(groups), Description: ovo.NullFrom[string](nil),
	})
	must(err)
	if profile.ID.Value() < 1 || profile.Name.Value() != "go" || profile.Name.Changed() {
		t.Errorf("profile came back as %+v", profile)
	}
	var uuids []string
	for range 2 {
		made, err := p.conductor.ARQCreate(ctx, &cyborg.ExtARQ{ARQ: ovo.Of(&cyborg.ARQ{
			DeviceProfileName: ovo.Of("go"), DeviceProfileGroupID: ovo.Of[int64](0), ProjectID: ovo.NullOf(project),
		})}, profile.ID.Value())
		must(err)
		if made.ARQ.Value().State.Value() != cyborg.ARQInitial || made.DeviceProfileGroup.Value()["resources:FPGA"] != "1" {
			t.Errorf("request came back as %+v", made.ARQ.Value())
		}
		uuids = append(uuids, made.ARQ.Value().UUID.Value())
	}
	patch17(t, p, rows, uuids[0])
	must(p.conductor.ARQDeleteByUUID(ctx, uuids))
	var gone *arq.NotFoundError
	if err := p.conductor.ARQDeleteByUUID(ctx, uuids); !errors.As(err, &gone) {
		t.Errorf("deleting twice: %v", err)
	}
	must(p.conductor.ARQDeleteByInstance(ctx, instanceUUID))
	must(p.conductor.DeviceProfileDelete(ctx, profile))
	if r := rows(); len(r.ARQs)+len(r.Profiles) != 0 {
		t.Errorf("left: %+v", r)
	}
}

// patch17 binds and unbinds a request.
func patch17(t *testing.T, p *peer, rows func() rows17, id string) {
	t.Helper()
	ctx := admin(t.Context())
	provider := uuid.NewMD5(uuid.NameSpaceDNS, []byte(host+"_FakeDevice")).String()
	values := []*string{new(host), &provider, new(instanceUUID), new(project)}
	state := func() string {
		for _, a := range rows().ARQs {
			if a[0] == id {
				return a[1]
			}
		}
		return "missing"
	}
	for _, op := range []string{cyborgrpc.OpAdd, cyborgrpc.OpRemove} {
		fields := cyborgrpc.ARQFields{Hostname: values[0], DeviceRPUUID: values[1], InstanceUUID: values[2], ProjectID: values[3]}
		want := "Bound"
		if op == cyborgrpc.OpRemove {
			fields, want = cyborgrpc.ARQFields{}, "Unbound"
		}
		patch := cyborgrpc.ARQPatch{UUID: id}
		for i, path := range []string{"/hostname", "/device_rp_uuid", "/instance_uuid", "/project_id"} {
			o := cyborgrpc.PatchOp{Path: path, Op: op}
			if op == cyborgrpc.OpAdd {
				o.Value = values[i]
			}
			patch.Ops = append(patch.Ops, o)
		}
		if err := p.conductor.ARQApplyPatch(ctx, cyborgrpc.ARQPatches{patch}, map[string]cyborgrpc.ARQFields{id: fields}); err != nil {
			t.Fatal(err)
		}
		if got := state(); got != want {
			t.Errorf("after %s the request is %s, want %s", op, got, want)
		}
	}
}

var (
	controlpath = cyborgrpc.ControlpathDict{ID: 1, UUID: profileUUID, DeviceID: 2, CpidType: "PCI", CpidInfo: json.RawMessage(`{"bus": "0c"}`)}
	mdev        = cyborgrpc.MdevArgs{PCIAddr: "0000:84:00.0", AskedType: "nvidia-223", AHUUID: instanceUUID}
)

func goCallsAgent17(t *testing.T, p *peer) {
	t.Helper()
	ctx := admin(t.Context())
	ok, err := p.agents.FPGAProgram(ctx, host, cyborgrpc.FPGAProgramArgs{ControlpathID: controlpath, BitstreamUUID: profileUUID, DriverName: "intel"})
	if err != nil || !ok {
		t.Errorf("fpga_program: %t, %v", ok, err)
	}
	if err := errors.Join(p.agents.CreateVGPUMdev(ctx, host, mdev), p.agents.RemoveVGPUMdev(ctx, host, mdev)); err != nil {
		t.Error(err)
	}
	_, err = p.agents.FPGAProgram(ctx, host, cyborgrpc.FPGAProgramArgs{ControlpathID: controlpath, BitstreamUUID: "x", DriverName: "intel"})
	var failed *rpc.RemoteError
	if !errors.As(err, &failed) || failed.Class.Name != "InvalidUUID" || failed.Code() != 400 {
		t.Errorf("a malformed UUID: %v", err)
	}
}

func agentWasCalled(t *testing.T, called [][]any) {
	t.Helper()
	keys := []any{"cpid_info", "cpid_type", "created_at", "device_id", "id", "updated_at", "uuid"}
	want := [][]any{
		{"download", profileUUID},
		{"driver", "intel"},
		{"program", map[string]any{"bus": "0c"}, keys},
		{"create", mdev.PCIAddr, mdev.AskedType, mdev.AHUUID},
		{"remove", mdev.PCIAddr, mdev.AskedType, mdev.AHUUID},
	}
	if diff := cmp.Diff(want, called); diff != "" {
		t.Errorf("the Python agent was called otherwise:\n%s", diff)
	}
}

// refusesIndirection17: the cap admits what this conductor does not have; the error says what to do.
func refusesIndirection17(t *testing.T, p *peer) {
	t.Helper()
	_, err := p.objects.DeviceList.GetByHostname(admin(t.Context()), host)
	var old *cyborgrpc.TooOldError
	if !errors.As(err, &old) || !strings.Contains(err.Error(), "upgrade conductors first") {
		t.Errorf("an object operation against 17.0.0: %v", err)
	}
}

// agentReportsTo17: an agent whose features do without indirection reports to a conductor that lacks it, and warns once.
func agentReportsTo17(t *testing.T, file string) {
	t.Helper()
	log, stop := daemon(t, agentd.Daemon{Sysfs: t.TempDir()}.Main, file)
	until(t, 30*time.Second, "the agent's report", func() bool { return strings.Contains(log.String(), "service is ready") })
	if code := stop(); code != 0 {
		t.Errorf("the agent ended with %d: %s", code, log)
	}
	if n := strings.Count(log.String(), "upgrade conductors first"); n != 1 || !strings.Contains(log.String(), " reported ") {
		t.Errorf("%d warnings: %s", n, log)
	}
}

// judgeMessages17: every method occurs, at 1.0, with its objects at the versions of 17.0.0.
func judgeMessages17(t *testing.T, messages []request) {
	t.Helper()
	released := cyborg.Release17Versions()
	seen, objects := map[string]bool{}, map[string]bool{}
	for _, m := range messages {
		seen[m.Method] = true
		if m.Version != "1.0" || m.Namespace != nil {
			t.Errorf("%s was sent at %s in namespace %v", m.Method, m.Version, m.Namespace)
		}
		for name, version := range versionsIn(t, m.Args) {
			objects[name] = true
			if version != released[name] {
				t.Errorf("%s carries %s %s, want %s", m.Method, name, version, released[name])
			}
		}
	}
	for _, method := range []string{
		"report_data", "device_profile_create", "device_profile_delete", "arq_create", "arq_delete_by_uuid",
		"arq_delete_by_instance_uuid", "arq_apply_patch", "fpga_program", "create_vgpu_mdev", "remove_vgpu_mdev",
	} {
		if !seen[method] {
			t.Errorf("%s was not sent", method)
		}
	}
	for _, name := range []string{"DriverDevice", "DriverDeployable", "DriverAttachHandle", "DriverAttribute", "DriverControlPathID", "DeviceProfile", "ExtARQ", "ARQ"} {
		if !objects[name] {
			t.Errorf("no %s was sent", name)
		}
	}
}

var objectVersion = regexp.MustCompile(`"cyborg_object.name": ?"(\w+)"[^{}]*"cyborg_object.version": ?"([0-9.]+)"`)

func versionsIn(t *testing.T, args map[string]json.RawMessage) map[string]string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range objectVersion.FindAllStringSubmatch(string(raw), -1) {
		out[m[1]] = m[2]
	}
	return out
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// anonymous writes messages with UUIDs replaced by their order of appearance, and times by a word.
func anonymous(t *testing.T, messages []request) []string {
	t.Helper()
	names := map[string]string{}
	out := make([]string, len(messages))
	for i, m := range messages {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text := anyUUID.ReplaceAllStringFunc(string(raw), func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("uuid-%d", len(names))
			}
			return names[id]
		})
		out[i] = anyTime.ReplaceAllString(text, "time")
	}
	return out
}
