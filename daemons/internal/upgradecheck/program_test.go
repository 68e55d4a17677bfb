package upgradecheck_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/daemons/internal/upgradecheck"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/reconcile"
)

// host is a PCI tree of values.
type host struct {
	devices []pci.Device
	err     error
}

func (h host) Scan() ([]pci.Device, []pci.Warning, error) { return h.devices, nil, h.err }

// world is a configuration with a database.
type world struct {
	*testing.T
	dir  string
	text string
	pci  upgradecheck.Scanner
}

func newWorld(t *testing.T, text string) *world {
	return &world{T: t, dir: t.TempDir(), text: text}
}

func (w *world) url() string { return "sqlite:///" + filepath.Join(w.dir, "c.sqlite") }

// store opens the database, at Head, and hands it to change.
func (w *world) store(change func(context.Context, *store.Store)) *world {
	w.Helper()
	ctx := context.Background()
	s, err := store.Connect(ctx, store.Config{URL: w.url()})
	if err != nil {
		w.Fatal(err)
	}
	if err := s.Upgrade(ctx, ""); err != nil {
		w.Fatal(err)
	}
	if change != nil {
		change(ctx, s)
	}
	if err := s.Close(); err != nil {
		w.Fatal(err)
	}
	return w
}

func (w *world) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.Helper()
	file := w.file("cyborg.conf", "[database]\nconnection = "+w.url()+"\n"+w.text)
	var out, errs bytes.Buffer
	code = upgradecheck.Program{PCI: w.pci, Invocation: service.Invocation{
		Program: "cyborg-status", Args: append([]string{"--config-file", file}, args...), Stdout: &out, Stderr: &errs,
	}}.Run(context.Background())
	return code, out.String(), errs.String()
}

type answer struct {
	Check   string
	Result  upgradecheck.Code
	Details *string
}

// want runs the checks and compares one of them.
func (w *world) want(check string, code upgradecheck.Code, details ...string) {
	w.Helper()
	exit, out, errs := w.run("upgrade", "check", "--json")
	var got struct{ Checks []answer }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.Fatalf("%v: %s%s", err, out, errs)
	}
	for _, a := range got.Checks {
		if a.Check != check {
			continue
		}
		text := ""
		if a.Details != nil {
			text = *a.Details
		}
		if a.Result != code || exit < int(code) {
			w.Errorf("%s: %v (exit code %d), want %v: %s", check, a.Result, exit, code, text)
		}
		for _, d := range details {
			if !strings.Contains(text, d) {
				w.Errorf("%s: details %q lack %q", check, text, d)
			}
		}
		return
	}
	w.Errorf("no check %q in %s", check, out)
}

func TestPeersChecks(t *testing.T) {
	t.Parallel()
	newWorld(t, "").store(nil).want("Device state backfill", upgradecheck.Success, "All device_state values backfilled.")
	newWorld(t, "").want("Device state backfill", upgradecheck.Failure, "Unable to query device_state column. Run: cyborg-dbsync upgrade")
	w := newWorld(t, "[database]\nconnection = sqlite:////no/such/directory/c.sqlite\n")
	w.want("Device state backfill", upgradecheck.Failure, "cannot be read")
	w.want("Downgrade safety", upgradecheck.Success, "SKIPPED")

	w = newWorld(t, "").store(nil)
	w.want("Policy File JSON to YAML Migration", upgradecheck.Success)
	w.file("policy.yaml", "\"cyborg:arq:create\": \"role:admin\"\n")
	w.want("Policy File JSON to YAML Migration", upgradecheck.Success)
	w.file("policy.yaml", `{"cyborg:arq:create": "role:admin"}`)
	w.want("Policy File JSON to YAML Migration", upgradecheck.Failure, "oslopolicy-convert-json-to-yaml")
}

func TestNullDeviceStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "").store(func(ctx context.Context, s *store.Store) {
		d := reconcile.Device{Type: "GPU", ControlPath: reconcile.ControlPath{Type: "PCI", Info: "{}"}}
		if _, err := s.Insert(ctx, "h", []reconcile.Device{d}); err != nil {
			t.Fatal(err)
		}
	})
	raw(t, w.url(), "UPDATE devices SET device_state = NULL")
	w.want("Device state backfill", upgradecheck.Failure,
		"1 device(s) still have NULL device_state. Run: cyborg-dbsync online_data_migrations")
}

