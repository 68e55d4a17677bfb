package conductord_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/rpc"
)

// TestInteropPythonClients: the ConductorAPI and AgentAPI of 17.0.0 against the Go conductor and an agent's endpoint.
func TestInteropPythonClients(t *testing.T) {
	dir := currentPeer(t)
	bus := vhost(t)
	file := configFile(t, bus, "")
	l := startLab(t, file, nil)
	got := map[string]any{}
	serveAgent(t, l, mustLoad(t, file), got)
	seen := tap(t, bus, cyborgrpc.ConductorTopic, cyborgrpc.AgentTopic+"."+host)
	var out outcomes
	startPython(t, dir, cyborg17Script, "client", bus, host).finish(&out)
	group := map[string]any{"resources:FPGA": "1", "trait:CUSTOM_FAKE_DEVICE": "required"}
	want := outcomes{
		"profile": map[string]any{"version": "1.1", "name": "seventeen", "groups": []any{group}, "has_id": true},
		"again":   map[string]any{"class": "DuplicateDeviceProfileName_Remote", "code": 409.0},
		"created": map[string]any{"version": "1.2", "inner": "1.1", "state": "Initial", "project": "p", "group": group, "info": map[string]any{}},
		"twice":   map[string]any{"class": "ResourceNotFound_Remote", "code": 404.0},
		"report":  nil, "bind": nil, "unbind": nil, "delete": nil, "instance": nil, "gone": nil,
		"program": true, "mdev": []any{nil, nil},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	wantAgent := map[string]any{
		"fpga_program": `intel {"bus": "0c"} 00000000-0000-0000-0000-000000000002`,
		"create":       "0000:84:00.0 nvidia-223 00000000-0000-0000-0000-000000000003",
		"remove":       "0000:84:00.0 nvidia-223 00000000-0000-0000-0000-000000000003",
	}
	if diff := cmp.Diff(wantAgent, got); diff != "" {
		t.Errorf("the agent's endpoint: %s", diff)
	}
	stored, err := l.db.DevicesByHostname(t.Context(), host)
	if err != nil || len(stored) != 1 || stored[0].Vendor != "0xABCD" {
		t.Errorf("stored devices %+v, %v", stored, err)
	}
	judgeMessages17(t, seen.requests())
	fmt.Printf("interop: Cyborg 17.0.0 clients, go conductor and agent: failed %t\n", t.Failed())
}

// serveAgent answers the agent's interface and notes what it was asked.
func serveAgent(t *testing.T, l *lab, cfg *config.Config, got map[string]any) {
	t.Helper()
	ep := rpc.NewEndpoint("", cyborgrpc.AgentVersion)
	cyborgrpc.FPGAProgram.Handle(ep, func(_ context.Context, a cyborgrpc.FPGAProgramArgs) (cyborgrpc.Truth, error) {
		got["fpga_program"] = fmt.Sprintf("%s %s %s", a.DriverName, a.ControlpathID.CpidInfo, a.BitstreamUUID)
		return true, nil
	})
	note := func(name string) func(context.Context, cyborgrpc.MdevArgs) (rpc.Null, error) {
		return func(_ context.Context, a cyborgrpc.MdevArgs) (rpc.Null, error) {
			got[name] = fmt.Sprintf("%s %s %s", a.PCIAddr, a.AskedType, a.AHUUID)
			return rpc.Null{}, nil
		}
	}
	cyborgrpc.CreateVGPUMdev.Handle(ep, note("create"))
	cyborgrpc.RemoveVGPUMdev.Handle(ep, note("remove"))
	up := make(chan bool, 16)
	server, err := messaging.NewServer(cfg, l.bus, messaging.Service{
		Topic: cyborgrpc.AgentTopic, Endpoint: ep, Wire: l.wire, Ready: func(ready bool) { up <- ready },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-up
}
