// Package sysfs reads the PCI tree of a Linux host.
package sysfs
