package reconciletest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// standardClasses are the resource classes of os-resource-classes 1.1.
var standardClasses = []string{
	"VCPU", "MEMORY_MB", "DISK_GB", "PCI_DEVICE", "SRIOV_NET_VF", "NUMA_SOCKET", "NUMA_CORE", "NUMA_THREAD",
	"NUMA_MEMORY_MB", "IPV4_ADDRESS", "VGPU", "VGPU_DISPLAY_HEAD", "NET_BW_EGR_KILOBIT_PER_SEC",
	"NET_BW_IGR_KILOBIT_PER_SEC", "PCPU", "MEM_ENCRYPTION_CONTEXT", "FPGA", "PGPU",
	"NET_PACKET_RATE_KILOPACKET_PER_SEC", "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC", "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC",
}

// standardTraits are the name spaces of os-traits; the names inside are not
// checked one by one.
var standardTraits = []string{"COMPUTE_", "HW_", "MISC_", "OWNER_", "STORAGE_"}

func (p *Placement) knownClass(name string) bool {
	return slices.Contains(standardClasses, name) || p.classes[name]
}

func (p *Placement) knownTrait(name string) bool { return standardTrait(name) || p.traits[name] }

func standardTrait(name string) bool {
	return slices.ContainsFunc(standardTraits, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// custom reports whether name is a valid custom trait or class.
func custom(name string) bool {
	if !strings.HasPrefix(name, "CUSTOM_") || len(name) > 255 || len(name) == len("CUSTOM_") {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// EnsureClass is PUT /resource_classes/{name}; created is false when it was
// there.
func (p *Placement) EnsureClass(name string) (created bool, err error) {
	p.before("EnsureClass")
	p.mu.Lock()
	defer p.mu.Unlock()
	if !custom(name) {
		return false, &PlacementError{400, CodeUndefined, fmt.Sprintf("JSON does not validate: '%s' does not match '^CUSTOM\\\\_[A-Z0-9_]+$'", name)}
	}
	return ensure(&p.classes, name, func() error { return p.fault("EnsureClass") })
}

// EnsureTrait is PUT /traits/{name}; created is false when it was there.
func (p *Placement) EnsureTrait(name string) (created bool, err error) {
	p.before("EnsureTrait")
	p.mu.Lock()
	defer p.mu.Unlock()
	if !custom(name) {
		return false, &PlacementError{400, CodeUndefined, `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`}
	}
	return ensure(&p.traits, name, func() error { return p.fault("EnsureTrait") })
}

func ensure(set *map[string]bool, name string, fault func() error) (bool, error) {
	if (*set)[name] {
		return false, nil
	}
	if err := fault(); err != nil {
		return false, err
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
	return true, nil
}

// Trait is GET /traits/{name}: nil when the trait exists.
func (p *Placement) Trait(name string) error {
	p.before("Trait")
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.knownTrait(name) {
		return &PlacementError{404, CodeUndefined, fmt.Sprintf("No such trait(s): %s.", name)}
	}
	return nil
}

// Class is GET /resource_classes/{name}: nil when the class exists.
func (p *Placement) Class(name string) error {
	p.before("Class")
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.knownClass(name) {
		return &PlacementError{404, CodeUndefined, fmt.Sprintf("No such resource class %s.", name)}
	}
	return nil
}

// CustomTraits lists the custom traits.
func (p *Placement) CustomTraits() []string {
	p.before("CustomTraits")
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.traits))
}

// CustomClasses lists the custom resource classes.
func (p *Placement) CustomClasses() []string {
	p.before("CustomClasses")
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.classes))
}

// DeleteTrait is DELETE /traits/{name}.
func (p *Placement) DeleteTrait(name string) error {
	p.before("DeleteTrait")
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case standardTrait(name):
		return &PlacementError{400, CodeUndefined, fmt.Sprintf("Cannot delete standard trait %s.", name)}
	case !p.traits[name]:
		return &PlacementError{404, CodeUndefined, fmt.Sprintf("No such trait(s): %s.", name)}
	}
	for _, q := range p.providers {
		if slices.Contains(q.traits, name) {
			return &PlacementError{409, CodeUndefined, fmt.Sprintf("The trait %s is in use by a resource provider.", name)}
		}
	}
	if err := p.fault("DeleteTrait"); err != nil {
		return err
	}
	delete(p.traits, name)
	return nil
}
