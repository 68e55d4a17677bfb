// Package specschema checks entries of [pci] device_spec against their JSON
// Schema.
package specschema
