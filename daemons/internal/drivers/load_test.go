package drivers_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/pci"
)

// TestOptionsOf: both names of device_spec are read, each under the name that the operator wrote.
func TestOptionsOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "cyborg.conf")
	text := "[DEFAULT]\nhost = h\n[agent]\nenabled_drivers = pci_driver, fake_driver\n[pci]\n" +
		"device_spec = {\"vendor_id\": \"10de\"}\npassthrough_whitelist = {\"vendor_id\": \"8086\"}\n" +
		"exclude_list = 0000:01:00.0,0000:02:00.0\n[workarounds]\nallow_unsafe_devices = true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := config.NewSchema(config.Options(config.Facts{}))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(schema, config.Source{Args: []string{"--config-file", file}, Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := drivers.Options{
		Enabled: []string{"pci_driver", "fake_driver"}, Host: "h", AllowUnsafe: true,
		DeviceSpec: []pci.OptionValue{
			{Option: "passthrough_whitelist", Text: `{"vendor_id": "8086"}`, Place: file + ":7"},
			{Option: "device_spec", Text: `{"vendor_id": "10de"}`, Place: file + ":6"},
		},
		EnabledPlace: file + ":4",
		ExcludeList:  []string{"0000:01:00.0", "0000:02:00.0"}, ExcludePlace: file + ":8",
	}
	if diff := cmp.Diff(want, drivers.OptionsOf(cfg)); diff != "" {
		t.Error(diff)
	}
}

// TestLoad: enabled drivers in their order; every problem of all of them at once.
func TestLoad(t *testing.T) {
	t.Parallel()
	made, err := drivers.Load(drivers.Options{Enabled: []string{"fake_driver", "pci_driver"}}, drivers.Host{})
	if err != nil || len(made) != 2 || made[0].Name() != "fake_driver" || made[1].Name() != "pci_driver" {
		t.Errorf("Load() = %v, %v", made, err)
	}
	_, err = drivers.Load(drivers.Options{
		Enabled: []string{"no_driver", "pci_driver"}, DeviceSpec: []pci.OptionValue{{Text: "{"}},
	}, drivers.Host{})
	if _, ok := errors.AsType[*agent.ConfigError](err); !ok {
		t.Fatalf("Load() = %v, want a configuration error", err)
	}
	for _, word := range []string{"no_driver", "fake_driver, pci_driver", "device_spec, value 1"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not name %s: %v", word, err)
		}
	}
}

func ExampleLoad() {
	made, err := drivers.Load(drivers.Options{Enabled: []string{"fake_driver"}, Host: "compute-1"}, drivers.Host{})
	fmt.Println(made[0].Name(), err)
	// Output: fake_driver <nil>
}
