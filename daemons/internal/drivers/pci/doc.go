// Package pci is Cyborg's generic PCI driver: it reports the PCI functions that [pci] device_spec selects.
//
// It validates its options when it is made, checks the conductor's cap when a rule says managed (InitHost),
// and at every discovery reads the host through a [Scanner] and applies inclusion, exclusion and class guard.
// What it reports equals the Python driver's report byte for byte.
package pci
