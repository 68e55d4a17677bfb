package conductord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
)

func admin(ctx context.Context) context.Context {
	return rpc.WithRequest(ctx, rpc.AdminContext())
}

// reportFake stores the fake driver's device and gives the first handle's update.
func reportFake(t testing.TB, p *peer) cyborg.AttachInfoUpdate {
	t.Helper()
	ctx := admin(t.Context())
	devices, err := fake.New(host).Discover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.conductor.ReportData(ctx, host, devices); err != nil {
		t.Fatal(err)
	}
	return firstUpdate(ctx, t, p.objects, host)
}

// firstUpdate describes an update of a host's first handle from what the remotable reads say of it.
func firstUpdate(ctx context.Context, t testing.TB, objects cyborg.Objects, host string) cyborg.AttachInfoUpdate {
	t.Helper()
	var l inventory.Lists
	var problems [4]error
	l.Devices, problems[0] = objects.DeviceList.GetByHostname(ctx, host)
	l.ControlpathIDs, problems[1] = objects.ControlpathIDList.GetByHostname(ctx, host)
	l.Deployables, problems[2] = objects.DeployableList.GetByHostname(ctx, host)
	l.AttachHandles, problems[3] = objects.AttachHandleList.GetByHostname(ctx, host)
	if err := errors.Join(problems[:]...); err != nil {
		t.Fatal(err)
	}
	l.Referenced = l.AttachHandles
	if len(l.Devices.All()) == 0 || len(l.AttachHandles.All()) == 0 {
		t.Fatalf("host %s has %d devices and %d handles", host, len(l.Devices.All()), len(l.AttachHandles.All()))
	}
	d, dep, h := l.Devices.All()[0], l.Deployables.All()[0], l.AttachHandles.All()[0]
	return cyborg.AttachInfoUpdate{
		UUID: h.UUID.Value(), AttachInfo: h.AttachInfo.Value(), RequireUnallocated: true,
		Expected: cyborg.HandleExpectation{
			DeployableID: dep.ID.Value(), DeployableName: dep.Name.Value(),
			ControlpathID: l.ControlpathIDs.All()[0].ID.Value(), CpidInfo: l.ControlpathIDs.All()[0].CpidInfo.Value(),
			DeviceID: d.ID.Value(), Hostname: host, AttachType: string(h.AttachType.Value()), AttachInfo: h.AttachInfo.Value(),
		},
	}
}

// TestIntegrationEveryRemotableMethod ranges over the table of remotable methods, the registry's own: each is called
// over the bus, and one without a case here fails.
func TestIntegrationEveryRemotableMethod(t *testing.T) {
	t.Parallel()
	file := configFile(t, vhost(t), "")
	startLab(t, file, nil)
	p := newPeer(t, file)
	u := reportFake(t, p)
	expected, err := json.Marshal(u.Expected.Dict())
	if err != nil {
		t.Fatal(err)
	}
	byHost := fmt.Sprintf("[%q]", host)
	cases := map[string]struct{ args, contains string }{
		"DeviceList.get_by_hostname":                  {byHost, `"vendor": "0xABCD"`},
		"ControlpathIDList.get_by_hostname":           {byHost, `"cpid_type": "PCI"`},
		"DeployableList.get_by_hostname":              {byHost, `"name": "compute-1_FakeDevice"`},
		"AttachHandleList.get_by_hostname":            {byHost, `"attach_type": "TEST_PCI"`},
		"AttachHandleList.get_referenced_by_hostname": {byHost, `"objects": []`},
		"AttachHandle.update_attach_info":             {fmt.Sprintf("[%q, %s, %q, true]", u.UUID, expected, `{"bus": "0c"}`), `"attach_info": "{\"bus\": \"0c\"}"`},
		"LabEcho.echo":                                {`["n1"]`, `"n1"`},
		"LabCounterList.fill":                         {`["x", 2]`, `"note": "x"`},
		"LabCounter.get":                              {`[7]`, `"count": 7`},
		"LabCounter.add":                              {`[2]`, `"count": 9`},
		"ExtARQList.get_all":                          {`[]`, `"objects": []`},
	}
	r, err := labRegistry()
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	for name, instance := range remotableTable(r) {
		c, ok := cases[name]
		if !ok {
			t.Errorf("%s is declared and has no case", name)
			continue
		}
		raw, err := callRaw(admin(t.Context()), t, p, r, name, instance, c.args)
		if err != nil || !strings.Contains(string(raw), c.contains) {
			t.Errorf("%s%s = %s, %v; want %s in it", name, c.args, raw, err, c.contains)
		}
		called++
	}
	if called != len(cases) {
		t.Errorf("%d methods in the table, %d cases", called, len(cases))
	}
}

