// Package sysfs reads the PCI functions of a Linux host from its sysfs tree.
//
//	devices, warnings, err := sysfs.New("/sys").Scan()
//
// The root is a value: tests and demonstrations read a directory of the same
// shape (package sysfstest builds one from text). The package builds
// everywhere, because nothing in it but the meaning of the files is Linux.
//
// # What is read
//
// Every entry of bus/pci/devices, named by its address, with the files vendor,
// device, class, numa_node and sriov_totalvfs, the links driver and physfn, and
// the directories vfio-dev and net. Ids come from vendor and
// device alone: the raw configuration header of a virtual function holds
// ffff:ffff.
//
// # What happens when devices come and go
//
// A device that vanishes while it is read (its files answer "no such file" or
// "no such device", or its link in bus/pci/devices leads nowhere) is left out
// with a warning. So are devices in domains above ffff, which no attach handle
// can name, and devices that have fallen off the bus (vendor ffff). The parent
// of a virtual function may be gone; the function stays. Any other failure,
// and a missing or empty bus/pci/devices, is an error: a caller must never
// take an unreadable host for an empty one, or it would withdraw every free
// device.
package sysfs
