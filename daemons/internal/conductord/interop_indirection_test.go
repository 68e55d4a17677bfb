package conductord_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
)

// TestInteropPythonAgent: a Python process whose objects have oslo.versionedobjects' own indirection works against the
// Go conductor, at the current versions and at older ones.
func TestInteropPythonAgent(t *testing.T) {
	dir := currentPeer(t)
	bus := vhost(t)
	file := configFile(t, bus, "")
	startLab(t, file, nil)
	reportFake(t, newPeer(t, file))
	for name, version := range map[string]struct{ device, counter, part string }{
		"current": {"1.5", "1.1", "1.1"}, "older": {"1.4", "1.0", "1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var got outcomes
			startPython(t, dir, indirectionScript, "agent", bus, host, name).finish(&got)
			missing, _ := got["missing"].(map[string]any)
			text, _ := missing["text"].(string)
			delete(missing, "text")
			want := outcomes{
				"devices": []any{map[string]any{
					"vendor": "0xABCD", "version": version.device, "host": host, "has_state": name == "current", "changes": []any{},
				}},
				"unknown_host": 0.0,
				"got":          map[string]any{"count": 7.0, "version": version.counter, "part": version.part, "name": "p"},
				"result":       "added",
				"after":        map[string]any{"count": 9.0, "name": "mine", "changes": []any{"count", "part"}},
				"missing":      map[string]any{"class": "ObjectActionError_Remote", "module": "cyborg.common.exception_Remote", "code": 500.0},
				"calls": []any{
					"object_class_action_versions", "object_class_action_versions", "object_class_action_versions",
					"object_action", "object_action",
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(text, "missing") {
				t.Errorf("the refusal of an undeclared method does not name it: %s", text)
			}
		})
	}
	fmt.Printf("interop: python agent, go conductor: failed %t\n", t.Failed())
}

// TestInteropPythonConductor: a Go agent works against a Python server that implements the three operations.
func TestInteropPythonConductor(t *testing.T) {
	dir := currentPeer(t)
	bus := vhost(t)
	server := startPython(t, dir, indirectionScript, "conductor", bus, host)
	server.ready()
	file := configFile(t, bus, "")
	p := newPeer(t, file)
	pythonServes(t, p)
	log, stop := daemon(t, agentd.Daemon{Sysfs: t.TempDir()}.Main, file)
	until(t, 30*time.Second, "the agent's report", func() bool { return strings.Contains(log.String(), "service is ready") })
	if code := stop(); code != 0 {
		t.Errorf("the agent ended with %d: %s", code, log)
	}
	var called [][]any
	server.finish(&called)
	seen := map[string]bool{}
	for _, c := range called {
		seen[fmt.Sprint(c[0], ".", c[1])] = true
	}
	for _, want := range []string{
		"DeviceList.get_by_hostname", "ControlpathIDList.get_by_hostname", "DeployableList.get_by_hostname",
		"AttachHandleList.get_by_hostname", "AttachHandleList.get_referenced_by_hostname",
		"LabCounter.get", "LabCounter.add", "LabCounter.backport", "report_data." + host,
	} {
		if !seen[want] {
			t.Errorf("the Python server was not asked for %s: %v", want, called)
		}
	}
	fmt.Printf("interop: go agent, python conductor: failed %t\n", t.Failed())
}

// pythonServes calls the three operations.
func pythonServes(t *testing.T, p *peer) {
	t.Helper()
	ctx := admin(t.Context())
	list, err := p.objects.DeviceList.GetByHostname(ctx, host)
	if err != nil || len(list.All()) != 1 || list.All()[0].Vendor.Value() != "0xABCD" || list.All()[0].DeviceState.Value() != "available" {
		t.Fatalf("devices %v, %v", list, err)
	}
	c, err := p.lab.Counter.Get(ctx, 5)
	if err != nil || c.Count.Value() != 5 || c.Part.Value().Name.Value() != "p" {
		t.Fatalf("counter %v, %v", c, err)
	}
	if result, err := p.lab.Counter.Add(ctx, c, 3); err != nil || result != "added" || c.Count.Value() != 8 || !c.Count.Changed() {
		t.Errorf("add gave %q, %v; count %d", result, err, c.Count.Value())
	}
	raw, err := ovoRegistry(t).Append(nil, counter(4))
	if err != nil {
		t.Fatal(err)
	}
	old, err := p.conductor.Indirection().ObjectBackportVersions(ctx, raw, map[string]string{"LabCounter": "1.0", "LabPart": "1.0"})
	if err != nil || !json.Valid(old) {
		t.Errorf("backport: %s, %v", old, err)
	}
	var refused *cyborgrpc.TooOldError
	if _, err := p.lab.Echo.Echo(ctx, "n"); !errors.As(err, &refused) {
		t.Errorf("a class the server does not know: %v", err)
	}
}

// TestInteropOldClients: a client of RPC 1.0 on older oslo.messaging and oslo.versionedobjects works against the Go
// conductor.
func TestInteropOldClients(t *testing.T) {
	for suite, dir := range generations(t) {
		if suite == current {
			continue
		}
		t.Run(suite, func(t *testing.T) {
			bus := vhost(t)
			startLab(t, configFile(t, bus, ""), nil)
			seen := tap(t, bus, cyborgrpc.ConductorTopic)
			var got outcomes
			startPython(t, dir, indirectionScript, "client10", bus, host).finish(&got)
			twice, _ := got["twice"].(map[string]any)
			delete(got, "twice")
			want := outcomes{
				"profile": map[string]any{"version": "1.1", "name": "old-client", "has_id": true, "groups": []any{map[string]any{"resources:FPGA": "1"}}},
				"arq":     map[string]any{"version": "1.2", "inner": "1.1", "state": "Initial", "project": "p"},
				"delete":  nil, "report": nil, "instance": nil, "patch": nil, "gone": nil,
				"capped": "RPCVersionCapError",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if text, _ := twice["text"].(string); !strings.Contains(text, "ResourceNotFound") {
				t.Errorf("deleting twice gave %v", twice)
			}
			for _, m := range seen.methods() {
				if !strings.HasSuffix(m, " 1.0") {
					t.Errorf("sent %s", m)
				}
			}
		})
		fmt.Printf("interop: client of %s, go conductor: failed %t\n", suite, t.Failed())
	}
}
