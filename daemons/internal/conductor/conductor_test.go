package conductor_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
)

// profile stores a device profile for one unit.
func (w *world) profile(t *testing.T) *cyborg.DeviceProfile {
	t.Helper()
	groups, err := cyborgrpc.GroupDicts([]arq.Group{{{Key: "resources:CUSTOM_PCI", Value: "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.conductor.DeviceProfileCreate(as(t, true, ""), &cyborg.DeviceProfile{Name: ovo.Of("p"), Groups: ovo.Of(groups)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// request stores a request of the profile.
func (w *world) request(t *testing.T, p *cyborg.DeviceProfile, project string) string {
	t.Helper()
	saved, err := w.conductor.ARQCreate(as(t, true, ""), &cyborg.ExtARQ{ARQ: ovo.Of(&cyborg.ARQ{
		DeviceProfileName: ovo.Of("p"), DeviceProfileGroupID: ovo.Of[int64](0), ProjectID: ovo.NullOf(project),
	})}, p.ID.Value())
	if err != nil {
		t.Fatal(err)
	}
	if got := saved.ARQ.Value(); got.State.Value() != cyborg.ARQInitial || saved.DeployableUUID.Value() != "00000000-0000-0000-0000-000000000000" ||
		saved.DeviceProfileGroup.Value()["resources:CUSTOM_PCI"] != "1" || ovo.VersionOf(saved) != "1.2" || ovo.VersionOf(got) != "1.1" {
		t.Errorf("created %+v", saved)
	}
	return saved.ARQ.Value().UUID.Value()
}

const instance = "0b8f8f55-0000-4000-8000-000000000001"

func binding(uuid, function string) cyborgrpc.ARQPatch {
	host, provider := hostname, providerOf(function)
	return cyborgrpc.ARQPatch{UUID: uuid, Ops: []cyborgrpc.PatchOp{
		{Path: "/hostname", Op: cyborgrpc.OpAdd, Value: &host}, {Path: "/device_rp_uuid", Op: cyborgrpc.OpAdd, Value: &provider},
	}}
}

func fields(function string) cyborgrpc.ARQFields {
	host, provider, guest := hostname, providerOf(function), instance
	return cyborgrpc.ARQFields{Hostname: &host, DeviceRPUUID: &provider, InstanceUUID: &guest}
}

func unbinding(uuid string) cyborgrpc.ARQPatch {
	return cyborgrpc.ARQPatch{UUID: uuid, Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: cyborgrpc.OpRemove}}}
}

func (w *world) state(t *testing.T, uuid string) arq.State {
	t.Helper()
	r, err := w.store.Request(t.Context(), uuid)
	if err != nil {
		t.Fatal(err)
	}
	return r.State
}

// TestReport: rows, offer and provider; the second report changes nothing.
func TestReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	device := reported("4", "PCI", address("4"))
	for range 2 {
		if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{device}); err != nil {
			t.Fatal(err)
		}
	}
	deployables, err := w.objects.DeployableList.GetByHostname(t.Context(), hostname)
	if err != nil || deployables.Len() != 1 || deployables.All()[0].RPUUID.Value() != providerOf("4") {
		t.Fatalf("deployables %v, %v", deployables, err)
	}
	inventories, _, err := w.placement.Inventories(providerOf("4"))
	if err != nil || inventories["CUSTOM_PCI"].Total != 1 || inventories["CUSTOM_PCI"].Reserved != 0 {
		t.Errorf("inventories %v, %v", inventories, err)
	}
	err = w.conductor.ReportData(t.Context(), "elsewhere", nil)
	var noRoot *reconcile.NoRootError
	if !errors.As(err, &noRoot) || noRoot.Host != "elsewhere" {
		t.Errorf("a host without provider: %v", err)
	}
}

// TestRefusedDeviceFreezesTheUnnamed: a device that is not understood is refused, the others are applied, and
// nothing stored is taken for missing meanwhile.
func TestRefusedDeviceFreezesTheUnnamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	four, five := reported("4", "PCI", address("4")), reported("5", "PCI", address("5"))
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{four}); err != nil {
		t.Fatal(err)
	}
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{{Vendor: ovo.Of("10de")}, five}); err != nil {
		t.Fatal(err)
	}
	devices, err := w.objects.DeviceList.GetByHostname(t.Context(), hostname)
	if err != nil || devices.Len() != 2 {
		t.Errorf("%d devices are stored, want both: %v", devices.Len(), err)
	}
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{five}); err != nil {
		t.Fatal(err)
	}
	if devices, err = w.objects.DeviceList.GetByHostname(t.Context(), hostname); err != nil || devices.Len() != 1 {
		t.Errorf("%d devices are stored, want the reported one: %v", devices.Len(), err)
	}
}

