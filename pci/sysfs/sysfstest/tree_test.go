package sysfstest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

func TestParseDevices(t *testing.T) {
	t.Parallel()
	tree, err := sysfstest.ParseDevices("# a comment\n\n" +
		"0000:5e:00.1\t144d\tA824\t010802\tnvme\t-\tphysfn=0000:5e:00.0 vf=0 nvme=nvme1:nvme4n1,nvme4n2 name=\"two words\"\n")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "devices/pci0000:5e/0000:5e:00.1"
	file := func(text string) sysfstest.Node { return sysfstest.Node{Content: []byte(text + "\n")} }
	link := func(target string) sysfstest.Node { return sysfstest.Node{Link: target} }
	want := sysfstest.Tree{
		dir:                                 {Dir: true},
		dir + "/vendor":                     file("0x144d"),
		dir + "/device":                     file("0xa824"),
		dir + "/class":                      file("0x010802"),
		dir + "/revision":                   file("0xa1"),
		dir + "/driver":                     link("../../../bus/pci/drivers/nvme"),
		dir + "/physfn":                     link("../../pci0000:5e/0000:5e:00.0"),
		dir + "/nvme/nvme1/address":         file("0000:5e:00.1"),
		dir + "/nvme/nvme1/nvme4n1/holders": {Dir: true},
		dir + "/nvme/nvme1/nvme4n2/holders": {Dir: true},
		"devices/pci0000:5e/0000:5e:00.0/virtfn0": link("../../pci0000:5e/0000:5e:00.1"),
		"bus/pci/devices/0000:5e:00.1":            link("../../../" + dir),
		"bus/pci/drivers/nvme":                    {Dir: true},
		"class/nvme/nvme1":                        link("../../" + dir + "/nvme/nvme1"),
		"block/nvme4n1":                           link("../" + dir + "/nvme/nvme1/nvme4n1"),
		"block/nvme4n2":                           link("../" + dir + "/nvme/nvme1/nvme4n2"),
	}
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestParseDevicesRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ line, text string }{
		"columns": {"0000:5e:00.1  144d", "six columns"},
		"address": {"5e.1  144d  a824  0108  -  -", "not an address"},
		"class":   {"0000:5e:00.1  144d  a824  01  -  -", "class"},
		"extra":   {"0000:5e:00.1  144d  a824  0108  -  -  totalvfs", "key=value"},
		"physfn":  {"0000:5e:00.1  144d  a824  0108  -  -  physfn=0000:5e:00.0", "vf=N"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sysfstest.ParseDevices("\n" + tc.line)
			if err == nil || !strings.Contains(err.Error(), tc.text) || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestParseJSONRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", `{"tree":{"/sys/a":{"b64":"?"}}}`} {
		if _, err := sysfstest.ParseJSON([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestExpandRefusesPathsOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := (sysfstest.Tree{"../outside": {Content: []byte("x")}}).Expand(filepath.Join(dir, "tree")); err == nil {
		t.Error("a path outside of the directory is accepted")
	}
	if _, err := os.Stat(filepath.Join(dir, "outside")); err == nil {
		t.Error("a file was written outside of the directory")
	}
}

func ExampleMerge() {
	table, err := sysfstest.ParseDevices("0000:01:00.0  8086  10c9  0200  -  0")
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded, err := sysfstest.ParseJSON([]byte(`{"tree": {
		"/sys/devices/pci0000:01/0000:01:00.0/numa_node": {"text": "1\n"},
		"/dev/vfio": {"dir": true}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree := sysfstest.Merge(table, recorded)
	fmt.Printf("%q\n", tree["devices/pci0000:01/0000:01:00.0/numa_node"].Content)
	// Output: "1\n"
}