// declaredMethod is a remotable method in the text that a class's fingerprint is made of.
var declaredMethod = regexp.MustCompile(`\('(\w+)', (?:Full)?ArgSpec\(args=\['(cls|self)'`)

// remotableTable is every declared method of a registry's classes; true for instance methods.
func remotableTable(r *ovo.Registry) map[string]bool {
	table := map[string]bool{}
	for _, class := range r.Names() {
		for _, m := range declaredMethod.FindAllStringSubmatch(r.Highest(class).Contract(), -1) {
			table[class+"."+m[1]] = m[2] == "self"
		}
	}
	return table
}

// callRaw calls a method by its names, as a peer of any language does.
func callRaw(ctx context.Context, t *testing.T, p *peer, r *ovo.Registry, name string, instance bool, args string) (json.RawMessage, error) {
	t.Helper()
	class, method, _ := strings.Cut(name, ".")
	via := p.conductor.Indirection()
	if instance {
		object, err := r.Append(nil, counter(7))
		if err != nil {
			t.Fatal(err)
		}
		return via.ObjectAction(ctx, object, method, json.RawMessage(args), json.RawMessage(`{}`))
	}
	m, err := r.Manifest(class)
	if err != nil {
		t.Fatal(err)
	}
	return via.ObjectClassActionVersions(ctx, class, method, m, json.RawMessage(args), json.RawMessage(`{}`))
}