// TestRefusedDeviceByName: a refused device that tells its control path keeps what is stored of it, and nothing else.
func TestRefusedDeviceByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	four, five, six := reported("4", "PCI", address("4")), reported("5", "PCI", address("5")), reported("6", "PCI", address("6"))
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{four, five}); err != nil {
		t.Fatal(err)
	}
	four.Model = ovo.Field[string]{}
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{four, six}); err != nil {
		t.Fatal(err)
	}
	paths, err := w.objects.ControlpathIDList.GetByHostname(t.Context(), hostname)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range paths.All() {
		got = append(got, p.CpidInfo.Value())
	}
	if diff := cmp.Diff([]string{address("4"), address("6")}, got); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedDeviceAndAnotherSpelling: beside a device that does not even tell its control path, one that is spelt
// otherwise than its row is not taken for two.
func TestRefusedDeviceAndAnotherSpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	four := reported("4", "PCI", address("4"))
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{four}); err != nil {
		t.Fatal(err)
	}
	four.ControlpathID.Value().CpidInfo = ovo.Of(strings.ReplaceAll(address("4"), " ", ""))
	four.Model = ovo.Of("changed")
	runner := &reconcile.Runner{Store: w.store, Placement: w.placement}
	plan, err := conductor.PlanReport(t.Context(), runner, hostname, []cyborgrpc.ReportedDevice{{Err: errors.New("unreadable")}, {Device: four}})
	if err != nil || len(plan.Devices) != 1 || plan.Devices[0].Verdict != reconcile.Update || len(plan.Problems) != 1 {
		t.Errorf("plan %+v, problems %v, %v", plan.Devices, plan.Problems, err)
	}
}

// TestLifeOfARequest: create, bind, unbind, bind again, delete; one event for each bind, none else.
func TestLifeOfARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "PCI", address("4"))}); err != nil {
		t.Fatal(err)
	}
	uuid := w.request(t, w.profile(t), "mine")
	admin := as(t, true, "admins")
	valid := map[string]cyborgrpc.ARQFields{uuid: fields("4")}
	for range 2 {
		if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{binding(uuid, "4")}, valid); err != nil {
			t.Fatal(err)
		}
		r, err := w.store.Request(t.Context(), uuid)
		if err != nil || r.State != arq.Bound || r.ProjectID != "admins" || r.InstanceUUID != instance {
			t.Fatalf("bound: %+v, %v", r, err)
		}
		var bad *arq.BadStateError
		if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{binding(uuid, "4")}, valid); !errors.As(err, &bad) {
			t.Errorf("bound twice: %v", err)
		}
		if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{unbinding(uuid)}, nil); err != nil {
			t.Fatal(err)
		}
		if got := w.state(t, uuid); got != arq.Unbound {
			t.Errorf("unbound: %s", got)
		}
	}
	if err := w.conductor.ARQDeleteByUUID(admin, []string{uuid}); err != nil {
		t.Fatal(err)
	}
	var missing *arq.NotFoundError
	if err := w.conductor.ARQDeleteByUUID(admin, []string{uuid}); !errors.As(err, &missing) || !strings.Contains(err.Error(), "with uuids ['"+uuid+"']") {
		t.Errorf("deleted twice: %v", err)
	}
	event := nova.Event{Name: nova.EventName, ServerUUID: instance, Tag: uuid, Status: nova.StatusCompleted}
	want := []nova.Body{{Events: []nova.Event{event}}, {Events: []nova.Event{event}}}
	if diff := cmp.Diff(want, w.nova.Bodies()); diff != "" {
		t.Error(diff)
	}
}

// TestBatch: earlier requests stay bound, the failed one is BindFailed, later ones are untouched, Nova is told
// nothing.
func TestBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "PCI", address("4"))}); err != nil {
		t.Fatal(err)
	}
	p := w.profile(t)
	uuids := []string{w.request(t, p, "mine"), w.request(t, p, "mine"), w.request(t, p, "mine")}
	var patches cyborgrpc.ARQPatches
	valid := map[string]cyborgrpc.ARQFields{}
	for _, uuid := range uuids {
		patches = append(patches, binding(uuid, "4"))
		valid[uuid] = fields("4")
	}
	err := w.conductor.ARQApplyPatch(as(t, true, ""), patches, valid)
	var missing *arq.NotFoundError
	if !errors.As(err, &missing) || missing.Resource != "AttachHandle" {
		t.Errorf("ARQApplyPatch() = %v, want no free handle", err)
	}
	got := []arq.State{w.state(t, uuids[0]), w.state(t, uuids[1]), w.state(t, uuids[2])}
	if diff := cmp.Diff([]arq.State{arq.Bound, arq.BindFailed, arq.Initial}, got); diff != "" {
		t.Error(diff)
	}
	if bodies := w.nova.Bodies(); len(bodies) > 0 {
		t.Errorf("Nova was told %v", bodies)
	}
}

