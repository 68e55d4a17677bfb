package pci_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-cyborg/cyborg/daemons/agent"
	pcidriver "github.com/go-cyborg/cyborg/daemons/internal/drivers/pci"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
	"github.com/go-cyborg/cyborg/rpc"
)

// recordings are the vectors of package pci, or those of the environment.
func recordings() string {
	if root := os.Getenv("VECTORS_DIR"); root != "" {
		return filepath.Join(root, "pci")
	}
	return filepath.Join("..", "..", "..", "..", "pci", "testdata", "vectors", "pci")
}

// TestPrimitives compares the whole object tree with the recorded one, for every recording that has it.
func TestPrimitives(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(recordings(), "discovery.json"))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("VECTORS_DIR") != "" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Cases []struct {
			Name      string          `json:"name"`
			Entries   []string        `json:"entries"`
			Host      string          `json:"host"`
			Fixture   string          `json:"sysfs_fixture"`
			Primitive json.RawMessage `json:"primitive"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	registry, err := cyborg.NewRelease17()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range recorded.Cases {
		if c.Primitive == nil || c.Fixture == "" {
			continue
		}
		devices, err := discover(t, pcidriver.Config{DeviceSpec: values(c.Entries...), Host: c.Host, Scanner: recordedTree(t, c.Fixture)})
		if err != nil {
			t.Fatal(err)
		}
		var want []any
		if err := json.Unmarshal(c.Primitive, &want); err != nil { // one primitive, or the list of them
			var one any
			if err := json.Unmarshal(c.Primitive, &one); err != nil {
				t.Fatal(err)
			}
			want = []any{one}
		}
		var got []any
		for _, d := range devices[:len(want)] {
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
		if diff := cmp.Diff(want, got, changesAsSets()); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func changesAsSets() cmp.Option {
	texts := func(list []any) bool {
		for _, v := range list {
			if _, ok := v.(string); !ok {
				return false
			}
		}
		return true
	}
	return cmp.FilterValues(func(a, b []any) bool { return texts(a) && texts(b) },
		cmpopts.SortSlices(func(a, b any) bool { return a.(string) < b.(string) }))
}

func recordedTree(t *testing.T, file string) pcidriver.Scanner {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recordings(), "sysfs", file))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sysfstest.ParseJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return expand(t, tree)
}

func expand(t *testing.T, tree sysfstest.Tree) pcidriver.Scanner {
	t.Helper()
	dir := t.TempDir()
	if err := tree.Expand(dir); err != nil {
		t.Fatal(err)
	}
	return sysfs.New(dir)
}

func values(texts ...string) []pci.OptionValue {
	out := make([]pci.OptionValue, len(texts))
	for i, text := range texts {
		out[i] = pci.OptionValue{Option: pci.OptionDeviceSpec, Text: text}
	}
	return out
}

func discover(t *testing.T, cfg pcidriver.Config) ([]*cyborg.DriverDevice, error) {
	t.Helper()
	d, err := pcidriver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d.Discover(context.Background())
}

// host is a network card and an NVMe controller.
const host = `0000:01:00.0  8086  1533  020000  igb   0
0000:02:00.0  144d  a808  010802  nvme  0
`

func hostTree(t *testing.T) pcidriver.Scanner {
	t.Helper()
	tree, err := sysfstest.ParseDevices(host)
	if err != nil {
		t.Fatal(err)
	}
	return expand(t, tree)
}

// caps stands in for the conductor's client.
type caps struct{ minor int }

func (c caps) SupportsObjectIndirection() bool { return c.minor >= 1 }
func (c caps) Cap() rpc.Version                { return rpc.Version{Major: 1, Minor: c.minor} }

// TestManagedNeedsIndirection: an explicit managed, true or false and under either option name, requires the cap;
// a rule that does not say it does not.
func TestManagedNeedsIndirection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value  pci.OptionValue
		cap    int
		refuse bool
	}{
		"false, cap 1.0":    {pci.OptionValue{Text: `{"vendor_id": "8086", "managed": false}`}, 0, true},
		"true, cap 1.0":     {pci.OptionValue{Text: `{"vendor_id": "8086", "managed": true}`}, 0, true},
		"old name, cap 1.0": {pci.OptionValue{Option: pci.OptionPassthroughWhitelist, Text: `{"vendor_id": "8086", "managed": true}`}, 0, true},
		"omitted, cap 1.0":  {pci.OptionValue{Text: `{"vendor_id": "8086"}`}, 0, false},
		"false, cap 1.1":    {pci.OptionValue{Text: `{"vendor_id": "8086", "managed": false}`}, 1, false},
		"omitted, cap 1.1":  {pci.OptionValue{Text: `{"vendor_id": "8086"}`}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := pcidriver.New(pcidriver.Config{DeviceSpec: []pci.OptionValue{tt.value}, Scanner: failing{}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.InitHost(context.Background(), caps{tt.cap})
			var config *agent.ConfigError
			var needs *agent.IndirectionError
			if !tt.refuse {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.As(err, &config) || !errors.As(err, &needs) {
				t.Fatalf("InitHost() = %v, want a configuration error about indirection", err)
			}
			for _, word := range []string{"managed", "1.1", "1.0", "[upgrade_levels] conductor"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not name %s: %v", word, err)
				}
			}
		})
	}
}

// failing is a host that must not be read.
type failing struct{}

func (failing) Scan() ([]pci.Device, []pci.Warning, error) {
	return nil, nil, errors.New("the host was read")
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg       pcidriver.Config
		addresses []string
		config    bool // a configuration error
		words     []string
	}{
		"selected by id":            {cfg: pcidriver.Config{DeviceSpec: values(`{"vendor_id": "8086"}`)}, addresses: []string{"h_0000:01:00.0"}},
		"nothing selected":          {cfg: pcidriver.Config{DeviceSpec: values(`{"vendor_id": "10de"}`)}},
		"class guard":               {cfg: pcidriver.Config{DeviceSpec: values(`{}`)}, config: true, words: []string{"0000:02:00.0", "0108", "pci driver"}},
		"class guard, excluded":     {cfg: pcidriver.Config{DeviceSpec: values(`{}`), ExcludeList: []string{"0000:02:00.0"}}, addresses: []string{"h_0000:01:00.0"}},
		"class guard, allow_unsafe": {cfg: pcidriver.Config{DeviceSpec: values(`{}`), AllowUnsafe: true}, addresses: []string{"h_0000:01:00.0", "h_0000:02:00.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Scanner, tt.cfg.Host = hostTree(t), "h"
			devices, err := discover(t, tt.cfg)
			var config *agent.ConfigError
			if errors.As(err, &config) != tt.config || err != nil && !tt.config {
				t.Fatalf("Discover() = %v", err)
			}
			for _, word := range tt.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not name %s: %v", word, err)
				}
			}
			var names []string
			for _, d := range devices {
				names = append(names, d.DeployableList.Value()[0].Name.Value())
			}
			if diff := cmp.Diff(tt.addresses, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUnreadableHost: an unreadable host is a transient error, never an empty report.
func TestUnreadableHost(t *testing.T) {
	t.Parallel()
	devices, err := discover(t, pcidriver.Config{DeviceSpec: values(`{}`), Scanner: sysfs.New(filepath.Join(t.TempDir(), "nothing"))})
	var config *agent.ConfigError
	if err == nil || errors.As(err, &config) || devices != nil {
		t.Errorf("Discover() = %v, %v; want a transient error", devices, err)
	}
}

// scanned is a host with these functions.
type scanned []pci.Device

func (s scanned) Scan() ([]pci.Device, []pci.Warning, error) { return s, nil, nil }

// TestUnknownClass: a class that cannot be read withholds the report until it can; it is a configuration error only
// beside a device of an excluded class.
func TestUnknownClass(t *testing.T) {
	t.Parallel()
	unknown := pci.Device{Address: pci.Address{Bus: 1}, VendorID: "8086", ProductID: "10ca"}
	controller := pci.Device{Address: pci.Address{Bus: 2}, VendorID: "144d", ProductID: "a808", Class: pci.NewClass(0x010802)}
	for name, tt := range map[string]struct {
		host   scanned
		config bool
	}{
		"alone":               {scanned{unknown}, false},
		"beside a controller": {scanned{unknown, controller}, true},
	} {
		devices, err := discover(t, pcidriver.Config{DeviceSpec: values(`{}`), Scanner: tt.host})
		if _, config := errors.AsType[*agent.ConfigError](err); config != tt.config || !errors.Is(err, pci.ErrUnknownClass) || devices != nil {
			t.Errorf("%s: Discover() = %v, %v", name, devices, err)
		}
	}
}

// TestOptionsRefused: bad values of both options are one configuration error that names each.
func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	_, err := pcidriver.New(pcidriver.Config{
		DeviceSpec:  values(`{"vendor_id": "8086"}`, `{"vendorid": "8086"}`),
		ExcludeList: []string{"0000:02:*"},
	})
	if _, ok := errors.AsType[*agent.ConfigError](err); !ok {
		t.Fatalf("New() = %v, want a configuration error", err)
	}
	for _, word := range []string{"device_spec, value 2", "vendorid", "exclude_list", "0000:02:*"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not name %s: %v", word, err)
		}
	}
}