// TestIntegrationProjectsSeeTheirOwn: a body runs under the caller's context, so a caller that is no admin gets the
// requests of its project only.
func TestIntegrationProjectsSeeTheirOwn(t *testing.T) {
	t.Parallel()
	file := configFile(t, vhost(t), "")
	l := startLab(t, file, nil)
	profile, err := l.db.CreateProfile(t.Context(), store.Profile{Name: "p", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var news []arq.New
	for _, project := range []string{"a", "b", "a", "c"} {
		news = append(news, arq.New{ProfileName: profile.Name, ProjectID: project})
	}
	if _, err := l.db.CreateARQs(t.Context(), news); err != nil {
		t.Fatal(err)
	}
	p := newPeer(t, file)
	for name, tt := range map[string]struct {
		rc   *rpc.RequestContext
		want []string
	}{
		"member of a": {&rpc.RequestContext{ProjectID: "a", Roles: []string{"member"}}, []string{"a", "a"}},
		"member of b": {&rpc.RequestContext{ProjectID: "b"}, []string{"b"}},
		"nobody":      {&rpc.RequestContext{}, nil},
		"admin":       {rpc.AdminContext(), []string{"a", "b", "a", "c"}},
	} {
		list, err := p.lab.ExtARQs.GetAll(rpc.WithRequest(t.Context(), tt.rc))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range list.All() {
			got = append(got, o.ARQ.Value().ProjectID.Value())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestIntegrationOlderDeviceMembers: 500 devices, stored in a real database, whose members are newer than the caller:
// one request over a real broker, and every member as the caller knows it.
func TestIntegrationOlderDeviceMembers(t *testing.T) {
	t.Parallel()
	const many = 500
	file := configFile(t, vhost(t), "")
	l := startLab(t, file, nil)
	devices := make([]reconcile.Device, many)
	for i := range devices {
		devices[i] = reconcile.Device{
			Type: "FPGA", Vendor: "0xABCD", Model: fmt.Sprintf("m%d", i),
			ControlPath: reconcile.ControlPath{Type: "PCI", Info: fmt.Sprintf(`{"n": %d}`, i)},
		}
	}
	if _, err := l.db.Insert(t.Context(), host, devices); err != nil {
		t.Fatal(err)
	}
	p := newPeer(t, file)
	counted := &countingIndirection{Indirection: p.conductor.Indirection()}
	r, err := ovo.NewRegistry(cyborg.Namespace(),
		ovo.NewClass[device14]("Device", ovo.History{ovo.V("1.4")}),
		ovo.NewClass[deviceList14]("DeviceList", ovo.History{ovo.V("1.0", ovo.Part("objects", "1.4"))}, ovo.Methods[deviceLists14]()))
	if err != nil {
		t.Fatal(err)
	}
	var old deviceLists14
	if err := r.Bind(counted, &old); err != nil {
		t.Fatal(err)
	}
	list, err := old.GetByHostname(admin(t.Context()), host)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list.All()); n != many || counted.calls != 1 || counted.backports != 0 {
		t.Fatalf("%d members after %d calls and %d backports", n, counted.calls, counted.backports)
	}
	for i, d := range list.All() {
		if d.Model.Value() != fmt.Sprintf("m%d", i) || d.Status.Value() != cyborg.Enabled {
			t.Fatalf("member %d is %s, %s", i, d.Model.Value(), d.Status.Value())
		}
	}
}

// device14 is Device before device_state.
type device14 struct {
	cyborg.Object
	ID              ovo.Field[int64]               `ovo:"id"`
	UUID            ovo.Field[string]              `ovo:"uuid,UUID"`
	Type            ovo.Field[cyborg.DeviceType]   `ovo:"type"`
	Vendor          ovo.Field[string]              `ovo:"vendor"`
	Model           ovo.Field[string]              `ovo:"model"`
	StdBoardInfo    ovo.Null[string]               `ovo:"std_board_info"`
	VendorBoardInfo ovo.Null[string]               `ovo:"vendor_board_info"`
	Hostname        ovo.Field[string]              `ovo:"hostname"`
	Status          ovo.Field[cyborg.DeviceStatus] `ovo:"status,default=enabled"`
}

type deviceList14 struct {
	ovo.List[device14]
	cyborg.Object
}

type deviceLists14 struct {
	GetByHostname func(ctx context.Context, hostname string) (*deviceList14, error) `ovo:"get_by_hostname(cls, context, hostname)"`
}

type countingIndirection struct {
	ovo.Indirection
	calls, backports int
}

func (c *countingIndirection) ObjectClassActionVersions(ctx context.Context, object, method string, m ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	c.calls++
	return c.Indirection.ObjectClassActionVersions(ctx, object, method, m, args, kwargs)
}

func (c *countingIndirection) ObjectBackportVersions(ctx context.Context, object json.RawMessage, m ovo.Manifest) (json.RawMessage, error) {
	c.backports++
	return c.Indirection.ObjectBackportVersions(ctx, object, m)
}

// TestIntegrationConductorPinnedToOneStillServesIndirection: a cap limits what a service sends, not what it accepts.
func TestIntegrationConductorPinnedToOneStillServesIndirection(t *testing.T) {
	t.Parallel()
	bus := vhost(t)
	startLab(t, configFile(t, bus, "[upgrade_levels]\nconductor = 1.0\n"), nil)
	p := newPeer(t, configFile(t, bus, ""))
	if got, err := p.lab.Echo.Echo(admin(t.Context()), "n"); err != nil || got != "n" {
		t.Errorf("echo = %q, %v", got, err)
	}
}

// TestIntegrationBadCalls: what no caller should send is answered with a failure that any peer can rebuild, logged
// once, and changes nothing.
func TestIntegrationBadCalls(t *testing.T) {
	t.Parallel()
	file := configFile(t, vhost(t), "")
	log := &records{}
	startLab(t, file, slog.New(log))
	p := newPeer(t, file)
	u := reportFake(t, p)
	expected, err := json.Marshal(u.Expected.Dict())
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	m := ovo.Manifest{"AttachHandle": "1.1", "DeviceList": "1.0", "Device": "1.5", "LabEcho": "1.0", "LabCounter": "1.1"}
	good, err := ovoRegistry(t).Append(nil, counter(1))
	if err != nil {
		t.Fatal(err)
	}
	via := p.conductor.Indirection()
	class := func(object, method, args, kwargs string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := via.ObjectClassActionVersions(ctx, object, method, m, json.RawMessage(args), json.RawMessage(kwargs))
			return err
		}
	}
	action := func(object, method, args string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := via.ObjectAction(ctx, json.RawMessage(object), method, json.RawMessage(args), json.RawMessage(`{}`))
			return err
		}
	}
	backport := func(object string, m ovo.Manifest) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := via.ObjectBackportVersions(ctx, json.RawMessage(object), m)
			return err
		}
	}
	for name, call := range map[string]func(context.Context) error{
		"unknown class": class("Nothing", "get", `[]`, `{}`),
		"class without mention": func(ctx context.Context) error {
			_, err := via.ObjectClassActionVersions(ctx, "Device", "get", ovo.Manifest{}, json.RawMessage(`[]`), json.RawMessage(`{}`))
			return err
		},
		"too new a version": func(ctx context.Context) error {
			_, err := via.ObjectClassActionVersions(ctx, "LabEcho", "echo", ovo.Manifest{"LabEcho": "1.9"}, json.RawMessage(`["x"]`), json.RawMessage(`{}`))
			return err
		},
		"malformed version": func(ctx context.Context) error {
			_, err := via.ObjectClassActionVersions(ctx, "LabEcho", "echo", ovo.Manifest{"LabEcho": "new"}, json.RawMessage(`["x"]`), json.RawMessage(`{}`))
			return err
		},
		"unknown method":         class("LabEcho", "remove_all", `[]`, `{}`),
		"built-in method":        class("LabEcho", "obj_reset_changes", `[]`, `{}`),
		"private method":         class("LabEcho", "__init__", `[]`, `{}`),
		"instance as class":      class("LabCounter", "add", `[1]`, `{}`),
		"missing argument":       class("AttachHandle", "update_attach_info", `["u"]`, `{}`),
		"ill-typed argument":     class("AttachHandle", "update_attach_info", fmt.Sprintf(`[%q, 1, "{}", true]`, u.UUID), `{}`),
		"None for a text":        class("AttachHandle", "update_attach_info", fmt.Sprintf(`[%q, %s, null, false]`, u.UUID, expected), `{}`),
		"expected without a key": class("AttachHandle", "update_attach_info", fmt.Sprintf(`[%q, {}, "{}", false]`, u.UUID), `{}`),
		"unknown keyword":        class("LabEcho", "echo", `["x"]`, `{"force": true}`),
		"argument twice":         class("LabEcho", "echo", `["x"]`, `{"nonce": "y"}`),
		"args no list":           class("LabEcho", "echo", `"x"`, `{}`),
		"kwargs no dict":         class("LabEcho", "echo", `["x"]`, `[]`),
		"hostile nesting":        class("AttachHandle", "update_attach_info", fmt.Sprintf(`[%q, {"a": %s}, "{}", false]`, u.UUID, deep), `{}`),
		"nesting in args":        class("LabEcho", "echo", deep, `{}`),
		"no object":              action(`17`, "add", `[1]`),
		"object of no class":     action(strings.ReplaceAll(string(good), "LabCounter", "Nothing"), "add", `[1]`),
		"object too new":         action(strings.ReplaceAll(string(good), `"1.1"`, `"1.7"`), "add", `[1]`),
		"object malformed":       action(strings.ReplaceAll(string(good), `"count": 1`, `"count": "x"`), "add", `[1]`),
		"nested object":          action(strings.ReplaceAll(string(good), `"count": 1`, `"count": `+deep), "add", `[1]`),
		"class as instance":      action(string(good), "get", `[1]`),
		"backport of no object":  backport(`[]`, m),
		"backport too high":      backport(string(good), ovo.Manifest{"LabCounter": "1.9"}),
		"backport unmentioned":   backport(string(good), ovo.Manifest{}),
	} {
		t.Run(name, func(t *testing.T) {
			before := log.number()
			err := call(admin(t.Context()))
			var failed *rpc.RemoteError
			if !errors.As(err, &failed) {
				t.Fatalf("%v, want a failure of the server", err)
			}
			switch {
			case failed.Class.Name == "" || failed.Message == "":
				t.Errorf("a peer cannot rebuild %+v", failed)
			case failed.Class.Name == "NotImplementedError", failed.Class.Name == "RuntimeError":
				t.Errorf("arrived as %s: %s", failed.Class.Name, failed.Message)
			}
			if n := log.number() - before; n != 1 {
				t.Errorf("logged %d times", n)
			}
		})
	}
	if diff := cmp.Diff(u, firstUpdate(admin(t.Context()), t, p.objects, host)); diff != "" {
		t.Errorf("the database changed:\n%s", diff)
	}
}

func ovoRegistry(t testing.TB) *ovo.Registry {
	t.Helper()
	r, err := labRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