// TestNewerSchema: a database that answers and is not of this release.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "").store(nil)
	raw, err := sql.Open("sqlite", filepath.Join(w.dir, "c.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.Exec("UPDATE alembic_version SET version_num = 'ffffffffffff'")
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	w.want("Device state backfill", upgradecheck.Failure, "ffffffffffff", "newer Cyborg")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	old := newWorld(t, "[agent]\nenabled_drivers = pci_driver\n[pci]\npassthrough_whitelist = {\"vendor_id\": \"8086\"}\n")
	old.want("PCI option names", upgradecheck.Warning, "passthrough_whitelist", "cyborg.conf:6")
	misspelt := newWorld(t, "[agent]\nenabled_drivers = pci_driver\n[pci]\ndevice_spec = {\"vendorid\": \"8086\"}\nexclude_list = nonsense\n")
	misspelt.want("PCI option values", upgradecheck.Failure, "vendorid", "exclude_list")
	misspelt.text = strings.Replace(misspelt.text, "pci_driver", "fake_driver", 1)
	misspelt.want("PCI option values", upgradecheck.Warning)

	ssd := newWorld(t, "[agent]\nenabled_drivers = inspur_nvme_ssd_driver\n")
	ssd.want("Generic SSD driver", upgradecheck.Failure, "allow_unsafe_devices")
	ssd.text += "[workarounds]\nallow_unsafe_devices = true\n"
	ssd.want("Generic SSD driver", upgradecheck.Warning, "deprecated")

	levels := newWorld(t, "[upgrade_levels]\nconductor = 9.9\nagent = auto\n")
	levels.want("Upgrade levels", upgradecheck.Failure, "9.9", "auto")
	newWorld(t, "[upgrade_levels]\nconductor = 1.0\n").want("Upgrade levels", upgradecheck.Success, "conductor = 1.0")

	agent := newWorld(t, "[DEFAULT]\nhost = node7\n[agent]\nenabled_drivers = nvidia_gpu_driver\nresource_provider_name = node7.example\n")
	agent.want("Agent addressing", upgradecheck.Warning, "node7.example")
	agent.text = strings.Replace(agent.text, "node7.example", "node7", 1)
	agent.want("Agent addressing", upgradecheck.Success)
	newWorld(t, "").want("Agent addressing", upgradecheck.Success, "SKIPPED")
}

func TestUnsafeDevices(t *testing.T) {
	t.Parallel()
	nvme := pci.Device{
		Address: pci.Address{Bus: 1}, VendorID: "8086", ProductID: "0a54", Class: pci.NewClass(0x010802), Driver: "nvme",
	}
	w := newWorld(t, "[agent]\nenabled_drivers = pci_driver\n[pci]\ndevice_spec = {\"vendor_id\": \"8086\"}\n")
	w.pci = host{devices: []pci.Device{nvme}}
	w.want("Unsafe devices in the generic PCI driver", upgradecheck.Failure, "0000:01:00.0", "0108", "nvme")
	w.text += "[workarounds]\nallow_unsafe_devices = true\n"
	w.want("Unsafe devices in the generic PCI driver", upgradecheck.Warning, "0000:01:00.0")
	w.pci = host{}
	w.want("Unsafe devices in the generic PCI driver", upgradecheck.Success)
	for _, scanner := range []upgradecheck.Scanner{nil, host{err: errors.New("no sysfs")}} {
		w.pci = scanner
		w.want("Unsafe devices in the generic PCI driver", upgradecheck.Success, "SKIPPED")
	}
}

func TestWayBack(t *testing.T) {
	t.Parallel()
	var bound, free reconcile.Handle
	w := newWorld(t, "").store(func(ctx context.Context, s *store.Store) {
		d := reconcile.Device{
			Type: "GPU", ControlPath: reconcile.ControlPath{Type: "PCI", Info: "{}"},
			Deployables: []reconcile.Deployable{{Name: "h_1", Handles: []reconcile.Handle{
				{Type: arq.HandlePCI, Info: `{"bus": "01", "managed": false, "numa_node": 0}`},
				{Type: arq.HandlePCI, Info: `{"bus": "01", "unmanaged": "managed"}`},
			}}},
		}
		ds, err := s.Insert(ctx, "compute-1", []reconcile.Device{d})
		if err != nil {
			t.Fatal(err)
		}
		bound, free = ds[0].Deployables[0].Handles[0], ds[0].Deployables[0].Handles[1]
	})
	w.want("Downgrade safety", upgradecheck.Warning, bound.UUID+" (compute-1: managed, numa_node)", "1 attach handle(s)")
	if _, out, _ := w.run("upgrade", "check", "--json"); strings.Contains(out, free.UUID) {
		t.Error("a handle without such keys is listed")
	}
	w.want("Deployables not on offer", upgradecheck.Warning, "h_1 on compute-1")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "").store(nil)
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"upgrade check", 0, "| Upgrade Check Results", ""},
		{"", 2, "", "upgrade check"},
		{"upgrade", 2, "", "upgrade check"},
		{"upgrade check more", 2, "", "upgrade check"},
		{"--bad upgrade check", 2, "", "--bad"},
		{"--config-file /no/such/file upgrade check", 1, "", "/no/such/file"},
		{"--help", 0, "usage", ""},
		{"--version", 0, service.Version(), ""},
	} {
		code, out, errs := w.run(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.stdout) || !strings.Contains(errs, c.stderr) {
			t.Errorf("%q: code %d\n--stdout\n%s--stderr\n%s", c.args, code, out, errs)
		}
	}
}
