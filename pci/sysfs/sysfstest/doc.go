// Package sysfstest builds sysfs-like trees from text, for tests and for
// demonstrations that must not touch the real /sys.
//
// A [Tree] comes from a table of devices ([ParseDevices]) or from a recorded
// tree in JSON ([ParseJSON]); trees can be merged ([Merge]). [Tree.Expand]
// writes one into a directory, symbolic links included, which
// sysfs.New can then read. The package does not import testing.
//
// # Table of devices
//
// One device a line, columns separated by tabs or two and more blanks, comment
// lines beginning with "#":
//
//	address  vendor  device  class  driver|-  numa|-  extra...
//
// class has four or six digits. numa "-" means that there is no numa_node file
// at all. extra are blank-separated words: totalvfs=N numvfs=N physfn=ADDRESS
// vf=N net=NAME vgpu=TYPE nvme=CONTROLLER:NAMESPACE,... vfio=NAME rev=XX
// name="text".
//
// # Recorded tree
//
// A JSON object whose member "tree" maps absolute paths under /sys to nodes:
// {"dir":true}, {"link":"target"}, {"text":"content"}, {"b64":"content"}.
// Other nodes and other paths are left out.
package sysfstest
