package cyborg_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

var update = flag.Bool("update", false, "write the fingerprint map of the current catalogue")

// TestFingerprints compares both catalogues with the checked-in maps. release17.json was computed by
// oslo.versionedobjects from Cyborg 17.0.0 and never changes; current.json changes with a new version of a class,
// and only then.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	for name, registry := range map[string]func() (*ovo.Registry, error){
		"release17": cyborg.NewRelease17, "current": cyborg.NewRegistry,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := registry()
			if err != nil {
				t.Fatal(err)
			}
			got := r.Fingerprints()
			file := filepath.Join("testdata", "fingerprints", name+".json")
			if *update && name == "current" {
				raw, err := json.MarshalIndent(got, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, append(raw, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the contract of a class changed: add a version to its History, then run the test with -update "+
					"and review the difference (release17.json stays as it is)\n%s", diff)
			}
		})
	}
}

// TestRelease17Versions ties the table of RPC 1.0 to the catalogue it stands for.
func TestRelease17Versions(t *testing.T) {
	t.Parallel()
	r, err := cyborg.NewRelease17()
	if err != nil {
		t.Fatal(err)
	}
	want := ovo.Manifest{}
	for _, name := range r.Names() {
		want[name] = r.Highest(name).Version()
	}
	if diff := cmp.Diff(want, cyborg.Release17Versions()); diff != "" {
		t.Error(diff)
	}
}
