package pci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
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

func TestVectorsRegex(t *testing.T) {
	t.Parallel()
	var file struct {
		Subjects map[string][]string `json:"subjects"`
		Patterns []struct {
			Field, Pattern string
			Python         json.RawMessage
		}
	}
	if !loadVectors(t, "regex.json", &file) {
		return
	}
	for _, p := range file.Patterns {
		vector(t, p.Field+" "+p.Pattern, func(t *testing.T) {
			pattern, err := json.Marshal(p.Pattern)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := parse(t, fmt.Sprintf(`{"address":{%q:%s}}`, p.Field, pattern))
			var want []string
			if json.Unmarshal(p.Python, &want) != nil { // "error"
				if err == nil {
					t.Errorf("%q is accepted, Python refuses it", p.Pattern)
				}
				return
			}
			if err != nil {
				t.Fatalf("Python accepts it: %v", err)
			}
			var devices []pci.Device
			shape := map[string]string{"domain": "%s:00:00.0", "bus": "0000:%s:00.0", "slot": "0000:00:%s.0", "function": "0000:00:00.%s"}
			for _, s := range file.Subjects[p.Field] {
				address := mustAddress(t, fmt.Sprintf(shape[p.Field], s))
				devices = append(devices, pci.Device{Address: address, Class: pci.NewClass(0)})
			}
			got := addresses(pci.Selector{Spec: spec}.Select(devices).Selected())
			for i := range want {
				want[i] = fmt.Sprintf(shape[p.Field], want[i])
			}
			slices.Sort(want)
			if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
				t.Errorf("%q selects differently (-python +got):\n%s", p.Pattern, diff)
			}
		})
	}
}

// matchFile is match.json.
type matchFile struct {
	SysFS struct {
		Netdevs map[string]struct {
			Address          string `json:"address"`
			PhysicalFunction bool   `json:"physical_function"`
		}
		PhysicalFunctions []string `json:"physical_functions"`
	}
	Devices []struct {
		Name, Address string
		VendorID      string  `json:"vendor_id"`
		ProductID     string  `json:"product_id"`
		Parent        *string `json:"parent_addr"`
	}
	Cases []struct {
		ID, Group string
		Entries   []string
		Python    struct {
			Error                string
			Matches              []string
			MatchesWithoutParent []string `json:"matches_without_parent"`
		}
		Strict json.RawMessage
	}
}

// hostDevices gives the devices with the facts that the doubles of the peer
// had, and their names.
func (f matchFile) hostDevices(t *testing.T) ([]pci.Device, map[pci.Address]string) {
	t.Helper()
	var devices []pci.Device
	names := map[pci.Address]string{}
	for _, v := range f.Devices {
		d := pci.Device{
			Address: mustAddress(t, v.Address), VendorID: v.VendorID, ProductID: v.ProductID, Class: pci.NewClass(0x020000),
		}
		if v.Parent != nil {
			parent := mustAddress(t, *v.Parent)
			d.Parent = &parent
		}
		if slices.Contains(f.SysFS.PhysicalFunctions, v.Address) {
			d.TotalVFs = 8
		}
		for name, dev := range f.SysFS.Netdevs {
			if mustAddress(t, dev.Address) == d.Address {
				d.NetDevs = append(d.NetDevs, name)
			}
		}
		devices = append(devices, d)
		names[d.Address] = v.Name
	}
	return devices, names
}

// place is one refused place of a configuration.
type place struct {
	Value   int    `json:"option_value"`
	Element *int   `json:"element"`
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
}

func (p place) String() string {
	if p.Element == nil {
		return fmt.Sprintf("%d %q %s", p.Value, p.Pointer, p.Reason)
	}
	return fmt.Sprintf("%d/%d %q %s", p.Value, *p.Element, p.Pointer, p.Reason)
}

