package sysfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

// recorded gives a tree recorded from a real kernel.
func recorded(t *testing.T, name string) sysfstest.Tree {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", "pci", "sysfs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sysfstest.ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func table(t *testing.T, text string) sysfstest.Tree {
	t.Helper()
	tree, err := sysfstest.ParseDevices(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func expand(t *testing.T, tree sysfstest.Tree) string {
	t.Helper()
	dir := t.TempDir()
	if err := tree.Expand(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func scan(t *testing.T, tree sysfstest.Tree) (map[string]pci.Device, []pci.Warning) {
	t.Helper()
	devices, warnings, err := sysfs.New(expand(t, tree)).Scan()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]pci.Device{}
	for i, d := range devices {
		if i > 0 && devices[i-1].Address.Compare(d.Address) >= 0 {
			t.Errorf("%s does not ascend", d.Address)
		}
		out[d.Address.String()] = d
	}
	return out, warnings
}

func address(t *testing.T, text string) *pci.Address {
	t.Helper()
	a, err := pci.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

func compare(t *testing.T, got map[string]pci.Device, want ...pci.Device) {
	t.Helper()
	for _, w := range want {
		if diff := cmp.Diff(w, got[w.Address.String()], cmp.AllowUnexported(pci.Class{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.Address, diff)
		}
	}
}

func TestScanRecordedTrees(t *testing.T) {
	t.Parallel()
	ethernet, nvme := pci.NewClass(0x020000), pci.NewClass(0x010802)

	t.Run("virtual functions on", func(t *testing.T) {
		t.Parallel()
		got, warnings := scan(t, recorded(t, "q35-igb-nvme-vfs"))
		if len(got) != 22 || warnings != nil {
			t.Errorf("%d devices, warnings %v", len(got), warnings)
		}
		compare(t, got,
			pci.Device{
				Address: *address(t, "0000:01:00.0"), VendorID: "8086", ProductID: "10c9", Class: ethernet,
				Driver: "igb", TotalVFs: 7, NetDevs: []string{"eth0"},
			},
			pci.Device{
				Address: *address(t, "0000:81:10.2"), VendorID: "8086", ProductID: "10ca", Class: ethernet,
				NUMANode: new(1), Parent: address(t, "0000:81:00.0"),
			},
			pci.Device{
				Address: *address(t, "0000:82:00.1"), VendorID: "1b36", ProductID: "0010", Class: nvme,
				NUMANode: new(1), Parent: address(t, "0000:82:00.0"),
			},
		)
	})
	t.Run("no driver loaded", func(t *testing.T) {
		t.Parallel()
		got, _ := scan(t, recorded(t, "q35-igb-nvme-cold"))
		if d := got["0000:01:00.0"]; d.TotalVFs != 8 || d.Driver != "" || !d.PhysicalFunction() {
			t.Errorf("%+v", d)
		}
	})
	t.Run("variant driver", func(t *testing.T) {
		t.Parallel()
		got, _ := scan(t, recorded(t, "q35-igb-variant"))
		want := map[string][2]string{
			"0000:81:10.0": {"sample-vfio-pci", "vfio0"},
			"0000:81:10.2": {"vfio-pci", "vfio1"},
			"0000:81:10.4": {"", ""},
		}
		for a, w := range want {
			if d := got[a]; d.Driver != w[0] || d.VFIODev != w[1] || d.Class != ethernet {
				t.Errorf("%s: %+v, want driver and vfio %v", a, d, w)
			}
		}
	})
	t.Run("parent gone", func(t *testing.T) {
		t.Parallel()
		got, warnings := scan(t, recorded(t, "q35-nvme-pf-gone"))
		if _, there := got["0000:02:00.0"]; there || len(got) != 9 || warnings != nil {
			t.Errorf("%d devices, warnings %v", len(got), warnings)
		}
		if d := got["0000:02:00.2"]; d.Parent == nil || *d.Parent != *address(t, "0000:02:00.0") {
			t.Errorf("%+v", d)
		}
	})
}

func TestScanNUMANode(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "cases", "013-numa-unknown.devs"))
	if err != nil {
		t.Fatal(err)
	}
	tree := table(t, string(data))
	for address, text := range map[string]string{"0000:05:00.0": "", "0000:06:00.0": "x\n"} {
		tree["devices/pci"+address[:7]+"/"+address+"/numa_node"] = sysfstest.Node{Content: []byte(text)}
	}
	got, _ := scan(t, tree)
	want := map[string]*int{
		"0000:01:00.0": new(0), "0000:02:00.0": new(1), "0000:03:00.0": nil,
		"0000:04:00.0": nil, "0000:05:00.0": nil, "0000:06:00.0": nil,
	}
	nodes := map[string]*int{}
	for a, d := range got {
		nodes[a] = d.NUMANode
	}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Errorf("numa nodes (-want +got):\n%s", diff)
	}
}

func TestScanLeavesOut(t *testing.T) {
	t.Parallel()
	const good = "0000:01:00.0  8086  10c9  0200  igb  0\n"
	for name, tc := range map[string]struct {
		tree    sysfstest.Tree
		code    pci.WarningCode
		where   string
		message string
	}{
		"wide domains": {
			table(t, good+"10000:01:00.0  8086  0a54  010802  nvme  0\n10000:02:00.0  8086  0a54  010802  nvme  0\n"),
			pci.WarnWideDomain, "10000:01:00.0", "10000:01:00.0, 10000:02:00.0",
		},
		"fell off the bus": {
			table(t, good+"0000:c4:00.0  ffff  ffff  ff00  -  -1\n"),
			pci.WarnGone, "0000:c4:00.0", "does not answer",
		},
		"dangling link": {
			sysfstest.Merge(table(t, good), sysfstest.Tree{
				"bus/pci/devices/0000:02:00.0": {Link: "../../../devices/pci0000:02/0000:02:00.0"},
			}),
			pci.WarnGone, "0000:02:00.0", "left out",
		},
		"no vendor": {
			sysfstest.Merge(table(t, good), sysfstest.Tree{
				"devices/pci0000:02/0000:02:00.0":       {Dir: true},
				"devices/pci0000:02/0000:02:00.0/class": {Content: []byte("0x020000\n")},
				"bus/pci/devices/0000:02:00.0":          {Link: "../../../devices/pci0000:02/0000:02:00.0"},
			}),
			pci.WarnGone, "0000:02:00.0", "vendor",
		},
		"not an address": {
			sysfstest.Merge(table(t, good), sysfstest.Tree{"bus/pci/devices/README": {Content: []byte("x")}}),
			pci.WarnUnreadable, "README", "not a complete pci address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, warnings := scan(t, tc.tree)
			if len(got) != 1 || got["0000:01:00.0"].Driver != "igb" {
				t.Errorf("devices %v", got)
			}
			if len(warnings) != 1 || warnings[0].Code != tc.code || warnings[0].Where != tc.where ||
				!strings.Contains(warnings[0].Message, tc.message) {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

func TestScanClassUnknown(t *testing.T) {
	t.Parallel()
	tree := table(t, "0000:01:00.0  8086  10c9  0200  igb  0\n")
	tree["devices/pci0000:01/0000:01:00.0/class"] = sysfstest.Node{Content: []byte("garbage\n")}
	got, warnings := scan(t, tree)
	if got["0000:01:00.0"].Class.Known() || len(warnings) != 1 || warnings[0].Code != pci.WarnUnreadable {
		t.Errorf("%+v %v", got, warnings)
	}
}

func TestScanFails(t *testing.T) {
	t.Parallel()
	empty := expand(t, sysfstest.Tree{"bus/pci/devices": {Dir: true}})
	garbage := table(t, "0000:01:00.0  8086  10c9  0200  igb  0\n")
	garbage["devices/pci0000:01/0000:01:00.0/vendor"] = sysfstest.Node{Content: []byte("garbage\n")}
	for name, tc := range map[string]struct {
		root string
		is   error
		text string
	}{
		"no tree":      {filepath.Join(t.TempDir(), "none"), fs.ErrNotExist, "none"},
		"no devices":   {t.TempDir(), fs.ErrNotExist, "bus/pci/devices"},
		"empty":        {empty, sysfs.ErrNoDevices, "bus/pci/devices"},
		"garbage file": {expand(t, garbage), nil, "0000:01:00.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			devices, _, err := sysfs.New(tc.root).Scan()
			if err == nil || devices != nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("devices %v, error %v", devices, err)
			}
		})
	}
}
