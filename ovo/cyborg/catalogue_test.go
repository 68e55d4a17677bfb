package cyborg_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/ovo/ovotest"
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
			ovotest.Fingerprints(t, r, expected(t, name))
		})
	}
}

// expected is a checked-in map of fingerprints.
func expected(t *testing.T, name string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "fingerprints", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestContract: every class writes and reads all its versions, and every list and parent is bumped with its members.
func TestContract(t *testing.T) {
	t.Parallel()
	ovotest.Check(t, registry(t), expected(t, "current"), bound(map[string]any{"bus": "25"}))
}

// TestTestClassesStayOutOfTheBaseline: what a test registers is in that test's registry alone.
func TestTestClassesStayOutOfTheBaseline(t *testing.T) {
	t.Parallel()
	type onlyHere struct{ cyborg.Object }
	extended, err := ovo.NewRegistry(cyborg.Namespace(), append(cyborg.Classes(), ovo.NewClass[onlyHere]("OnlyHere", ovo.History{ovo.V("1.0")}))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := extended.Fingerprints()["OnlyHere"]; !ok {
		t.Error("the class was not registered")
	}
	if diff := cmp.Diff(expected(t, "current"), registry(t).Fingerprints()); diff != "" {
		t.Errorf("production classes and their baseline differ:\n%s", diff)
	}
}

// TestContractsMoveWithVersions: a class whose contract is not that of 17.0.0 has another version.
func TestContractsMoveWithVersions(t *testing.T) {
	t.Parallel()
	now, moved := expected(t, "current"), 0
	for name, old := range expected(t, "release17") {
		was, _, _ := strings.Cut(old, "-")
		is, _, _ := strings.Cut(now[name], "-")
		if now[name] != old {
			moved++
			if was == is {
				t.Errorf("%s changed and is still %s", name, is)
			}
		}
	}
	if moved == 0 {
		t.Error("no contract changed: the test compares nothing")
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
