// Package demo plays Cyborg's whole mission on a PCI tree, against services that really run: discovery, report,
// bind, remotable calls, and every refusal that protects a guest.
//
// [Run] expands a recorded host into a temporary directory (or takes a tree of the caller's), starts the
// embedded services, and plays the steps through their REST API and RPC. Every step asserts what it shows; its
// detail is evidence as it came over the wire: bodies, envelopes, the inventory as Placement returns it, the text
// of each refusal. Nothing outside the temporary directory and loopback is touched.
package demo
