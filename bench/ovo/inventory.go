package main

import (
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

const devices = 512

// inventory is the report of a host with 512 NVMe devices.
func inventory() []*cyborg.DriverDevice {
	list := make([]*cyborg.DriverDevice, devices)
	for i := range list {
		list[i] = device(i)
	}
	return list
}

func device(i int) *cyborg.DriverDevice {
	bus, slot := fmt.Sprintf("%02x", i/32), fmt.Sprintf("%02x", i%32)
	address := fmt.Sprintf(`{"domain": "0000", "bus": %q, "device": %q, "function": "0"}`, bus, slot)
	name := "compute-17.example.org_0000:" + bus + ":" + slot + ".0"
	return &cyborg.DriverDevice{
		Vendor: ovo.Of("144d"), Model: ovo.Of("Samsung PM1733 3.84TB"), Type: ovo.Of(cyborg.NVME),
		StdBoardInfo:    ovo.NullOf(`{"product_id": "a824", "controller": "Class 0108"}`),
		VendorBoardInfo: ovo.NullOf(fmt.Sprintf("serial S4YNNE0N%06d", i)),
		ControlpathID:   ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of(address)}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name: ovo.Of(name), NumAccelerators: ovo.Of(int64(1)), DriverName: ovo.NullOf("nvme"),
			AttributeList: ovo.NullOf([]*cyborg.DriverAttribute{
				attribute("rc", "PCIE_NVME"), attribute("trait0", "CUSTOM_NVME_144D"), attribute("trait1", "CUSTOM_NVME_PRODUCT_ID_A824"),
			}),
			AttachHandleList: ovo.NullOf([]*cyborg.DriverAttachHandle{{AttachType: ovo.Of("PCI"), AttachInfo: ovo.Of(address), InUse: ovo.Of(false)}}),
		}}),
		Stub: ovo.Of(false),
	}
}

func attribute(key, value string) *cyborg.DriverAttribute {
	return &cyborg.DriverAttribute{Key: ovo.Of(key), Value: ovo.Of(value)}
}

// setFields counts the set fields of an object and of those in it.
func setFields(r *ovo.Registry, v any) (int, error) {
	switch v := v.(type) {
	case ovo.Object:
		view, err := r.View(v)
		if err != nil {
			return 0, err
		}
		total := 0
		for name, state := range view.Fields() {
			if !state.Set {
				continue
			}
			value, err := view.Get(name)
			if err != nil {
				return 0, err
			}
			inner, err := setFields(r, value)
			if err != nil {
				return 0, err
			}
			total += 1 + inner
		}
		return total, nil
	case []any:
		total := 0
		for _, e := range v {
			n, err := setFields(r, e)
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	}
	return 0, nil
}
