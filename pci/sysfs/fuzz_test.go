package sysfs

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/go-cyborg/cyborg/pci"
)

// memory is one device in memory.
type memory map[string]string

func (m memory) read(name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (m memory) link(name string) (string, error) {
	text, err := m.read(name)
	return string(text), err
}

func (m memory) list(name string) ([]string, error) {
	text, err := m.link(name)
	return []string{text}, err
}

func (m memory) sub(string) (directory, error) { return m, nil }

func (m memory) close() error { return nil }

// FuzzDevice feeds arbitrary attributes to the reader: it must not panic, and
// what it gives must be in the form that rules compare with.
func FuzzDevice(f *testing.F) {
	f.Add("0x8086\n", "0x10ca\n", "0x020000\n", "-1\n", "8\n", "../0000:01:00.0", "../../bus/pci/drivers/igb")
	f.Add("0xffff\n", "0xffff", "0x0108", "1", "x", "../10000:01:00.0", "/")
	f.Add("", "garbage", "", "", "-1", "", "")
	f.Fuzz(func(t *testing.T, vendor, device, class, numa, vfs, physfn, driver string) {
		m := memory{
			"vendor": vendor, "device": device, "class": class, "numa_node": numa,
			"sriov_totalvfs": vfs, "physfn": physfn, "driver": driver,
		}
		d, _, err := readDevice(m, "", pci.Address{})
		if err != nil {
			if isGone(err) && !errors.Is(err, errOffBus) {
				t.Errorf("no file was missing: %v", err)
			}
			return
		}
		for _, id := range []string{d.VendorID, d.ProductID} {
			if _, err := pci.ParseAddressFields(id, "0", "0", "0"); err != nil || len(id) != 4 {
				t.Errorf("id %q", id)
			}
		}
		if d.NUMANode != nil && *d.NUMANode < 0 || d.TotalVFs < 0 {
			t.Errorf("%+v", d)
		}
	})
}
