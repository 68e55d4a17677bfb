package pci_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

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
			spec, err := parse(t, c.Entries...)
			if err == nil && c.Error != "" {
				t.Skip("the peer fails on an address in the text of lspci that no kernel gives")
			}
			if err != nil {
				if c.Error == "" {
					t.Error(err)
				}
				return
			}
			var devices []pci.Device
			switch {
			case c.Fixture != "":
				devices = scanFixture(t, c.Fixture)
			case c.Lspci != "":
				devices = scanTree(t, lspciTree(t, c.Lspci))
				c.Report = asSysfs(c.Report)
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

// lspciTree builds the tree that an lspci text describes. Lines with what no
// kernel gives (upper-case digits) are left out.
func lspciTree(t *testing.T, text string) sysfstest.Tree {
	t.Helper()
	line := regexp.MustCompile(`(?m)^([0-9a-f]+:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) .*\[([0-9a-f]{4})\]:.*\[([0-9a-f]{4}):([0-9a-f]{4})\]`)
	var table strings.Builder
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&table, "%s  %s  %s  %s  -  -\n", m[1], m[3], m[4], m[2])
	}
	tree, err := sysfstest.ParseDevices(table.String())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// asSysfs brings a report made from an lspci text into the form that a sysfs
// tree gives: no upper-case ids, no device twice, ascending addresses.
func asSysfs(report []map[string]any) []map[string]any {
	byName := map[string]map[string]any{}
	for _, device := range report {
		name := device["deployable_list"].([]any)[0].(map[string]any)["name"].(string)
		if name == strings.ToLower(name) {
			byName[name] = device
		}
	}
	out := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
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
