package pci_test

import (
	"testing"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// BenchmarkSelect decides for 4,096 devices with 32 rules of which the last
// one matches.
func BenchmarkSelect(b *testing.B) {
	values := make([]pci.OptionValue, 32)
	for i := range values {
		values[i].Text = `{"vendor_id":"10de","address":{"bus":"[0-7]","function":"(?!0)"}}`
	}
	values[31].Text = `{"vendor_id":"8086"}`
	spec, err := pci.ParseDeviceSpec(values, specschema.Check)
	if err != nil {
		b.Fatal(err)
	}
	devices := make([]pci.Device, 4096)
	for i := range devices {
		devices[i] = pci.Device{
			Address:  pci.Address{Bus: uint8(i >> 8), Slot: uint8(i >> 3 & 0x1f), Function: uint8(i & 7)},
			VendorID: "8086", ProductID: "10ca", Class: pci.NewClass(0x020000),
		}
	}
	s := pci.Selector{Spec: spec}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(s.Select(devices).Selected()); n != len(devices) {
			b.Fatal(n)
		}
	}
}

// BenchmarkParseRegex parses a rule whose patterns are tried on all 65,536
// domains, 256 buses, 32 slots and 8 functions.
func BenchmarkParseRegex(b *testing.B) {
	values := []pci.OptionValue{{Text: `{"address":{"domain":"000[01]|(?!ffff).*f$","bus":"[0-7].","slot":"0.","function":"(?!0)"}}`}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pci.ParseDeviceSpec(values, specschema.Check); err != nil {
			b.Fatal(err)
		}
	}
}
