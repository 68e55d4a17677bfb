package sysfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

// BenchmarkScan reads a host with 512 functions.
func BenchmarkScan(b *testing.B) {
	var table strings.Builder
	for i := range 512 {
		fmt.Fprintf(&table, "0000:%02x:%02x.%d  8086  10ca  0200  vfio-pci  0  totalvfs=0 vfio=vfio%d\n", i>>8, i>>3&0x1f, i&7, i)
	}
	tree, err := sysfstest.ParseDevices(table.String())
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := tree.Expand(dir); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		devices, _, err := sysfs.New(dir).Scan()
		if err != nil || len(devices) != 512 {
			b.Fatal(len(devices), err)
		}
	}
}
