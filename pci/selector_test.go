package pci_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

// caseDevices scans the tree of a table in testdata/cases.
func caseDevices(t *testing.T, name string) []pci.Device {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cases", name+".devs"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sysfstest.ParseDevices(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return scanTree(t, tree)
}

func exclude(t *testing.T, elements ...string) pci.ExcludeList {
	t.Helper()
	list, err := pci.ParseExcludeList(elements, "")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func codes(warnings []pci.Warning) []string {
	var out []string
	for _, w := range warnings {
		out = append(out, string(w.Code)+" "+w.Where)
	}
	return out
}

// TestFieldCases selects on the tables of field reports.
func TestFieldCases(t *testing.T) {
	t.Parallel()
	const a16 = `{"vendor_id": "10de", "product_id": "25b6", "address": "0000:25:00.4", "managed": false}`
	const ens = `[{"devname": "ens1f0", "physical_network": "physnet1"},{"devname": "ens1f1"},{"devname":"ens9"}]`
	for name, tc := range map[string]struct {
		table    string
		entries  []string
		selector pci.Selector
		want     []string
		refused  []string
	}{
		"variant driver": {
			table: "001-vgpu-vf-managed-false", entries: []string{a16, strings.Replace(a16, ".4", ".5", 1)},
			want: []string{"0000:25:00.4", "0000:25:00.5"},
		},
		"wide domain": {
			table: "003-vmd-five-digit-domain", entries: []string{`{"vendor_id": "8086", "product_id": "37c8"}`},
			want: []string{"0000:b1:00.0", "0000:b3:00.0"},
		},
		"wide domain, whole vendor": {
			table: "003-vmd-five-digit-domain", entries: []string{`{"vendor_id": "8086"}`},
			selector: pci.Selector{Exclude: exclude(t, "0000:5d:05.5")},
			want:     []string{"0000:b1:00.0", "0000:b3:00.0"},
		},
		"unknown vendor":    {table: "007-lspci-line-shapes", entries: []string{`{"vendor_id":"1e36"}`}, want: []string{"0000:3b:00.0"}},
		"vendor of a NIC":   {table: "007-lspci-line-shapes", entries: []string{`{"vendor_id":"15b3"}`}, want: []string{"0000:17:00.0", "0000:17:00.1"}},
		"product alone":     {table: "007-lspci-line-shapes", entries: []string{`{"product_id":"37c9"}`}, want: []string{"0000:b1:01.0"}},
		"fallen off":        {table: "007-lspci-line-shapes", entries: []string{`{"vendor_id":"ffff"}`}, want: []string{}},
		"interfaces":        {table: "011-tripleo-list-in-one-option", entries: []string{ens}, want: []string{"0000:3b:00.0", "0000:3b:00.1"}},
		"NVMe refused":      {table: "015-nvme-class-gate", entries: []string{`{"vendor_id": "144d"}`}, want: []string{"0000:60:00.0"}, refused: []string{"0000:5e:00.0", "0000:5e:00.1"}},
		"NVMe not selected": {table: "015-nvme-class-gate", entries: []string{`{"vendor_id": "8086"}`}, want: []string{"0000:00:17.0", "0000:5d:05.5", "0000:b1:00.0"}},
		"NVMe excluded": {
			table: "015-nvme-class-gate", entries: []string{`{"vendor_id": "144d"}`},
			selector: pci.Selector{Exclude: exclude(t, "0000:5e:00.0", "0000:5e:00.1")}, want: []string{"0000:60:00.0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.selector.Spec = mustParse(t, tc.entries...)
			devices := caseDevices(t, tc.table)
			selection := tc.selector.Select(devices)
			if diff := cmp.Diff(tc.want, addresses(selection.Selected())); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
			if len(selection.Decisions) != len(devices) {
				t.Errorf("%d decisions for %d devices", len(selection.Decisions), len(devices))
			}
			err := selection.Err()
			if class, ok := errors.AsType[*pci.ClassError](err); ok != (tc.refused != nil) || ok && !cmp.Equal(tc.refused, addresses(class.Refused)) {
				t.Errorf("class error %v, want %v", err, tc.refused)
			}
		})
	}
}

// TestParentAndFunctionsShareIDs is the card whose physical function and 24
// virtual functions share vendor and product id.
func TestParentAndFunctionsShareIDs(t *testing.T) {
	t.Parallel()
	const name = "005-pf-and-vf-share-ids"
	data, err := os.ReadFile(filepath.Join("testdata", "cases", name+".expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expect struct {
		Reported []struct {
			Address string
			Managed bool
		}
	}
	if err := json.Unmarshal(data, &expect); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range expect.Reported {
		want = append(want, r.Address)
	}
	slices.Sort(want)
	devices := caseDevices(t, name)
	spec := mustParse(t, `{"vendor_id": "10de", "product_id": "2bb5", "managed": false}`)

	selection := pci.Selector{Spec: spec, Exclude: exclude(t, "0001:04:00.0")}.Select(devices)
	if diff := cmp.Diff(want, addresses(selection.Selected())); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
	for _, d := range selection.Selected() {
		if d.Managed || !d.ManagedExplicit || d.Rule.Value != 0 {
			t.Errorf("%+v", d)
		}
	}
	i := slices.IndexFunc(selection.Decisions, func(d pci.Decision) bool { return d.Verdict == pci.Excluded })
	if d := selection.Decisions[i]; d.Device.Address.String() != "0001:04:00.0" || d.Reason != "named in [pci] exclude_list" {
		t.Errorf("%+v", d)
	}

	everything := pci.Selector{Spec: spec}.Select(devices)
	if n := len(everything.Selected()); n != 26 {
		t.Errorf("%d selected without exclusion, want 26", n)
	}
	if !slices.Contains(codes(everything.Warnings), "parent_with_vfs 0001:04:00.0") {
		t.Errorf("no warning that parent and functions go together: %v", codes(everything.Warnings))
	}
	sibling := pci.Selector{Spec: spec, Exclude: exclude(t, "0001:04:00.2")}.Select(devices).Selected()
	if len(sibling) != 25 || !slices.Contains(addresses(sibling), "0001:04:00.0") {
		t.Errorf("excluding a virtual function selects %v", addresses(sibling))
	}
}

func TestClassErrorText(t *testing.T) {
	t.Parallel()
	spec := mustParse(t, `{"vendor_id": "144d"}`)
	err := pci.Selector{Spec: spec}.Select(caseDevices(t, "015-nvme-class-gate")).Err()
	want := "the generic pci driver refuses devices of an excluded pci class: " +
		"0000:5e:00.0 (class 0108, 0x010802, kernel driver nvme, selected by [pci] device_spec, value 1), " +
		"0000:5e:00.1 (class 0108, 0x010802, kernel driver nvme, selected by [pci] device_spec, value 1); " +
		"narrow [pci] device_spec, name the addresses in [pci] exclude_list, or set " +
		"[workarounds] allow_unsafe_devices = true and answer for data left on the devices between tenants"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAllowUnsafe(t *testing.T) {
	t.Parallel()
	selector := pci.Selector{Spec: mustParse(t, `{"vendor_id": "144d"}`), AllowUnsafe: true}
	devices := caseDevices(t, "015-nvme-class-gate")
	selection := selector.Select(devices)
	if err := selection.Err(); err != nil {
		t.Fatal(err)
	}
	unsafe := map[string]bool{}
	for _, d := range selection.Selected() {
		unsafe[d.Device.Address.String()] = d.Unsafe
	}
	if diff := cmp.Diff(map[string]bool{"0000:5e:00.0": true, "0000:5e:00.1": true, "0000:60:00.0": false}, unsafe); diff != "" {
		t.Errorf("unsafe (-want +got):\n%s", diff)
	}
	isUnsafe := func(w pci.Warning) bool { return w.Code == pci.WarnUnsafe }
	first := slices.DeleteFunc(slices.Clone(selection.Warnings), func(w pci.Warning) bool { return !isUnsafe(w) })
	if len(first) != 2 || !strings.Contains(first[0].Message, "generic pci driver") || !strings.Contains(first[0].Message, "operator is responsible") {
		t.Errorf("warnings %v", first)
	}

	// The same devices again: nothing new. One away and back: warned again.
	again := selector.Select(devices)
	if fresh := again.NewWarnings(selection); fresh != nil {
		t.Errorf("repeated: %v", fresh)
	}
	without := selector.Select(slices.DeleteFunc(slices.Clone(devices), func(d pci.Device) bool {
		return d.Address == mustAddress(t, "0000:5e:00.1")
	}))
	if fresh := again.NewWarnings(without); !slices.ContainsFunc(fresh, func(w pci.Warning) bool {
		return isUnsafe(w) && w.Where == "0000:5e:00.1"
	}) {
		t.Errorf("not warned again: %v", fresh)
	}
}

// TestUnknownClassFailsClosed: a selected device whose class cannot be read is
// refused; one that no rule selects is not.
func TestUnknownClassFailsClosed(t *testing.T) {
	t.Parallel()
	devices := []pci.Device{{Address: mustAddress(t, "0000:01:00.0"), VendorID: "8086", ProductID: "10c9"}}
	selected := pci.Selector{Spec: mustParse(t, `{"vendor_id":"8086"}`)}.Select(devices)
	err := selected.Err()
	if _, config := errors.AsType[*pci.ClassError](err); config || !errors.Is(err, pci.ErrUnknownClass) ||
		!strings.Contains(err.Error(), "0000:01:00.0 (class unknown") {
		t.Errorf("error %v", err)
	}
	other := pci.Selector{Spec: mustParse(t, `{"vendor_id":"10de"}`)}.Select(devices)
	if err := other.Err(); err != nil || other.Decisions[0].Verdict != pci.Unmatched {
		t.Errorf("%+v, error %v", other.Decisions[0], err)
	}
}

func TestFirstMatchingRuleDecidesManaged(t *testing.T) {
	t.Parallel()
	device := pci.Device{Address: mustAddress(t, "0000:01:00.0"), VendorID: "8086", ProductID: "10c9", Class: pci.NewClass(0x020000)}
	const byVendor, byProduct = `{"vendor_id":"8086"%s}`, `{"product_id":"10c9"%s}`
	rule := func(pattern, managed string) string { return strings.Replace(pattern, "%s", managed, 1) }
	for name, tc := range map[string]struct {
		entries           []string
		managed, explicit bool
		value             int
		warned            bool
	}{
		"implied":             {[]string{rule(byVendor, "")}, true, false, 0, false},
		"false":               {[]string{rule(byVendor, `,"managed":false`)}, false, true, 0, false},
		"text":                {[]string{rule(byVendor, `,"managed":"true"`)}, true, true, 0, false},
		"implied, then false": {[]string{rule(byVendor, ""), rule(byProduct, `,"managed":false`)}, true, false, 0, true},
		"false, then implied": {[]string{rule(byVendor, `,"managed":false`), rule(byProduct, "")}, false, true, 0, false},
		"false, then true":    {[]string{rule(byVendor, `,"managed":false`), rule(byProduct, `,"managed":true`)}, false, true, 0, true},
		"second matches":      {[]string{`{"vendor_id":"10de","managed":true}`, rule(byProduct, `,"managed":false`)}, false, true, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selection := pci.Selector{Spec: mustParse(t, tc.entries...)}.Select([]pci.Device{device})
			d := selection.Decisions[0]
			if d.Managed != tc.managed || d.ManagedExplicit != tc.explicit || d.Rule.Value != tc.value || d.Verdict != pci.Selected {
				t.Errorf("%+v", d)
			}
			if warned := slices.Contains(codes(selection.Warnings), "managed_differs 0000:01:00.0"); warned != tc.warned {
				t.Errorf("warnings %v", selection.Warnings)
			}
		})
	}
}

func TestNotAssignableWarning(t *testing.T) {
	t.Parallel()
	devices := scanFixture(t, "q35-igb-variant.json")
	spec := mustParse(t, `{"vendor_id":"8086","product_id":"10ca","managed":false}`)
	got := codes(pci.Selector{Spec: spec}.Select(devices).Warnings)
	// .0 is bound to a variant driver, .2 to vfio-pci, .4 to nothing
	if diff := cmp.Diff([]string{"not_assignable 0000:81:10.4"}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	managed := mustParse(t, `{"vendor_id":"8086","product_id":"10ca"}`)
	if got := (pci.Selector{Spec: managed}).Select(devices).Warnings; got != nil {
		t.Errorf("warnings %v", got)
	}
}

func TestMatchParentOption(t *testing.T) {
	t.Parallel()
	devices := scanFixture(t, "q35-igb-nvme-vfs.json")
	for _, entry := range []string{`{"address":"0000:81:00.0"}`, `{"devname":"eth1"}`} {
		spec := mustParse(t, entry)
		alone := addresses(pci.Selector{Spec: spec}.Select(devices).Selected())
		if diff := cmp.Diff([]string{"0000:81:00.0"}, alone); diff != "" {
			t.Errorf("%s by default (-want +got):\n%s", entry, diff)
		}
		with := addresses(pci.Selector{Spec: spec, MatchParent: true}.Select(devices).Selected())
		if diff := cmp.Diff([]string{"0000:81:00.0", "0000:81:10.0", "0000:81:10.2", "0000:81:10.4"}, with); diff != "" {
			t.Errorf("%s with parents (-want +got):\n%s", entry, diff)
		}
	}
}
