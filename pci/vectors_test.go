package pci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// tally counts the vectors of all files; TestMain prints it.
var tally struct {
	sync.Mutex
	passed, failed, skipped int
}

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Printf("pci vectors: %d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped)
	os.Exit(code)
}

// vector runs one vector and counts its outcome.
func vector(t *testing.T, name string, check func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		t.Cleanup(func() {
			tally.Lock()
			defer tally.Unlock()
			switch {
			case t.Failed():
				tally.failed++
			case t.Skipped():
				tally.skipped++
			default:
				tally.passed++
			}
		})
		check(t)
	})
}

// loadVectors reads a vector file into v and reports whether it is there. A
// missing file is no error when the vectors come from $VECTORS_DIR.
func loadVectors(t *testing.T, name string, v any) bool {
	t.Helper()
	base, given := os.LookupEnv("VECTORS_DIR")
	if !given {
		base = filepath.Join("testdata", "vectors")
	}
	data, err := os.ReadFile(filepath.Join(base, "pci", filepath.FromSlash(name)))
	if given && errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

// parse loads entries as values of device_spec, with the schema check.
func parse(t *testing.T, entries ...string) (pci.DeviceSpec, error) {
	t.Helper()
	values := make([]pci.OptionValue, len(entries))
	for i, e := range entries {
		values[i] = pci.OptionValue{Option: pci.OptionDeviceSpec, Text: e}
	}
	return pci.ParseDeviceSpec(values, specschema.Check)
}

func mustParse(t *testing.T, entries ...string) pci.DeviceSpec {
	t.Helper()
	spec, err := parse(t, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func mustAddress(t *testing.T, text string) pci.Address {
	t.Helper()
	a, err := pci.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func addresses(decisions []pci.Decision) []string {
	out := []string{}
	for _, d := range decisions {
		out = append(out, d.Device.Address.String())
	}
	return out
}
