package sysfs_test

import (
	"fmt"
	"os"

	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

// A tree in a temporary directory stands in for /sys.
func ExampleNew() {
	tree, err := sysfstest.ParseDevices(`
# address     vendor  device  class  driver  numa  extra
0000:25:00.0  10de  25b6  0302  nvidia  0  totalvfs=16 numvfs=1
0000:25:00.4  10de  25b6  0302  nvidia  0  physfn=0000:25:00.0 vf=0
10000:01:00.0  8086  0a54  010802  nvme  0
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "sysfs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := tree.Expand(dir); err != nil {
		fmt.Println(err)
		return
	}

	devices, warnings, err := sysfs.New(dir).Scan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range devices {
		fmt.Println(d.Address, d.VendorID, d.ProductID, d.Class, d.Driver, d.PhysicalFunction(), d.Parent != nil)
	}
	for _, w := range warnings {
		fmt.Println(w)
	}
	// Output:
	// 0000:25:00.0 10de 25b6 0x030200 nvidia true false
	// 0000:25:00.4 10de 25b6 0x030200 nvidia false true
	// 10000:01:00.0: left out, because pci domains above ffff cannot be assigned (devices: 1): 10000:01:00.0
}
