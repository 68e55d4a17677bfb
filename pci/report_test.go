package pci_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
)

func TestNewReport(t *testing.T) {
	t.Parallel()
	vendors := map[string]string{ // id: name that the Python driver prints
		"10de": "NVIDIA", "102b": "MATROX", "8086": "INTEL", "1bd4": "INSPUR", "10ee": "XILINX", "19e5": "HUAWEI", "1e36": "",
	}
	for id, name := range vendors {
		d := pci.Decision{Device: pci.Device{
			Address: mustAddress(t, "0001:AF:1f.7"), VendorID: id, ProductID: "0a5b",
		}, Managed: true}
		want := pci.Report{
			Vendor: id, Model: "0a5b",
			StdBoardInfo:    `{"product_id": "0a5b", "controller": null}`,
			VendorBoardInfo: "miss_vb_info",
			CPIDInfo:        `{"bus": "af", "device": "1f", "domain": "0001", "function": "7"}`,
			AttachInfo:      `{"bus": "af", "device": "1f", "domain": "0001", "function": "7"}`,
			DeployableName:  "compute-1_0001:af:1f.7",
			DriverName:      name,
			Attributes: []pci.Attribute{
				{Key: "rc", Value: "CUSTOM_PCI"},
				{Key: "trait0", Value: "OWNER_CYBORG"},
				{Key: "trait1", Value: "CUSTOM_PCI_" + name},
				{Key: "trait2", Value: "CUSTOM_PCI_PRODUCT_ID_0A5B"},
			},
		}
		if name == "" {
			want.DriverName = "1E36"
			want.Attributes = append(want.Attributes[:2:2], pci.Attribute{Key: "trait1", Value: "CUSTOM_PCI_PRODUCT_ID_0A5B"})
		}
		if diff := cmp.Diff(want, pci.NewReport("compute-1", d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// TestReportCarriesExplicitManaged: the key appears only when the rule gives it.
func TestReportCarriesExplicitManaged(t *testing.T) {
	t.Parallel()
	const address = `{"bus": "25", "device": "00", "domain": "0000", "function": "4"`
	device := pci.Device{Address: mustAddress(t, "0000:25:00.4"), VendorID: "10de", ProductID: "25b6", Class: pci.NewClass(0x030200)}
	for managed, want := range map[string]string{
		``: address + `}`, `,"managed":false`: address + `, "managed": false}`,
		`,"managed":true`: address + `, "managed": true}`, `,"managed":"false"`: address + `, "managed": false}`,
	} {
		d := pci.Selector{Spec: mustParse(t, `{"vendor_id":"10de"`+managed+`}`)}.Select([]pci.Device{device}).Selected()[0]
		r := pci.NewReport("host", d)
		if r.AttachInfo != want || r.CPIDInfo != address+"}" {
			t.Errorf("%s gives %s and %s", managed, r.AttachInfo, r.CPIDInfo)
		}
		if !json.Valid([]byte(r.AttachInfo)) {
			t.Errorf("%s is not JSON", r.AttachInfo)
		}
	}
}