// TestProjects: a caller without rights sees and touches its own project's requests only.
func TestProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	uuid := w.request(t, w.profile(t), "mine")
	for name, project := range map[string]string{"another project": "other", "no project": ""} {
		var missing *arq.NotFoundError
		ctx := as(t, false, project)
		if err := w.conductor.ARQApplyPatch(ctx, cyborgrpc.ARQPatches{unbinding(uuid)}, nil); !errors.As(err, &missing) {
			t.Errorf("%s: patch: %v", name, err)
		}
		if err := w.conductor.ARQDeleteByUUID(ctx, []string{uuid}); !errors.As(err, &missing) {
			t.Errorf("%s: delete: %v", name, err)
		}
	}
	if err := w.conductor.ARQDeleteByUUID(as(t, false, "mine"), []string{uuid}); err != nil {
		t.Errorf("the owner: %v", err)
	}
}

// TestMediatedDevice: the agent creates and removes it outside any transaction; a failure is recorded before the
// caller hears of it.
func TestMediatedDevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	info := `{"asked_type": "nvidia-223", "bus": "25", "device": "00", "domain": "0000", "function": "4", "vgpu_mark": "nvidia-223_0"}`
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "MDEV", info)}); err != nil {
		t.Fatal(err)
	}
	uuid := w.request(t, w.profile(t), "mine")
	admin, valid := as(t, true, ""), map[string]cyborgrpc.ARQFields{uuid: fields("4")}
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{binding(uuid, "4")}, valid); err != nil {
		t.Fatal(err)
	}
	w.agents.err = errors.New("agent gone")
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{unbinding(uuid)}, nil); err == nil || w.state(t, uuid) != arq.Bound {
		t.Errorf("unbound although the agent failed: %v, %s", err, w.state(t, uuid))
	}
	w.agents.err = nil
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{unbinding(uuid)}, nil); err != nil {
		t.Fatal(err)
	}
	w.agents.err = errors.New("agent gone")
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{binding(uuid, "4")}, valid); err == nil || w.state(t, uuid) != arq.BindFailed {
		t.Errorf("bound although the agent failed: %v, %s", err, w.state(t, uuid))
	}
	w.agents.err = nil
	for _, p := range []cyborgrpc.ARQPatch{unbinding(uuid), binding(uuid, "4")} {
		if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{p}, valid); err != nil {
			t.Fatal(err)
		}
	}
	w.agents.err = &rpc.RemoteError{Class: cyborgrpc.ErrNoMdev} // the host started again
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{unbinding(uuid)}, nil); err != nil || w.state(t, uuid) != arq.Unbound {
		t.Errorf("still bound although the device is gone: %v, %s", err, w.state(t, uuid))
	}
	want := []string{
		"create " + hostname, "remove " + hostname, "remove " + hostname, "create " + hostname, "create " + hostname, "remove " + hostname,
	}
	for i := range want {
		want[i] += " 0000:25:00.4 nvidia-223"
	}
	if diff := cmp.Diff(want, w.agents.calls); diff != "" {
		t.Error(diff)
	}
}

// TestProfiles: duplicates and profiles in use are refused under the classes that API nodes know.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.profile(t)
	_, err := w.conductor.DeviceProfileCreate(as(t, true, ""), &cyborg.DeviceProfile{Name: ovo.Of("p"), Groups: ovo.Of([]any{})})
	if !errors.Is(err, rpc.Class{Module: cyborgrpc.Module, Name: "DuplicateDeviceProfileName"}) {
		t.Errorf("a second profile of the name: %v", err)
	}
	uuid := w.request(t, p, "mine")
	if err := w.conductor.DeviceProfileDelete(as(t, true, ""), p); !errors.Is(err, rpc.Class{Module: "oslo_db.exception", Name: "DBReferenceError"}) {
		t.Errorf("a profile in use was deleted: %v", err)
	}
	if err := w.conductor.ARQDeleteByUUID(as(t, true, ""), []string{uuid}); err != nil {
		t.Fatal(err)
	}
	if err := w.conductor.DeviceProfileDelete(as(t, true, ""), p); err != nil {
		t.Error(err)
	}
}

