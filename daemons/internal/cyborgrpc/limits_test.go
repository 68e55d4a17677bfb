package cyborgrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// TestParseLimits: caps are numbers that this client supports; everything else names option, value and what is
// allowed, both options at once.
func TestParseLimits(t *testing.T) {
	t.Parallel()
	one, oneOne := rpc.Version{Major: 1}, rpc.Version{Major: 1, Minor: 1}
	for name, tt := range map[string]struct {
		conductor, agent string
		want             cyborgrpc.Limits
		words            []string
	}{
		"defaults":     {"", "", cyborgrpc.Limits{Conductor: oneOne, Agent: one}, nil},
		"explicit":     {"1.1", "1.0", cyborgrpc.Limits{Conductor: oneOne, Agent: one}, nil},
		"pinned":       {"1.0", "1.0", cyborgrpc.Limits{Conductor: one, Agent: one}, nil},
		"auto":         {"auto", "", cyborgrpc.Limits{}, []string{"[upgrade_levels] conductor", `"auto"`, "1.0 or 1.1"}},
		"malformed":    {"1", "", cyborgrpc.Limits{}, []string{"[upgrade_levels] conductor", `"1"`}},
		"too high":     {"1.2", "", cyborgrpc.Limits{}, []string{`"1.2"`}},
		"other major":  {"2.0", "", cyborgrpc.Limits{}, []string{`"2.0"`}},
		"agent at 1.1": {"", "1.1", cyborgrpc.Limits{}, []string{"[upgrade_levels] agent", `"1.1"`, "1.0"}},
		"both wrong":   {"x", "y", cyborgrpc.Limits{}, []string{"conductor", `"x"`, "agent", `"y"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := cyborgrpc.ParseLimits(tt.conductor, tt.agent)
			var bad *cyborgrpc.CapError
			if errors.As(err, &bad) != (tt.words != nil) || err != nil && tt.words == nil {
				t.Fatalf("ParseLimits() = %v", err)
			}
			for _, word := range tt.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not name %s: %v", word, err)
				}
			}
			if tt.words == nil {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestConductorCaps: cap 1.0 keeps the 1.0 methods and refuses object operations before anything is sent; 1.1
// admits both and relabels nothing.
func TestConductorCaps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit    string
		supports bool
	}{"cap 1.0": {"1.0", false}, "cap 1.1": {"1.1", true}, "default": {"", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ep := rpc.NewEndpoint("", cyborgrpc.ConductorVersion)
			cyborgrpc.ReportData.Handle(ep, func(context.Context, cyborgrpc.ReportDataArgs) (rpc.Null, error) {
				return rpc.Null{}, nil
			})
			serveObjects(t, ep, cyborg.Local(emptyStore{}))
			client, bus, wire := service(t, cyborgrpc.ConductorTopic, ep)
			limits, err := cyborgrpc.ParseLimits(tt.limit, "")
			if err != nil {
				t.Fatal(err)
			}
			conductor, err := cyborgrpc.NewConductorAPI(client, wire, limits)
			if err != nil {
				t.Fatal(err)
			}
			if got := conductor.SupportsObjectIndirection(); got != tt.supports || len(bus.requests()) > 0 {
				t.Errorf("SupportsObjectIndirection() = %t after %d messages", got, len(bus.requests()))
			}
			if err := conductor.ReportData(t.Context(), "h", nil); err != nil {
				t.Errorf("a 1.0 call was refused: %v", err)
			}
			objects, err := cyborg.Remote(registry(t), conductor.Indirection())
			if err != nil {
				t.Fatal(err)
			}
			_, err = objects.DeviceList.GetByHostname(t.Context(), "h")
			var refused *rpc.VersionCapError
			if errors.As(err, &refused) == tt.supports || err != nil && tt.supports {
				t.Errorf("an object operation gave %v", err)
			}
			var versions []string
			for _, r := range bus.requests() {
				versions = append(versions, r.Method+" "+r.Version)
			}
			want := []string{"report_data 1.0"}
			if tt.supports {
				want = append(want, "object_class_action_versions 1.1")
			}
			if diff := cmp.Diff(want, versions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoClientWithoutCap: a zero cap is the default, and a client is not made with one that it does not support.
func TestNoClientWithoutCap(t *testing.T) {
	t.Parallel()
	client := rpc.NewClient(memory.New(), rpc.ClientConfig{})
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for name, tt := range map[string]struct{ limit, want rpc.Version }{
		"zero": {want: rpc.Version{Major: 1, Minor: 1}}, "1.0": {limit: rpc.Version{Major: 1}, want: rpc.Version{Major: 1}},
		"1.2": {limit: rpc.Version{Major: 1, Minor: 2}}, "2.0": {limit: rpc.Version{Major: 2}}, "0.9": {limit: rpc.Version{Minor: 9}},
	} {
		conductor, err := cyborgrpc.NewConductorAPI(client, cyborgrpc.NewWire(registry(t)), cyborgrpc.Limits{Conductor: tt.limit})
		var bad *cyborgrpc.CapError
		switch {
		case tt.want.IsZero() && !errors.As(err, &bad):
			t.Errorf("%s: %v, want *CapError", name, err)
		case !tt.want.IsZero() && (err != nil || conductor.Cap() != tt.want):
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, limit := range map[string]rpc.Version{"1.1": {Major: 1, Minor: 1}, "2.0": {Major: 2}, "0.9": {Minor: 9}} {
		var bad *cyborgrpc.CapError
		if _, err := cyborgrpc.NewAgentAPI(client, cyborgrpc.Limits{Agent: limit}); !errors.As(err, &bad) {
			t.Errorf("agent %s: %v, want *CapError", name, err)
		}
	}
	if _, err := cyborgrpc.NewAgentAPI(client, cyborgrpc.Limits{}); err != nil {
		t.Errorf("agent zero: %v", err)
	}
}

// TestAgentCalls: every agent call names its host and stays at 1.0.
func TestAgentCalls(t *testing.T) {
	t.Parallel()
	ep := rpc.NewEndpoint("", cyborgrpc.AgentVersion)
	done := func(context.Context, cyborgrpc.MdevArgs) (rpc.Null, error) { return rpc.Null{}, nil }
	cyborgrpc.CreateVGPUMdev.Handle(ep, done)
	cyborgrpc.RemoveVGPUMdev.Handle(ep, done)
	cyborgrpc.FPGAProgram.Handle(ep, func(context.Context, cyborgrpc.FPGAProgramArgs) (cyborgrpc.Truth, error) { return true, nil })
	client, bus, _ := service(t, cyborgrpc.AgentTopic, ep)
	agent, err := cyborgrpc.NewAgentAPI(client, cyborgrpc.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	args := cyborgrpc.MdevArgs{PCIAddr: "0000:25:00.4", AskedType: "nvidia-223", AHUUID: "u"}
	if err := errors.Join(agent.CreateVGPUMdev(t.Context(), "h", args), agent.RemoveVGPUMdev(t.Context(), "h", args)); err != nil {
		t.Fatal(err)
	}
	if ok, err := agent.FPGAProgram(t.Context(), "h", cyborgrpc.FPGAProgramArgs{BitstreamUUID: "b", DriverName: "intel"}); err != nil || !ok {
		t.Fatalf("FPGAProgram() = %t, %v", ok, err)
	}
	for _, r := range bus.requests() {
		if r.Topic != cyborgrpc.AgentTopic || r.Server != "h" || r.Version != "1.0" {
			t.Errorf("%s went to %s.%s at version %s", r.Method, r.Topic, r.Server, r.Version)
		}
	}
	if len(bus.requests()) != 3 {
		t.Errorf("%d requests, want 3", len(bus.requests()))
	}
}
