package pci_test

import (
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/pci"
)

func ExampleParseAddress() {
	a, err := pci.ParseAddress("0000:AF:1F.7")
	fmt.Println(a, err)

	_, err = pci.ParseAddress("10000:01:00.0")
	fmt.Println(errors.Is(err, pci.ErrWideDomain))

	_, err = pci.ParseAddress("af:1f.7")
	fmt.Println(err)
	// Output:
	// 0000:af:1f.7 <nil>
	// true
	// "af:1f.7" is not a complete pci address (incomplete); want DDDD:BB:SS.F in hexadecimal
}

func ExampleParseAddressFields() {
	a, err := pci.ParseAddressFields("0000", "0C", "1", "0")
	fmt.Println(a, err)
	// Output: 0000:0c:01.0 <nil>
}

func ExampleParseClass() {
	class, err := pci.ParseClass("0x010802\n")
	fmt.Println(class, class.Excluded(), err)
	// Output: 0x010802 true <nil>
}

// All bad entries are reported at once, each with its place.
func ExampleParseDeviceSpec() {
	_, err := pci.ParseDeviceSpec([]pci.OptionValue{
		{Option: pci.OptionDeviceSpec, Text: `{"vendor_id": "8086", "address": {"function": "(?!0)"}}`},
		{Option: pci.OptionDeviceSpec, Text: `{"address": ".8"}`},
		{Option: pci.OptionDeviceSpec, Text: `[{"managed": false}, {"managed": "no"}]`},
	}, nil)
	config, ok := errors.AsType[*pci.ConfigError](err)
	fmt.Println(ok)
	for _, e := range config.Entries {
		fmt.Printf("%s %s %s\n", e.Location, e.Pointer, e.Reason)
	}
	// Output:
	// true
	// [pci] device_spec, value 2 /address too_large
	// [pci] device_spec, value 3, element 2 /managed schema:enum
}

func ExampleParseExcludeList() {
	_, err := pci.ParseExcludeList([]string{"0000:03:00.0", "0000:04:*.0"}, "")
	fmt.Println(err)
	// Output:
	// [pci] exclude_list, value 2: not a complete pci address (wildcards are not allowed); write DDDD:BB:SS.F in hexadecimal (entry: "0000:04:*.0")
}

func ExampleNewClass() {
	fmt.Println(pci.NewClass(0x030200), pci.Class{})
	// Output: 0x030200 unknown
}

func ExampleNewReport() {
	r := pci.NewReport("compute-1", pci.Decision{
		Device: pci.Device{Address: pci.Address{Bus: 0x81, Slot: 0x10}, VendorID: "8086", ProductID: "10ca"}, Managed: true,
	})
	fmt.Println(r.DeployableName, r.DriverName)
	fmt.Println(r.CPIDInfo)
	for _, a := range r.Attributes {
		fmt.Println(a.Key, a.Value)
	}
	// Output:
	// compute-1_0000:81:10.0 INTEL
	// {"bus": "81", "device": "10", "domain": "0000", "function": "0"}
	// rc CUSTOM_PCI
	// trait0 OWNER_CYBORG
	// trait1 CUSTOM_PCI_INTEL
	// trait2 CUSTOM_PCI_PRODUCT_ID_10CA
}
