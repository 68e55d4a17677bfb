package pci

import (
	"fmt"
	"strconv"
	"strings"
)

// Device is what a host knows of one PCI function. All facts are values; an
// absent fact is the zero value of its field.
type Device struct {
	Address Address
	// VendorID and ProductID are four lower-case hexadecimal digits. They are
	// compared with rules as they stand.
	VendorID, ProductID string
	// Class is the PCI class code; the zero value is "unknown", which the
	// class guard treats as refused.
	Class Class
	// Driver is the name of the bound kernel driver, "" when none is bound.
	Driver string
	// NUMANode is the host NUMA node, nil when the host does not know it.
	NUMANode *int
	// Parent is the physical function of a virtual function, nil otherwise.
	// The parent itself may be gone from the host.
	Parent *Address
	// TotalVFs is sriov_totalvfs: above zero on a physical function.
	TotalVFs int
	// VFIODev is the name of the function's VFIO character device (vfio0), the
	// generic sign of an assignment-capable binding; "" when there is none.
	VFIODev string
	// NetDevs are the names of the function's network interfaces.
	NetDevs []string
}

// PhysicalFunction reports whether the device can carry virtual functions.
func (d Device) PhysicalFunction() bool { return d.TotalVFs > 0 }

// Class is a 24-bit PCI class code: base class, subclass and programming
// interface. The zero value is an unknown class, which differs from the known
// class 000000.
type Class struct {
	code  uint32
	known bool
}

// NewClass gives the class of a 24-bit code such as 0x010802.
func NewClass(code uint32) Class { return Class{code: code & 0xffffff, known: true} }

// ParseClass reads the content of a sysfs class file, such as "0x010802".
func ParseClass(text string) (Class, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), "0x")
	code, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil || code > 0xffffff {
		return Class{}, fmt.Errorf("%q is not a pci class; want 0x and six hexadecimal digits", text)
	}
	return NewClass(uint32(code)), nil
}

// Known reports whether the class could be read.
func (c Class) Known() bool { return c.known }

// Code gives the 24 bits, zero when the class is unknown.
func (c Class) Code() uint32 { return c.code }

// String gives the sysfs text 0xCCSSPP, or "unknown".
func (c Class) String() string {
	if !c.known {
		return "unknown"
	}
	return fmt.Sprintf("0x%06x", c.code)
}

// classNVM is base class 01 (mass storage), subclass 08 (non-volatile memory,
// which NVMe is, whatever its programming interface).
const classNVM = 0x0108

// Excluded reports whether the class guard refuses the class: non-volatile
// memory controllers with any programming interface. The set is internal and
// not configurable (specification, "Internal device-class exclusions").
// An unknown class is not in the set; the guard refuses it on its own ground.
func (c Class) Excluded() bool { return c.known && c.code>>8 == classNVM }