// TestIncompleteProfile: what the object of Cyborg 17 cannot do without is refused as there; a profile of no groups is none
// of its business.
func TestIncompleteProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tt := range map[string]struct {
		profile cyborg.DeviceProfile
		class   string
		text    string
	}{
		"no name":            {cyborg.DeviceProfile{Groups: ovo.Of([]any{})}, "ObjectActionError", "Object action create failed because: name is required"},
		"no groups":          {cyborg.DeviceProfile{Name: ovo.Of("a")}, "DeviceProfileGroupsExpected", "DeviceProfile needs groups field."},
		"neither":            {cyborg.DeviceProfile{}, "ObjectActionError", "Object action create failed because: name is required"},
		"an empty groups":    {cyborg.DeviceProfile{Name: ovo.Of("b"), Groups: ovo.Of([]any{})}, "", ""},
		"a name of no chars": {cyborg.DeviceProfile{Name: ovo.Of(""), Groups: ovo.Of([]any{})}, "", ""},
	} {
		_, err := w.conductor.DeviceProfileCreate(as(t, true, ""), &tt.profile)
		if tt.class == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		remote, ok := errors.AsType[*rpc.RemoteError](err)
		if !ok || remote.Class.Name != tt.class || remote.Class.Module != cyborgrpc.Module || remote.Message != tt.text || remote.Code() != 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	profiles, err := w.store.Profiles(t.Context())
	if err != nil || len(profiles) != 2 {
		t.Errorf("%d profiles are stored: %v", len(profiles), err)
	}
}

// TestNothingElseIsCallable: neither methods of the manager nor undeclared methods of objects.
func TestNothingElseIsCallable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := rpc.Remote{Client: w.client, Target: rpc.Target{Topic: cyborgrpc.ConductorTopic}}
	for _, name := range []string{"init_host", "periodic_tasks", "provider_report", "Close", "close", "Endpoint"} {
		m := rpc.NewMethod[map[string]any, any](name, "1.0")
		if _, err := m.Call(t.Context(), to, nil); !errors.Is(err, rpc.ErrNoSuchMethod) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, call := range [][2]string{{"DeviceList", "destroy"}, {"DeviceList", "obj_reset_changes"}, {"Device", "save"}} {
		_, err := w.conductor.Indirection().ObjectClassActionVersions(t.Context(), call[0], call[1],
			ovo.Manifest{"DeviceList": "1.0", "Device": "1.5"}, json.RawMessage(`["h"]`), json.RawMessage(`{}`))
		if _, ok := errors.AsType[*cyborgrpc.UnsupportedMethodError](err); !ok {
			t.Errorf("%s.%s: %v", call[0], call[1], err)
		}
	}
}

// TestTransitionsAreTold: what the requests were led to, for the metrics; and what is in flight meanwhile, for the report
// of an operator.
func TestTransitionsAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	var told []string
	var manager *conductor.Manager
	working := make(chan string, 1)
	w.agents.during = func() {
		var b strings.Builder
		manager.WriteInFlight(&b)
		working <- b.String()
	}
	w.configure = func(c *conductor.Config) {
		c.Moved = func(to string, took time.Duration) {
			if took <= 0 || took > time.Minute {
				t.Errorf("%s took %s", to, took)
			}
			told = append(told, to)
		}
	}
	manager = w.serve(t)
	info := `{"asked_type": "nvidia-223", "bus": "25", "device": "00", "domain": "0000", "function": "4", "vgpu_mark": "nvidia-223_0"}`
	if err := w.conductor.ReportData(t.Context(), hostname, []*cyborg.DriverDevice{reported("4", "MDEV", info)}); err != nil {
		t.Fatal(err)
	}
	p := w.profile(t)
	uuids := []string{w.request(t, p, "mine"), w.request(t, p, "mine")}
	admin := as(t, true, "")
	bind := func(uuid string) error {
		return w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{binding(uuid, "4")}, map[string]cyborgrpc.ARQFields{uuid: fields("4")})
	}
	if err := bind(uuids[0]); err != nil {
		t.Fatal(err)
	}
	if got := <-working; !strings.HasPrefix(got, "bind of "+uuids[0]+", for ") || strings.Count(got, "\n") != 1 {
		t.Errorf("in flight: %q", got)
	}
	if err := bind(uuids[1]); err == nil {
		t.Error("bound without a free handle")
	}
	if err := w.conductor.ARQApplyPatch(admin, cyborgrpc.ARQPatches{unbinding(uuids[0])}, nil); err != nil {
		t.Fatal(err)
	}
	<-working
	if err := w.conductor.ARQDeleteByUUID(admin, uuids); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bound", "BindFailed", "Unbound", "Deleted", "Deleted"}, told); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	if manager.WriteInFlight(&b); b.Len() > 0 {
		t.Errorf("still in flight: %s", b.String())
	}
}
