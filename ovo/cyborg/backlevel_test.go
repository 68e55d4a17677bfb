package cyborg_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

func registry(t *testing.T) *ovo.Registry {
	t.Helper()
	r, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bound is a request as a 2027.1 conductor shows it.
func bound(info map[string]any) *cyborg.ExtARQ {
	return &cyborg.ExtARQ{
		ARQ: ovo.Of(&cyborg.ARQ{
			UUID: ovo.Of("5f3e7b9e-0000-4000-8000-000000000001"), State: ovo.Of(cyborg.ARQBound),
			AttachHandleType: ovo.NullOf("PCI"), AttachHandleInfo: ovo.NullOf(info),
		}),
		DeployableID: ovo.NullOf[int64](7),
	}
}

func infoOf(t *testing.T, primitive []byte) map[string]any {
	t.Helper()
	var p struct {
		Data struct {
			ARQ struct {
				Version string `json:"cyborg_object.version"`
				Data    struct {
					Info map[string]any `json:"attach_handle_info"`
				} `json:"cyborg_object.data"`
			} `json:"arq"`
		} `json:"cyborg_object.data"`
	}
	if err := json.Unmarshal(primitive, &p); err != nil {
		t.Fatal(err)
	}
	return p.Data.ARQ.Data.Info
}

// TestARQInfoKeepsJSONTypes: at 1.2 booleans, integers and nulls survive a round trip.
func TestARQInfoKeepsJSONTypes(t *testing.T) {
	t.Parallel()
	r := registry(t)
	info := map[string]any{"bus": "25", "managed": false, "stateful": true, "numa_node": int64(0), "spare": nil}
	raw, err := r.Append(nil, bound(info))
	if err != nil {
		t.Fatal(err)
	}
	back, err := ovo.Decode[cyborg.ExtARQ](r, raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(info, back.ARQ.Value().AttachHandleInfo.Value()); diff != "" {
		t.Error(diff)
	}
}

// TestARQInfoBelow12: the metadata keys go and the rest becomes Python's text, with the manifest of 17.0.0 and
// without one.
func TestARQInfoBelow12(t *testing.T) {
	t.Parallel()
	r := registry(t)
	for name, tt := range map[string]struct {
		info map[string]any
		want map[string]any
		bad  bool
	}{
		"metadata removed": {
			info: map[string]any{"bus": "25", "managed": false, "stateful": true, "numa_node": int64(1)},
			want: map[string]any{"bus": "25"},
		},
		"scalars become text": {
			info: map[string]any{"a": true, "b": false, "c": int64(-3), "d": 1.5, "e": 1e16},
			want: map[string]any{"a": "True", "b": "False", "c": "-3", "d": "1.5", "e": "1e+16"},
		},
		"empty":          {info: map[string]any{}, want: map[string]any{}},
		"null refused":   {info: map[string]any{"spare": nil}, bad: true},
		"nested refused": {info: map[string]any{"list": []any{"a"}}, bad: true},
	} {
		for form, manifest := range map[string]ovo.Manifest{"manifest": cyborg.Release17Versions(), "relationships": nil} {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				raw, err := r.AppendAt(nil, bound(tt.info), "1.2", manifest)
				var refused *ovo.ActionError
				switch {
				case tt.bad && !errors.As(err, &refused):
					t.Fatalf("want *ovo.ActionError, got %v", err)
				case tt.bad:
					return
				case err != nil:
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, infoOf(t, raw)); diff != "" {
					t.Error(diff)
				}
				old, err := cyborg.NewRelease17()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ovo.Decode[cyborg.ExtARQ17](old, raw); err != nil {
					t.Errorf("a 17.0.0 peer cannot read it: %v", err)
				}
			})
		}
	}
}

// TestListMembersFollowTheManifest: a caller whose member class is older gets members it can read, although the
// list's own version is the same.
func TestListMembersFollowTheManifest(t *testing.T) {
	t.Parallel()
	r := registry(t)
	list := ovo.ListOf[cyborg.AttachHandleList]([]*cyborg.AttachHandle{{ID: ovo.Stored[int64](1)}})
	raw, err := r.AppendAt(nil, list, "1.0", ovo.Manifest{"AttachHandleList": "1.0", "AttachHandle": "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Data struct {
			Objects []struct {
				Version string `json:"cyborg_object.version"`
			} `json:"objects"`
		} `json:"cyborg_object.data"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Data.Objects) != 1 || p.Data.Objects[0].Version != "1.0" {
		t.Errorf("members are %s, want one AttachHandle 1.0", raw)
	}
}
