package pci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
)

func TestVectorsRegex(t *testing.T) {
	t.Parallel()
	var file struct {
		Subjects map[string][]string `json:"subjects"`
		Patterns []struct {
			Field, Pattern string
			Python         json.RawMessage
		}
	}
	if !loadVectors(t, "regex.json", &file) {
		return
	}
	for _, p := range file.Patterns {
		vector(t, p.Field+" "+p.Pattern, func(t *testing.T) {
			pattern, err := json.Marshal(p.Pattern)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := parse(t, fmt.Sprintf(`{"address":{%q:%s}}`, p.Field, pattern))
			var want []string
			if json.Unmarshal(p.Python, &want) != nil { // "error"
				if err == nil {
					t.Errorf("%q is accepted, Python refuses it", p.Pattern)
				}
				return
			}
			if err != nil {
				t.Fatalf("Python accepts it: %v", err)
			}
			var devices []pci.Device
			shape := map[string]string{"domain": "%s:00:00.0", "bus": "0000:%s:00.0", "slot": "0000:00:%s.0", "function": "0000:00:00.%s"}
			for _, s := range file.Subjects[p.Field] {
				address := mustAddress(t, fmt.Sprintf(shape[p.Field], s))
				devices = append(devices, pci.Device{Address: address, Class: pci.NewClass(0)})
			}
			got := addresses(pci.Selector{Spec: spec}.Select(devices).Selected())
			for i := range want {
				want[i] = fmt.Sprintf(shape[p.Field], want[i])
			}
			slices.Sort(want)
			if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
				t.Errorf("%q selects differently (-python +got):\n%s", p.Pattern, diff)
			}
		})
	}
}

// matchFile is match.json.
type matchFile struct {
	SysFS struct {
		Netdevs map[string]struct {
			Address          string `json:"address"`
			PhysicalFunction bool   `json:"physical_function"`
		}
		PhysicalFunctions []string `json:"physical_functions"`
	}
	Devices []struct {
		Name, Address string
		VendorID      string  `json:"vendor_id"`
		ProductID     string  `json:"product_id"`
		Parent        *string `json:"parent_addr"`
	}
	Cases []struct {
		ID, Group string
		Entries   []string
		Python    struct {
			Error                string
			Matches              []string
			MatchesWithoutParent []string `json:"matches_without_parent"`
		}
		Strict json.RawMessage
	}
}

// hostDevices gives the devices with the facts that the doubles of the peer
// had, and their names.
func (f matchFile) hostDevices(t *testing.T) ([]pci.Device, map[pci.Address]string) {
	t.Helper()
	var devices []pci.Device
	names := map[pci.Address]string{}
	for _, v := range f.Devices {
		d := pci.Device{
			Address: mustAddress(t, v.Address), VendorID: v.VendorID, ProductID: v.ProductID, Class: pci.NewClass(0x020000),
		}
		if v.Parent != nil {
			parent := mustAddress(t, *v.Parent)
			d.Parent = &parent
		}
		if slices.Contains(f.SysFS.PhysicalFunctions, v.Address) {
			d.TotalVFs = 8
		}
		for name, dev := range f.SysFS.Netdevs {
			if mustAddress(t, dev.Address) == d.Address {
				d.NetDevs = append(d.NetDevs, name)
			}
		}
		devices = append(devices, d)
		names[d.Address] = v.Name
	}
	return devices, names
}

// place is one refused place of a configuration.
type place struct {
	Value   int    `json:"option_value"`
	Element *int   `json:"element"`
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
}

func (p place) String() string {
	if p.Element == nil {
		return fmt.Sprintf("%d %q %s", p.Value, p.Pointer, p.Reason)
	}
	return fmt.Sprintf("%d/%d %q %s", p.Value, *p.Element, p.Pointer, p.Reason)
}

func places(t *testing.T, err error) []string {
	t.Helper()
	config, ok := errors.AsType[*pci.ConfigError](err)
	if !ok {
		t.Fatalf("want a ConfigError, got %v", err)
	}
	var out []string
	for _, e := range config.Entries {
		p := place{Value: e.Value, Pointer: e.Pointer, Reason: e.Reason}
		if e.Element >= 0 {
			p.Element = &e.Element
		}
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

func TestVectorsMatch(t *testing.T) {
	t.Parallel()
	var file matchFile
	if !loadVectors(t, "match.json", &file) {
		return
	}
	devices, names := file.hostDevices(t)
	for _, c := range file.Cases {
		vector(t, c.ID, func(t *testing.T) {
			spec, err := parse(t, c.Entries...)
			var refused []place
			if json.Unmarshal(c.Strict, &refused) == nil {
				var want []string
				for _, p := range refused {
					want = append(want, p.String())
				}
				slices.Sort(want)
				if diff := cmp.Diff(want, places(t, err)); diff != "" {
					t.Errorf("%q refused at other places (-want +got):\n%s", c.Entries, diff)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", c.Entries, err)
			}
			if c.Python.Error != "" {
				return // accepted here and not there: nothing to compare with
			}
			for _, withParent := range []bool{true, false} {
				want := c.Python.MatchesWithoutParent
				if withParent {
					want = c.Python.Matches
				}
				got := []string{}
				for _, d := range (pci.Selector{Spec: spec, MatchParent: withParent}).Select(devices).Selected() {
					got = append(got, names[d.Device.Address])
				}
				slices.Sort(got)
				if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
					t.Errorf("%q with parent %t selects differently (-python +got):\n%s", c.Entries, withParent, diff)
				}
			}
		})
	}
}
