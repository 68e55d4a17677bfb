// Command reconcile measures inventory reconciliation without any service: the pure decisions (Diff, the managed-mode check) and whole runs
// (Run: read, Diff, Apply) on the in-memory store and Placement of reconcile/reconciletest.
//
// Usage:
//
//	reconcile [-rounds 5] [-largest 100000]
//
// Devices have one deployable with one attach handle and four attributes. Every figure is the median of the rounds. What real databases and a real
// Placement add is measured beside the store and by the side-by-side test of daemons/internal/conductord. Output is a section of docs/benchmarks.md.
package main
