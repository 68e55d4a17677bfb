package conductor_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// damaged gives every version of a JSON value in which one node is another value or one member is missing; the key
// says which.
func damaged(v any) map[string]any {
	out := map[string]any{}
	others := map[string]any{
		"null": nil, "a number": 7.0, "a text": "x", "a list": []any{}, "an object": map[string]any{}, "true": true, "a list of null": []any{nil},
	}
	var walk func(path string, v any, put func(any) any)
	walk = func(path string, v any, put func(any) any) {
		for name, other := range others {
			out[path+" is "+name] = put(other)
		}
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				with := func(change func(map[string]any)) any {
					whole := maps.Clone(v)
					change(whole)
					return put(whole)
				}
				out[path+"."+k+" is missing"] = with(func(m map[string]any) { delete(m, k) })
				walk(path+"."+k, inner, func(x any) any { return with(func(m map[string]any) { m[k] = x }) })
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), inner, func(x any) any {
					list := slices.Clone(v)
					list[i] = x
					return put(list)
				})
			}
		}
	}
	walk("device", v, func(x any) any { return x })
	return out
}

// TestMalformedObjects damages every node of a device as it travels: it is refused by host, device and field or taken,
// its neighbour is applied in any case, and what is stored of it, or of anything it may be, is not taken for missing.
func TestMalformedObjects(t *testing.T) {
	t.Parallel()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	wire := cyborgrpc.NewWire(registry)
	text, err := wire.Serialize(t.Context(), []cyborgrpc.ReportedDevice{{Device: reported("4", "PCI", address("4"))}, {Device: reported("5", "PCI", address("5"))}})
	if err != nil {
		t.Fatal(err)
	}
	var whole []any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	var place reconciletest.Placement
	if _, err := place.CreateProvider("", hostname, ""); err != nil {
		t.Fatal(err)
	}
	runner := &reconcile.Runner{Store: &reconciletest.Store{}, Placement: &place}
	plan := func(t *testing.T, report ...any) reconcile.Plan {
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var devices []cyborgrpc.ReportedDevice
		if err := wire.Deserialize(t.Context(), text, &devices); err != nil {
			t.Fatal(err)
		}
		p, err := conductor.PlanReport(t.Context(), runner, hostname, devices)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if res := runner.Apply(t.Context(), plan(t, whole[0])); len(res.Problems) > 0 {
		t.Fatal(res.Problems)
	}
	for name, bad := range damaged(whole[0]) {
		p := plan(t, bad, whole[1])
		neighbour := false
		for _, d := range p.Devices {
			neighbour = neighbour || d.Verdict == reconcile.Add && d.Device() == address("5")
			renamed := strings.HasPrefix(name, "device.cyborg_object.data.controlpath_id.cyborg_object.data.cpid_info is ") // another device
			if d.Have != nil && d.Verdict != reconcile.Update && !renamed {
				t.Errorf("%s: what is stored of it: %s", name, d.Verdict)
			}
		}
		if !neighbour {
			t.Errorf("%s: the neighbour is not added", name)
		}
		for _, q := range p.Problems {
			identity := strings.Contains(name, "controlpath_id") || !strings.Contains(name, "cyborg_object.data.")
			if q.Host != hostname || q.Device == "" && !identity || q.Field == "" && !identity || q.Detail == "" {
				t.Errorf("%s: problem %+v", name, q)
			}
		}
	}
}
