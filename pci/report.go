package pci

import (
	"strconv"
	"strings"
)

// Fixed texts of the Python generic PCI driver.
const (
	// DeviceType is the device type of every PCI device that the generic
	// driver reports, although a type PCI exists.
	DeviceType = "GPU"
	// ResourceClass is the Placement resource class of the generic driver.
	ResourceClass = "CUSTOM_PCI"
	// HandleType is both the control path type and the attach handle type.
	HandleType = "PCI"

	ownerTrait      = "OWNER_CYBORG"
	vendorBoardInfo = "miss_vb_info"
)

// Attribute is one attribute of a deployable.
type Attribute struct{ Key, Value string }

// Report is what the generic PCI driver tells the conductor of one device: one
// control path, one deployable with one accelerator, one attach handle.
// Conductors compare the texts byte for byte; a difference in CPIDInfo,
// DeployableName or AttachInfo destroys stored rows.
type Report struct {
	Vendor, Model   string
	StdBoardInfo    string
	VendorBoardInfo string
	CPIDInfo        string
	DeployableName  string
	DriverName      string
	Attributes      []Attribute
	AttachInfo      string
}

// NewReport gives the report of a selected device. host is [DEFAULT] host of
// the agent, not the name of its resource provider.
func NewReport(host string, d Decision) Report {
	vendor := vendorName(d.Device.VendorID)
	driver := vendor
	if driver == "" {
		driver = d.Device.VendorID
	}
	var managed *bool
	if d.ManagedExplicit {
		managed = &d.Managed
	}
	return Report{
		Vendor:          d.Device.VendorID,
		Model:           d.Device.ProductID,
		StdBoardInfo:    `{"product_id": "` + d.Device.ProductID + `", "controller": null}`,
		VendorBoardInfo: vendorBoardInfo,
		CPIDInfo:        CPIDInfo(d.Device.Address),
		DeployableName:  host + "_" + d.Device.Address.String(),
		DriverName:      strings.ToUpper(driver),
		Attributes:      attributes(vendor, d.Device.ProductID),
		AttachInfo:      AttachInfo(d.Device.Address, managed),
	}
}

// CPIDInfo gives the control path text of an address, as Python's json module
// prints it with sorted keys.
func CPIDInfo(a Address) string { return addressJSON(a) + "}" }

// AttachInfo gives the attach handle text of an address. managed nil leaves
// the key out, which consumers read as true.
func AttachInfo(a Address, managed *bool) string {
	s := addressJSON(a)
	if managed != nil {
		s += `, "managed": ` + strconv.FormatBool(*managed)
	}
	return s + "}"
}

// addressJSON gives the object of the address without its closing brace.
func addressJSON(a Address) string {
	t := a.fields()
	return `{"bus": "` + t[1] + `", "device": "` + t[2] + `", "domain": "` + t[0] + `", "function": "` + t[3] + `"`
}

// vendorName gives the name the generic driver knows for a vendor id, or "".
func vendorName(id string) string {
	switch id {
	case "10de":
		return "nvidia"
	case "102b":
		return "matrox"
	case "8086":
		return "intel"
	case "1bd4":
		return "inspur"
	case "10ee":
		return "xilinx"
	case "19e5":
		return "huawei"
	}
	return ""
}

// attributes gives resource class and traits in the order of the Python
// driver: an unknown vendor has no vendor trait.
func attributes(vendor, productID string) []Attribute {
	traits := []string{ownerTrait}
	if vendor != "" {
		traits = append(traits, "CUSTOM_PCI_"+strings.ToUpper(vendor))
	}
	traits = append(traits, "CUSTOM_PCI_PRODUCT_ID_"+strings.ToUpper(productID))
	out := []Attribute{{Key: "rc", Value: ResourceClass}}
	for i, t := range traits {
		out = append(out, Attribute{Key: "trait" + strconv.Itoa(i), Value: t})
	}
	return out
}
