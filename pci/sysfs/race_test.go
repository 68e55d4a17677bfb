package sysfs

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

// faulty answers an error for one name of one device, from the nth use on.
type faulty struct {
	directory
	name  string
	after int
	err   error
	used  *int
}

func (f faulty) fault(name string) error {
	if name != f.name {
		return nil
	}
	if *f.used++; *f.used <= f.after {
		return nil
	}
	return &fs.PathError{Op: "read", Path: name, Err: f.err}
}

func (f faulty) read(name string) ([]byte, error) {
	if err := f.fault(name); err != nil {
		return nil, err
	}
	return f.directory.read(name)
}

func (f faulty) list(name string) ([]string, error) {
	if err := f.fault(name); err != nil {
		return nil, err
	}
	return f.directory.list(name)
}

func (f faulty) link(name string) (string, error) {
	if err := f.fault(name); err != nil {
		return "", err
	}
	return f.directory.link(name)
}

func (f faulty) sub(name string) (directory, error) {
	d, err := f.directory.sub(name)
	if !strings.HasSuffix(name, "0000:02:00.0") {
		return d, err
	}
	f.directory = d
	return f, err
}

// TestScanRaces removes a device, or breaks a file of it, while it is read.
func TestScanRaces(t *testing.T) {
	t.Parallel()
	tree, err := sysfstest.ParseDevices("0000:01:00.0  8086  10c9  0200  igb  0\n" +
		"0000:02:00.0  8086  10c9  0200  igb  0  totalvfs=2 numvfs=0 net=eth0 vfio=vfio0\n")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := tree.Expand(dir); err != nil {
		t.Fatal(err)
	}
	scan := func(name string, after int, fault error) ([]pci.Device, []pci.Warning, error) {
		used := 0
		f := FS{root: dir, open: func(path string) (directory, error) {
			d, err := openDirectory(path)
			return faulty{d, name, after, fault, &used}, err
		}}
		devices, warnings, err := f.Scan()
		if used == 0 {
			t.Errorf("%s was never read", name)
		}
		return devices, warnings, err
	}
	required := []string{"vendor", "device", "class"}
	optional := []string{"driver", "numa_node", "physfn", "sriov_totalvfs", "net", "vfio-dev"}
	gone := func(t *testing.T, name string, after int, fault error) {
		t.Helper()
		devices, warnings, err := scan(name, after, fault)
		if err != nil || len(devices) != 1 || len(warnings) != 1 || warnings[0].Code != pci.WarnGone {
			t.Errorf("%s %v: %d devices, warnings %v, error %v", name, fault, len(devices), warnings, err)
		}
	}
	for _, name := range append(required, optional...) {
		gone(t, name, 0, syscall.ENODEV)
	}
	for _, name := range required {
		gone(t, name, 0, fs.ErrNotExist)
	}
	gone(t, "vendor", 1, fs.ErrNotExist) // after all optional files were absent
	for _, name := range optional {
		devices, warnings, err := scan(name, 0, fs.ErrNotExist)
		if err != nil || len(devices) != 2 || warnings != nil {
			t.Errorf("absent %s: %d devices, warnings %v, error %v", name, len(devices), warnings, err)
		}
	}
	for _, name := range append([]string{"vendor", "device"}, optional...) {
		if devices, _, err := scan(name, 0, syscall.EIO); !errors.Is(err, syscall.EIO) || devices != nil {
			t.Errorf("broken %s: %v, error %v", name, devices, err)
		}
	}
	devices, warnings, err := scan("class", 0, syscall.EIO)
	if err != nil || len(devices) != 2 || devices[1].Class.Known() || len(warnings) != 1 {
		t.Errorf("broken class: %v, warnings %v, error %v", devices, warnings, err)
	}
}
