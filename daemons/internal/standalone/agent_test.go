package standalone_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
)

// TestDriverFails: what is stored of a driver's devices stays while the driver fails, and other drivers report.
func TestDriverFails(t *testing.T) {
	t.Parallel()
	sysfs, file := host(t, goodPCI+"[agent]\nenabled_drivers = pci_driver,fake_driver\n")
	ctx, cancel := context.WithCancel(t.Context())
	services, err := standalone.Open(ctx, standalone.Config{StateDir: t.TempDir(), Listen: "127.0.0.1:0", Hosts: []string{"h"}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- services.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	report := func() {
		t.Helper()
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		if err := services.RunAgent(ctx, standalone.AgentConfig{Config: settings(t, file), Sysfs: sysfs, Ready: stop}); err != nil {
			t.Fatal(err)
		}
	}
	report()
	before := stored(t, services.URL())
	if types := []string{before[0].Type, before[1].Type}; !slices.Contains(types, "GPU") || !slices.Contains(types, "FPGA") {
		t.Fatalf("stored are %v", before)
	}
	vendor := filepath.Join(sysfs, "bus", "pci", "devices", "0000:25:00.4", "vendor")
	if err := os.Remove(vendor); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(vendor, 0o750); err != nil {
		t.Fatal(err)
	}
	report()
	if diff := cmp.Diff(before, stored(t, services.URL())); diff != "" {
		t.Error(diff)
	}
}

// device is what the REST API shows of one.
type device struct{ UUID, Type string }

func stored(t *testing.T, base string) []device {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v2/devices", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct{ Devices []device }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if len(body.Devices) != 2 {
		t.Fatalf("stored are %v, want two", body.Devices)
	}
	return body.Devices
}
