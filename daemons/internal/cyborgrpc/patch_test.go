package cyborgrpc_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
)

// TestPatchesKeepTheirOrder: an error stops the later ones, so the order of the object is the order of work.
func TestPatchesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	host := "h"
	patches := cyborgrpc.ARQPatches{
		{UUID: "z", Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: cyborgrpc.OpAdd, Value: &host}}},
		{UUID: "a", Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: cyborgrpc.OpRemove}}},
		{UUID: "m"},
	}
	raw, err := json.Marshal(patches)
	if err != nil {
		t.Fatal(err)
	}
	var back cyborgrpc.ARQPatches
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(patches, back); diff != "" {
		t.Error(diff)
	}
	if !back[0].Binds() || back[1].Binds() || back[2].Binds() {
		t.Error("the first operation does not decide")
	}
}

func TestPatchesRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"list": `[]`, "null": `null`, "twice": `{"a": [], "a": []}`, "operations no list": `{"a": {}}`, "cut": `{"a": [`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p cyborgrpc.ARQPatches
			if err := p.UnmarshalJSON([]byte(text)); err == nil {
				t.Errorf("%s was taken: %+v", text, p)
			}
		})
	}
}

// FuzzPatches: no panic, and what is read is written and read again the same.
func FuzzPatches(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a": [{"path": "/hostname", "op": "add", "value": "h"}]}`, `{"b": [], "a": null}`, `{"a": [{"value": null}]} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p, back cyborgrpc.ARQPatches
		if p.UnmarshalJSON(raw) != nil {
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, back); diff != "" {
			t.Error(diff)
		}
	})
}
