package pci_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// host gives the facts that package pci/sysfs would read.
func host() []pci.Device {
	vga, nvme, parent := pci.NewClass(0x030200), pci.NewClass(0x010802), pci.Address{Bus: 0x25}
	return []pci.Device{
		{Address: parent, VendorID: "10de", ProductID: "25b6", Class: vga, Driver: "nvidia", TotalVFs: 16},
		{Address: pci.Address{Bus: 0x25, Function: 4}, VendorID: "10de", ProductID: "25b6", Class: vga, Driver: "nvidia", VFIODev: "vfio0", Parent: &parent},
		{Address: pci.Address{Bus: 0x5e}, VendorID: "144d", ProductID: "a824", Class: nvme, Driver: "nvme"},
		{Address: pci.Address{Bus: 0x81}, VendorID: "8086", ProductID: "1533", Class: pci.NewClass(0x020000), Driver: "igb"},
	}
}

// The virtual functions of a card are handed out, its physical function, which
// has the same ids, is not.
func ExampleSelector() {
	spec, err := pci.ParseDeviceSpec([]pci.OptionValue{
		{Option: pci.OptionDeviceSpec, Text: `{"vendor_id": "10de", "product_id": "25b6", "managed": false}`},
	}, specschema.Check)
	if err != nil {
		fmt.Println(err)
		return
	}
	exclude, err := pci.ParseExcludeList([]string{"0000:25:00.0"}, "")
	if err != nil {
		fmt.Println(err)
		return
	}

	selection := pci.Selector{Spec: spec, Exclude: exclude}.Select(host())
	if err := selection.Err(); err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range selection.Decisions {
		fmt.Printf("%s %s: %s\n", d.Device.Address, d.Verdict, d.Reason)
	}
	for _, d := range selection.Selected() {
		fmt.Println(pci.NewReport("compute-1", d).AttachInfo)
	}
	// Output:
	// 0000:25:00.0 excluded: named in [pci] exclude_list
	// 0000:25:00.4 selected: selected by [pci] device_spec, value 1
	// 0000:5e:00.0 unmatched: no rule of [pci] device_spec matches
	// 0000:81:00.0 unmatched: no rule of [pci] device_spec matches
	// {"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}
}

// A rule that takes in an NVMe drive stops the service before it reports.
func ExampleClassError() {
	spec, err := pci.ParseDeviceSpec([]pci.OptionValue{{Text: `{"vendor_id": "144d"}`}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	selection := pci.Selector{Spec: spec}.Select(host())
	fmt.Println(selection.Err() != nil)

	selection = pci.Selector{Spec: spec, AllowUnsafe: true}.Select(host())
	fmt.Println(selection.Err(), selection.Warnings[0].Code, selection.Warnings[0].Where)
	// Output:
	// true
	// <nil> unsafe 0000:5e:00.0
}
