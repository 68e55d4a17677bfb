// Package specschema checks entries of [pci] device_spec against their JSON
// Schema (draft 2020-12).
//
// [Check] is the check that [pci.ParseDeviceSpec] takes; the package carries
// the schema. It states keys, types and the
// shape of addresses and ids; what it cannot state (ranges of address fields,
// validity of regular expressions) [pci.ParseDeviceSpec] checks itself. This
// is the only package that imports the schema library.
package specschema
