package pci_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/pci"
)

func drawAddress(t *rapid.T) pci.Address {
	return pci.Address{
		Domain:   rapid.SampledFrom([]uint16{0, 1, 0xffff}).Draw(t, "domain"),
		Bus:      rapid.SampledFrom([]uint8{0, 0x0a, 0x81}).Draw(t, "bus"),
		Slot:     rapid.SampledFrom([]uint8{0, 0x10, 0x1f}).Draw(t, "slot"),
		Function: rapid.Uint8Range(0, 7).Draw(t, "function"),
	}
}

func drawDevices(t *rapid.T) []pci.Device {
	found := rapid.SliceOfNDistinct(rapid.Custom(drawAddress), 0, 12, func(a pci.Address) pci.Address { return a }).Draw(t, "addresses")
	devices := make([]pci.Device, len(found))
	for i, a := range found {
		devices[i] = pci.Device{
			Address:   a,
			VendorID:  rapid.SampledFrom([]string{"8086", "10de", "144d"}).Draw(t, "vendor"),
			ProductID: rapid.SampledFrom([]string{"10ca", "25b6"}).Draw(t, "product"),
			Class:     rapid.SampledFrom([]pci.Class{pci.NewClass(0x020000), pci.NewClass(0x010802), {}}).Draw(t, "class"),
			TotalVFs:  rapid.IntRange(0, 2).Draw(t, "totalvfs"),
		}
		if i > 0 && rapid.Bool().Draw(t, "vf") {
			parent := found[0]
			devices[i].Parent = &parent
		}
	}
	return devices
}

func drawSelector(t *rapid.T) pci.Selector {
	entries := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{}`, `[]`, `{"vendor_id":"8086"}`, `{"vendor_id":"10de","managed":false}`, `{"product_id":"25b6","managed":true}`,
		`{"address":"0a:"}`, `{"address":{"function":"(?!0)"}}`, `{"address":"0000:00:00.0"}`, `{"devname":"eth0"}`,
	}), 0, 4).Draw(t, "entries")
	values := make([]pci.OptionValue, len(entries))
	for i, text := range entries {
		values[i].Text = text
	}
	spec, err := pci.ParseDeviceSpec(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	var excluded []string
	for _, a := range rapid.SliceOfN(rapid.Custom(drawAddress), 0, 6).Draw(t, "excluded") {
		excluded = append(excluded, a.String())
	}
	list, err := pci.ParseExcludeList(excluded, "")
	if err != nil {
		t.Fatal(err)
	}
	return pci.Selector{
		Spec: spec, Exclude: list,
		AllowUnsafe: rapid.Bool().Draw(t, "unsafe"), MatchParent: rapid.Bool().Draw(t, "parent"),
	}
}

// TestSelectorProperties checks what holds for every configuration and host.
func TestSelectorProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		devices, s := drawDevices(t), drawSelector(t)
		before := slices.Clone(devices)
		selection := s.Select(devices)
		if !reflect.DeepEqual(before, devices) {
			t.Fatal("the devices were changed")
		}
		if len(selection.Decisions) != len(devices) {
			t.Fatalf("%d decisions for %d devices", len(selection.Decisions), len(devices))
		}
		open, shut := s, s
		open.Exclude, open.AllowUnsafe = pci.ExcludeList{}, true
		shut.AllowUnsafe = false
		included, guarded := open.Select(devices), shut.Select(devices)
		for i, d := range selection.Decisions {
			if i > 0 && selection.Decisions[i-1].Device.Address.Compare(d.Device.Address) >= 0 {
				t.Fatal("decisions do not ascend")
			}
			matched := included.Decisions[i].Verdict == pci.Selected
			excluded := s.Exclude.Contains(d.Device.Address)
			dangerous := d.Device.Class.Excluded() || !d.Device.Class.Known()
			want := pci.Selected
			switch {
			case !matched:
				want = pci.Unmatched
			case excluded:
				want = pci.Excluded
			case dangerous && !s.AllowUnsafe:
				want = pci.Refused
			}
			if d.Verdict != want || d.Reason == "" || (d.Rule == nil) != (want == pci.Unmatched) {
				t.Fatalf("%+v, want %s", d, want)
			}
			if d.Unsafe != (want == pci.Selected && dangerous) {
				t.Fatalf("%+v: unsafe is wrong", d)
			}
			if guarded.Decisions[i].Verdict == pci.Selected && want != pci.Selected {
				t.Fatalf("%+v: the workaround took a device away", d)
			}
		}
		slices.Reverse(devices)
		if !reflect.DeepEqual(selection, s.Select(devices)) {
			t.Fatal("the order of the devices matters")
		}
	})
}
