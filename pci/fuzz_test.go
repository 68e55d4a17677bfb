package pci_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{"0000:03:00.0", "FFFF:ff:1f.7", "10000:e1:00.0", "0000:0*:00.0", "", "::.", "0000:03:00.0\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := pci.ParseAddress(text)
		if err == nil && a.String() != strings.ToLower(text) {
			t.Errorf("%q reads as %s", text, a)
		}
	})
}

func FuzzParseExcludeList(f *testing.F) {
	f.Add("0000:03:00.0,0000:04:00.0")
	f.Add(`["0000:03:00.0",]`)
	f.Fuzz(func(t *testing.T, text string) {
		elements := strings.Split(text, ",")
		list, err := pci.ParseExcludeList(elements, "")
		if err != nil {
			if list.Addresses() != nil {
				t.Errorf("%q is half applied", text)
			}
			return
		}
		for _, e := range elements {
			if a, err := pci.ParseAddress(e); err != nil || !list.Contains(a) {
				t.Errorf("%q is not in the list of %q", e, text)
			}
		}
	})
}

// FuzzParseDeviceSpec: whatever is accepted with the schema is accepted
// without it, and refusals name the same places; nothing is half applied.
func FuzzParseDeviceSpec(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ``, `null`, `[null]`, `{"vendor_id":"8086","product_id":" 0x10CA "}`, `{"address":"*:0a:00.1"}`,
		`{"address":{"bus":"(?!0a)","function":"[0-2]"}}`, `{"devname":"eth0","address":""}`, `{"managed":"no"}`,
		`[{"vendor_id":"*","managed":"true","physical_network":null}]`, `{"vendor_id":1e999}`, `{"a~/b":{"c":1}}`,
		`{"address":{"bus":1,"func":2}}`, `{"vendor_id":"1","vendor_id":"2"}`,
	} {
		f.Add(seed)
	}
	device := []pci.Device{{VendorID: "8086", ProductID: "10ca", Class: pci.NewClass(0x020000)}}
	f.Fuzz(func(t *testing.T, text string) {
		values := []pci.OptionValue{{Text: text}}
		spec, err := pci.ParseDeviceSpec(values, specschema.Check)
		plain, plainErr := pci.ParseDeviceSpec(values, nil)
		if err != nil {
			if len(spec.Rules) != 0 || err.Error() == "" {
				t.Errorf("%q is half applied", text)
			}
			return
		}
		if plainErr != nil {
			t.Fatalf("%q is accepted with the schema only: %v", text, plainErr)
		}
		a := pci.Selector{Spec: spec}.Select(device)
		b := pci.Selector{Spec: plain}.Select(device)
		if diff := cmp.Diff(a, b, cmp.AllowUnexported(pci.Class{})); diff != "" {
			t.Errorf("%q selects differently:\n%s", text, diff)
		}
	})
}
