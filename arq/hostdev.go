package arq

import (
	"fmt"

	"github.com/go-cyborg/cyborg/pci"
)

// Hostdev is what a hypervisor driver needs to assign a PCI attach handle.
type Hostdev struct {
	Address pci.Address
	// Managed allows the hypervisor to rebind the host driver around the
	// assignment; false leaves the binding as the operator prepared it.
	Managed bool
}

// Hostdev translates a PCI attach handle. Other handle types, an incomplete
// address and a managed value that is no JSON boolean give an *[InfoError].
func (h Handle) Hostdev() (Hostdev, error) {
	if h.Type != HandlePCI {
		return Hostdev{}, &InfoError{Text: h.Info.raw, Reason: fmt.Sprintf("attach type %s is no PCI device", h.Type)}
	}
	address, err := h.Info.Address()
	if err != nil {
		return Hostdev{}, err
	}
	managed, err := h.Info.Managed()
	if err != nil {
		return Hostdev{}, err
	}
	return Hostdev{Address: address, Managed: managed}, nil
}

// XML gives libvirt's hostdev element, as Nova's libvirt driver writes it.
func (d Hostdev) XML() string {
	managed := "yes"
	if !d.Managed {
		managed = "no"
	}
	a := d.Address
	return fmt.Sprintf(`<hostdev mode='subsystem' type='pci' managed='%s'>
  <driver name='vfio'/>
  <source>
    <address domain='0x%04x' bus='0x%02x' slot='0x%02x' function='0x%x'/>
  </source>
</hostdev>`, managed, a.Domain, a.Bus, a.Slot, a.Function)
}
