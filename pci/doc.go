// Package pci decides which PCI functions of a host an accelerator service
// may manage, and how each of them is reported.
//
// # Words
//
// A [Device] is one PCI function (domain:bus:slot.function) with the facts
// that a host knows of it: ids, class, driver, NUMA node, SR-IOV relations. A
// [Rule] is one inclusion rule of the option [pci] device_spec; [DeviceSpec]
// is all of them in configuration order. [ExcludeList] is the option [pci]
// exclude_list. The class guard refuses devices whose PCI class the generic
// PCI driver cannot hand out safely (NVMe, which it cannot clean). A
// [Selector] applies inclusion, then exclusion, then the class guard, and
// returns a [Selection]: one [Decision] for every device it was given, with
// the rule, the managed mode and the reason. After selection nobody needs to
// read the rules again.
//
// # Use
//
//	spec, err := pci.ParseDeviceSpec(values, specschema.Check)
//	exclude, err := pci.ParseExcludeList(addresses, "")
//	devices, warnings, err := sysfs.New("/sys").Scan()
//	selection := pci.Selector{Spec: spec, Exclude: exclude}.Select(devices)
//	if err := selection.Err(); err != nil { ... }
//	for _, d := range selection.Selected() {
//		report := pci.NewReport(host, d)
//	}
//
// # What it does not do
//
// The package is pure: it reads no file, no clock and no environment, keeps no
// state and logs nothing. Facts of the host come in as values (package
// pci/sysfs reads them on Linux), warnings go out as values. The JSON Schema
// check of entries is a function parameter (package pci/specschema supplies
// it), so that importing this package brings in nothing but the standard
// library. All types are safe for concurrent reading.
//
// # Compatibility
//
// Address patterns follow the Python implementation (Cyborg 17.0.0): glob
// addresses, and regular expressions of Python's re module with match-at-start
// semantics, run by a parser and matcher of their own. The reported texts
// ([NewReport]) equal the Python generic PCI driver's byte for byte, because
// conductors compare them as text. Managed mode, exclusion, class guard and
// strict validation follow the specification "Support VFIO variant driver
// managed mode in Cyborg" (2027.1).
package pci