func places(t *testing.T, err error) []string {
	t.Helper()
	config, ok := errors.AsType[*pci.ConfigError](err)
	if !ok {
		t.Fatalf("want a ConfigError, got %v", err)
	}
	var out []string
	for _, e := range config.Entries {
		p := place{Value: e.Value, Pointer: e.Pointer, Reason: e.Reason}
		if e.Element >= 0 {
			p.Element = &e.Element
		}
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

func TestVectorsMatch(t *testing.T) {
	t.Parallel()
	var file matchFile
	if !loadVectors(t, "match.json", &file) {
		return
	}
	devices, names := file.hostDevices(t)
	for _, c := range file.Cases {
		vector(t, c.ID, func(t *testing.T) {
			spec, err := parse(t, c.Entries...)
			var refused []place
			if json.Unmarshal(c.Strict, &refused) == nil {
				var want []string
				for _, p := range refused {
					want = append(want, p.String())
				}
				slices.Sort(want)
				if diff := cmp.Diff(want, places(t, err)); diff != "" {
					t.Errorf("%q refused at other places (-want +got):\n%s", c.Entries, diff)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", c.Entries, err)
			}
			if c.Python.Error != "" {
				return // accepted here and not there: nothing to compare with
			}
			for _, withParent := range []bool{true, false} {
				want := c.Python.MatchesWithoutParent
				if withParent {
					want = c.Python.Matches
				}
				got := []string{}
				for _, d := range (pci.Selector{Spec: spec, MatchParent: withParent}).Select(devices).Selected() {
					got = append(got, names[d.Device.Address])
				}
				slices.Sort(got)
				if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
					t.Errorf("%q with parent %t selects differently (-python +got):\n%s", c.Entries, withParent, diff)
				}
			}
		})
	}
}

func TestVectorsExclude(t *testing.T) {
	t.Parallel()
	type device struct {
		Address, Class string
		VendorID       string `json:"vendor_id"`
		ProductID      string `json:"product_id"`
		TotalVFs       int    `json:"sriov_totalvfs"`
		Physfn         string
	}
	var file struct {
		Entries []struct {
			Entry      string
			Accept     bool
			Normalised string
		}
		Precedence []struct {
			Name       string
			DeviceSpec []string `json:"device_spec"`
			Exclude    []string `json:"exclude_list"`
			Devices    []device
			Selected   []string
		}
	}
	if !loadVectors(t, "exclude.json", &file) {
		return
	}
	for _, e := range file.Entries {
		vector(t, "entry "+e.Entry, func(t *testing.T) {
			list, err := pci.ParseExcludeList([]string{e.Entry})
			if (err == nil) != e.Accept {
				t.Fatalf("accepted %t, want %t: %v", err == nil, e.Accept, err)
			}
			if e.Accept && (len(list.Addresses()) != 1 || list.Addresses()[0].String() != e.Normalised) {
				t.Errorf("addresses %v, want %s", list.Addresses(), e.Normalised)
			}
		})
	}
	for _, p := range file.Precedence {
		vector(t, "precedence "+p.Name, func(t *testing.T) {
			list, err := pci.ParseExcludeList(p.Exclude)
			if err != nil {
				t.Fatal(err)
			}
			var devices []pci.Device
			for _, v := range p.Devices {
				class, err := pci.ParseClass(v.Class)
				if err != nil {
					t.Fatal(err)
				}
				d := pci.Device{
					Address: mustAddress(t, v.Address), VendorID: v.VendorID, ProductID: v.ProductID,
					Class: class, TotalVFs: v.TotalVFs,
				}
				if v.Physfn != "" {
					parent := mustAddress(t, v.Physfn)
					d.Parent = &parent
				}
				devices = append(devices, d)
			}
			got := addresses(pci.Selector{Spec: mustParse(t, p.DeviceSpec...), Exclude: list}.Select(devices).Selected())
			slices.Sort(p.Selected)
			if diff := cmp.Diff(p.Selected, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVectorsClass(t *testing.T) {
	t.Parallel()
	var file struct {
		Classes []struct {
			Class    string `json:"sysfs_class"`
			Excluded bool
		}
	}
	if !loadVectors(t, "class.json", &file) {
		return
	}
	for _, c := range file.Classes {
		vector(t, "class "+c.Class, func(t *testing.T) {
			class, err := pci.ParseClass(c.Class)
			if err != nil {
				t.Fatal(err)
			}
			spec := mustParse(t, "{}")
			selection := pci.Selector{Spec: spec}.Select([]pci.Device{{Class: class}})
			if refused := selection.Err() != nil; refused != c.Excluded || class.Excluded() != c.Excluded {
				t.Errorf("refused %t, want %t", refused, c.Excluded)
			}
		})
	}
}

// object is a reported object of discovery.json.
type object map[string]any

func addressObject(kind, version string, fields object) object {
	fields["_object"], fields["_version"] = kind, version
	fields["_unset"] = []any{"created_at", "updated_at"}
	return fields
}

// reported gives the objects that the agent makes of a report.
func reported(r pci.Report) object {
	attributes := []any{}
	for _, a := range r.Attributes {
		attributes = append(attributes, map[string]any(addressObject("DriverAttribute", "1.0", object{"key": a.Key, "value": a.Value})))
	}
	device := addressObject("DriverDevice", "1.4", object{
		"vendor": r.Vendor, "model": r.Model, "type": pci.DeviceType, "stub": false,
		"std_board_info": r.StdBoardInfo, "vendor_board_info": r.VendorBoardInfo,
		"controlpath_id": map[string]any(addressObject("DriverControlPathID", "1.0", object{
			"cpid_type": pci.HandleType, "cpid_info": r.CPIDInfo,
		})),
		"deployable_list": []any{map[string]any(addressObject("DriverDeployable", "1.0", object{
			"name": r.DeployableName, "num_accelerators": float64(1), "driver_name": r.DriverName,
			"attribute_list": attributes,
			"attach_handle_list": []any{map[string]any(addressObject("DriverAttachHandle", "1.0", object{
				"attach_type": pci.HandleType, "attach_info": r.AttachInfo, "in_use": false,
			}))},
		}))},
	})
	device["_unset"] = []any{"created_at", "device_state", "updated_at"}
	return device
}

func TestVectorsDiscovery(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Name    string
			Lspci   string `json:"lspci_nnn_D"`
			Entries []string
			Host    string
			Fixture string `json:"sysfs_fixture"`
			Error   string
			Report  []map[string]any
		}
	}
	if !loadVectors(t, "discovery.json", &file) {
		return
	}
	for _, c := range file.Cases {
		vector(t, "discovery "+c.Name, func(t *testing.T) {
			if c.Fixture == "" && c.Lspci != "" {
				t.Skip("an lspci text without a sysfs tree: this project reads sysfs")
			}
			spec, err := parse(t, c.Entries...)
			if c.Error != "" || err != nil {
				if c.Error == "" || err == nil {
					t.Errorf("error %v, Python %q", err, c.Error)
				}
				return
			}
			var devices []pci.Device
			if c.Fixture != "" {
				devices = scanFixture(t, c.Fixture)
			}
			// The Python driver has no class guard.
			got := []map[string]any{}
			for _, d := range (pci.Selector{Spec: spec, AllowUnsafe: true}).Select(devices).Selected() {
				got = append(got, reported(pci.NewReport(c.Host, d)))
			}
			if diff := cmp.Diff(c.Report, got); diff != "" {
				t.Errorf("report (-python +got):\n%s", diff)
			}
		})
	}
}

// scanFixture expands a recorded tree and scans it.
func scanFixture(t *testing.T, name string) []pci.Device {
	t.Helper()
	var raw json.RawMessage
	if !loadVectors(t, "sysfs/"+name, &raw) {
		t.Skip("the recorded tree is absent")
	}
	tree, err := sysfstest.ParseJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return scanTree(t, tree)
}

func scanTree(t *testing.T, tree sysfstest.Tree) []pci.Device {
	t.Helper()
	dir := t.TempDir()
	if err := tree.Expand(dir); err != nil {
		if strings.Contains(err.Error(), "privilege") {
			t.Skipf("this system lets nobody make symbolic links: %v", err)
		}
		t.Fatal(err)
	}
	devices, _, err := sysfs.New(dir).Scan()
	if err != nil {
		t.Fatal(err)
	}
	return devices
}
