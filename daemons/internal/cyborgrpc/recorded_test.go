package cyborgrpc_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// unreadable are the recorded requests whose objects 17.0.0 itself refused.
var unreadable = []string{"report_data_bad_namespace", "report_data_newer_object_version", "report_data_unknown_object"}

// The recordings of fpga_program carry a text made up for them as controlpath_id; Cyborg itself sends a row.

// TestRecordedRequestsAreRelayed: what Cyborg 17.0.0 was recorded to send is decoded into our arguments, and these are
// sent on as exactly the same message: method, version, arguments, object versions, fields and changes.
func TestRecordedRequestsAreRelayed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "rpc", "testdata", "vectors", "rpc")
	if elsewhere := os.Getenv("VECTORS_DIR"); elsewhere != "" {
		dir = filepath.Join(elsewhere, "rpc")
	}
	files, err := filepath.Glob(filepath.Join(dir, "cyborg", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	relayed := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		want, ok := recordedRequest(t, file)
		if !ok || want.Version != "1.0" || strings.HasPrefix(name, "unknown_method") ||
			strings.HasPrefix(name, "agent_fpga_program") || slices.Contains(unreadable, name) {
			continue
		}
		relayed++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := relay(t, want)
			if diff := cmp.Diff(normal(t, want), normal(t, got)); diff != "" {
				t.Errorf("sent on otherwise:\n%s", diff)
			}
		})
	}
	if len(files) > 0 && relayed == 0 {
		t.Error("no recorded request was relayed")
	}
}

func recordedRequest(t *testing.T, file string) (r sent, ok bool) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Messages []struct {
			Kind, Body string
			RoutingKey string `json:"routing_key"`
		}
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, m := range recorded.Messages {
		if !strings.HasPrefix(m.RoutingKey, "cyborg-") {
			continue
		}
		var keep recorder
		keep.Transport = memory.New()
		keep.Send(t.Context(), rpc.Message{To: rpc.Address{Topic: m.RoutingKey}, Body: []byte(m.Body)}, func(error) {})
		if len(keep.sent) == 1 {
			return keep.sent[0], true
		}
	}
	return sent{}, false
}

// relay has a server of ours decode a request and call on with what it got.
func relay(t *testing.T, want sent) sent {
	t.Helper()
	topic, _, _ := strings.Cut(want.Topic, ".")
	out := &recorder{Transport: memory.New()}
	onward := rpc.NewClient(out, rpc.ClientConfig{Serializer: cyborgrpc.NewWire(registry(t)), Exceptions: cyborgrpc.Exceptions()})
	t.Cleanup(func() {
		if err := onward.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	to := rpc.Remote{Client: onward, Target: rpc.Target{Topic: topic}}
	ep := rpc.NewEndpoint("", "1.0")
	relays(cyborgrpc.ReportData, ep, to)
	relays(cyborgrpc.DeviceProfileCreate, ep, to)
	relays(cyborgrpc.DeviceProfileDelete, ep, to)
	relays(cyborgrpc.ARQCreate, ep, to)
	relays(cyborgrpc.ARQDeleteByUUID, ep, to)
	relays(cyborgrpc.ARQDeleteByInstanceUUID, ep, to)
	relays(cyborgrpc.ARQApplyPatch, ep, to)
	relays(cyborgrpc.FPGAProgram, ep, to)
	relays(cyborgrpc.CreateVGPUMdev, ep, to)
	relays(cyborgrpc.RemoveVGPUMdev, ep, to)
	client, _, _ := service(t, topic, ep)
	recorded := rpc.NewMethod[map[string]json.RawMessage, any](want.Method, want.Version)
	_, err := recorded.Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}, want.Args)
	if len(out.requests()) != 1 { // nobody answers it: an error is what a relayed call ends with
		t.Fatalf("%d requests sent on: %v", len(out.requests()), err)
	}
	return out.requests()[0]
}

func relays[A, R any](m *rpc.Method[A, R], ep *rpc.Endpoint, to rpc.Remote) {
	m.Handle(ep, func(ctx context.Context, args A) (R, error) { return m.Call(ctx, to, args) })
}

// normal is a request with its JSON parsed and its lists of changes, which come from sets, sorted.
func normal(t *testing.T, r sent) map[string]any {
	t.Helper()
	args := map[string]any{}
	for name, raw := range r.Args {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		sortChanges(v)
		args[name] = v
	}
	return map[string]any{"method": r.Method, "version": r.Version, "args": args}
}

func sortChanges(v any) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			sortChanges(element)
		}
	case map[string]any:
		if changes, ok := v["cyborg_object.changes"].([]any); ok {
			slices.SortFunc(changes, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		for _, member := range v {
			sortChanges(member)
		}
	}
}
