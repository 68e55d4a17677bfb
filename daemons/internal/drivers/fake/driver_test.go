package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

func loadVectors(t *testing.T) (cases []vector, ok bool) {
	t.Helper()
	dir := filepath.Join("testdata", "vectors", "drivers")
	if root := os.Getenv("VECTORS_DIR"); root != "" {
		dir = filepath.Join(root, "drivers")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "fake_driver.json"))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("VECTORS_DIR") != "" {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases, true
}

type vector struct {
	Case       string            `json:"case"`
	Inputs     map[string]string `json:"inputs"`
	Primitives []any             `json:"primitives"`
}

// recordedHost is the host of cases that name none.
const recordedHost = "cmphost"

// TestVectors compares the primitives with those of the Python driver; sets of changed names as sets.
func TestVectors(t *testing.T) {
	cases, ok := loadVectors(t)
	if !ok {
		return
	}
	registry, err := cyborg.NewRelease17()
	if err != nil {
		t.Fatal(err)
	}
	passed, failed := 0, 0
	for _, c := range cases {
		host := recordedHost
		if h := c.Inputs["[DEFAULT] host"]; h != "" {
			host = h
		}
		devices, err := fake.New(host).Discover(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		for _, d := range devices {
			raw, err := registry.Append(nil, d)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if diff := cmp.Diff(c.Primitives, got, changesAsSets()); diff != "" {
			failed++
			t.Errorf("%s: %s", c.Case, diff)
			continue
		}
		passed++
	}
	fmt.Fprintf(os.Stdout, "fakedriver vectors: %d passed, %d failed, 0 skipped\n", passed, failed)
}

// changesAsSets compares lists of texts without their order: nothing else in these primitives is one.
func changesAsSets() cmp.Option {
	return cmp.FilterValues(func(a, b []any) bool { return texts(a) && texts(b) },
		cmpopts.SortSlices(func(a, b any) bool { return a.(string) < b.(string) }))
}

func texts(list []any) bool {
	for _, v := range list {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}
