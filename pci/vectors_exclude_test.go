package pci_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
)

func TestVectorsExclude(t *testing.T) {
	t.Parallel()
	type device struct {
		Address, Class string
		VendorID       string `json:"vendor_id"`
		ProductID      string `json:"product_id"`
		TotalVFs       int    `json:"sriov_totalvfs"`
		Physfn         string
	}
	var file struct {
		Entries []struct {
			Entry      string
			Accept     bool
			Normalised string
		}
		Precedence []struct {
			Name       string
			DeviceSpec []string `json:"device_spec"`
			Exclude    []string `json:"exclude_list"`
			Devices    []device
			Selected   []string
		}
	}
	if !loadVectors(t, "exclude.json", &file) {
		return
	}
	for _, e := range file.Entries {
		vector(t, "entry "+e.Entry, func(t *testing.T) {
			list, err := pci.ParseExcludeList([]string{e.Entry}, "")
			if (err == nil) != e.Accept {
				t.Fatalf("accepted %t, want %t: %v", err == nil, e.Accept, err)
			}
			if e.Accept && (len(list.Addresses()) != 1 || list.Addresses()[0].String() != e.Normalised) {
				t.Errorf("addresses %v, want %s", list.Addresses(), e.Normalised)
			}
		})
	}
	for _, p := range file.Precedence {
		vector(t, "precedence "+p.Name, func(t *testing.T) {
			list, err := pci.ParseExcludeList(p.Exclude, "")
			if err != nil {
				t.Fatal(err)
			}
			var devices []pci.Device
			for _, v := range p.Devices {
				class, err := pci.ParseClass(v.Class)
				if err != nil {
					t.Fatal(err)
				}
				d := pci.Device{
					Address: mustAddress(t, v.Address), VendorID: v.VendorID, ProductID: v.ProductID,
					Class: class, TotalVFs: v.TotalVFs,
				}
				if v.Physfn != "" {
					parent := mustAddress(t, v.Physfn)
					d.Parent = &parent
				}
				devices = append(devices, d)
			}
			got := addresses(pci.Selector{Spec: mustParse(t, p.DeviceSpec...), Exclude: list}.Select(devices).Selected())
			slices.Sort(p.Selected)
			if diff := cmp.Diff(p.Selected, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVectorsClass(t *testing.T) {
	t.Parallel()
	var file struct {
		Classes []struct {
			Class    string `json:"sysfs_class"`
			Excluded bool
		}
	}
	if !loadVectors(t, "class.json", &file) {
		return
	}
	for _, c := range file.Classes {
		vector(t, "class "+c.Class, func(t *testing.T) {
			class, err := pci.ParseClass(c.Class)
			if err != nil {
				t.Fatal(err)
			}
			spec := mustParse(t, "{}")
			selection := pci.Selector{Spec: spec}.Select([]pci.Device{{Class: class}})
			if refused := selection.Err() != nil; refused != c.Excluded || class.Excluded() != c.Excluded {
				t.Errorf("refused %t, want %t", refused, c.Excluded)
			}
		})
	}
}
