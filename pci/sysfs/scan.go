package sysfs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/pci"
)

// devicesDir holds one link for each function.
const devicesDir = "bus/pci/devices"

// ErrNoDevices says that bus/pci/devices is empty, which no running host's is.
var ErrNoDevices = errors.New("no pci device is listed")

// FS is a sysfs tree. It holds no open file and is safe for concurrent use.
type FS struct {
	root string
	open func(path string) (directory, error)
}

// New gives the tree at root: "/sys" on a running host, any directory of the
// same shape elsewhere. Nothing is opened yet.
func New(root string) FS { return FS{root: root, open: openDirectory} }

// Scan reads all PCI functions in ascending address order. Devices that are
// left out have a warning each, those in wide domains one for all. The error
// names the file; it is [ErrNoDevices] when the tree lists no device. An error
// is transient: the next scan may succeed.
func (f FS) Scan() ([]pci.Device, []pci.Warning, error) {
	devices, warnings, err := f.scan()
	if err != nil {
		return nil, nil, fmt.Errorf("scan the pci tree of %s: %w", f.root, err)
	}
	return devices, warnings, nil
}

func (f FS) scan() ([]pci.Device, []pci.Warning, error) {
	root, err := f.open(f.root)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.close() }()
	names, err := root.list(devicesDir)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%w in %s", ErrNoDevices, devicesDir)
	}
	var (
		devices  []pci.Device
		warnings []pci.Warning
		wide     []string
	)
	slices.Sort(names)
	for _, name := range names {
		address, err := pci.ParseAddress(name)
		switch {
		case errors.Is(err, pci.ErrWideDomain):
			wide = append(wide, name)
			continue
		case err != nil:
			warnings = append(warnings, pci.Warning{Code: pci.WarnUnreadable, Where: name, Message: "left out: " + err.Error()})
			continue
		}
		device, more, err := readDevice(root, devicesDir+"/"+name, address)
		warnings = append(warnings, more...)
		switch {
		case isGone(err):
			warnings = append(warnings, pci.Warning{Code: pci.WarnGone, Where: name, Message: "left out: " + err.Error()})
		case err != nil:
			return nil, nil, fmt.Errorf("device %s: %w", name, err)
		default:
			devices = append(devices, device)
		}
	}
	return devices, append(warnings, wideWarning(wide)...), nil
}

func wideWarning(names []string) []pci.Warning {
	if names == nil {
		return nil
	}
	return []pci.Warning{{
		Code: pci.WarnWideDomain, Where: names[0], Message: fmt.Sprintf(
			"left out, because pci domains above ffff cannot be assigned (devices: %d): %s", len(names), strings.Join(names, ", ")),
	}}
}
