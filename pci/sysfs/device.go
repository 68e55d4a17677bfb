package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-cyborg/cyborg/pci"
)

// errOffBus says that a device no longer answers on the bus.
var errOffBus = errors.New("the device does not answer (vendor ffff)")

// isGone tells whether an error on a file of a device means that the device
// has vanished: opening answers ENOENT, reading an open file ENODEV.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) || errors.Is(err, errOffBus)
}

// reader reads the facts of one device. The first error sticks, so that the
// facts can be read one after another.
type reader struct {
	dir      directory
	address  pci.Address
	warnings []pci.Warning
	err      error
}

// readDevice reads one function. The error satisfies isGone when the device
// has vanished.
func readDevice(root directory, at string, address pci.Address) (pci.Device, []pci.Warning, error) {
	dir, err := root.sub(at)
	if err != nil {
		return pci.Device{}, nil, err
	}
	defer func() { _ = dir.close() }()
	r := &reader{dir: dir, address: address}
	d := pci.Device{
		Address:   address,
		VendorID:  r.id("vendor"),
		ProductID: r.id("device"),
		Class:     r.class(),
		Driver:    r.driver(),
		NUMANode:  r.numaNode(),
		Parent:    r.parent(),
		TotalVFs:  r.totalVFs(),
		NetDevs:   r.names("net"),
	}
	if names := r.names("vfio-dev"); len(names) > 0 {
		d.VFIODev = names[0]
	}
	// An optional file that is absent looks like one of a device that has just
	// gone, so make sure that the device is still there.
	r.id("vendor")
	if r.err != nil {
		return pci.Device{}, nil, r.err
	}
	return d, r.warnings, nil
}

// text reads a file that every device has.
func (r *reader) text(name string) string {
	if r.err != nil {
		return ""
	}
	data, err := r.dir.read(name)
	r.err = err
	return strings.TrimSpace(string(data))
}

// optional reads a fact that a device may lack; ok tells whether it is there.
func optional[T any](r *reader, read func(string) (T, error), name string) (value T, ok bool) {
	if r.err != nil {
		return value, false
	}
	value, err := read(name)
	if !errors.Is(err, fs.ErrNotExist) {
		r.err = err
	}
	return value, err == nil
}

// id reads vendor or device: 0x and four digits.
func (r *reader) id(name string) string {
	text := r.text(name)
	if r.err != nil {
		return ""
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 16)
	if err != nil {
		r.err = fmt.Errorf("%s: %q is not an id", name, text)
	} else if v == 0xffff && name == "vendor" {
		r.err = errOffBus
	}
	return fmt.Sprintf("%04x", v)
}

// class reads the class; one that cannot be read stays unknown, and the class
// guard refuses the device if a rule selects it.
func (r *reader) class() pci.Class {
	if r.err != nil {
		return pci.Class{}
	}
	text := r.text("class")
	if isGone(r.err) {
		return pci.Class{}
	}
	err := r.err
	r.err = nil
	var class pci.Class
	if err == nil {
		class, err = pci.ParseClass(text)
	}
	if err != nil {
		r.warn("class is unknown: %v", err)
	}
	return class
}

// numaNode reads numa_node: -1, nothing and no file mean unknown.
func (r *reader) numaNode() *int {
	data, _ := optional(r, r.dir.read, "numa_node")
	node, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || node < 0 {
		return nil
	}
	return &node
}

// totalVFs reads sriov_totalvfs, which only physical functions have.
func (r *reader) totalVFs() int {
	const name = "sriov_totalvfs"
	data, ok := optional(r, r.dir.read, name)
	if !ok {
		return 0
	}
	text := strings.TrimSpace(string(data))
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.warn("%s: %q is not a number", name, text)
		return 0
	}
	return n
}

// driver gives the name of the bound driver, or "".
func (r *reader) driver() string {
	target, ok := optional(r, r.dir.link, "driver")
	if !ok {
		return ""
	}
	return path.Base(target)
}

// parent gives the physical function, which may be gone.
func (r *reader) parent() *pci.Address {
	target, ok := optional(r, r.dir.link, "physfn")
	if !ok {
		return nil
	}
	a, err := pci.ParseAddress(path.Base(target))
	if err != nil {
		r.warn("physfn: %v", err)
		return nil
	}
	return &a
}

// names lists a directory that a device may lack, sorted.
func (r *reader) names(name string) []string {
	names, _ := optional(r, r.dir.list, name)
	slices.Sort(names)
	return names
}

func (r *reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, pci.Warning{
		Code: pci.WarnUnreadable, Where: r.address.String(), Message: fmt.Sprintf(format, args...),
	})
}
