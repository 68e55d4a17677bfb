// Package reconciletest provides the two seams of package reconcile in memory:
// [Store], a database, and [Placement], a Placement service, both with faults
// on demand. Programs that import reconcile test with them what they build on
// it; reconcile's own model check runs on them.
//
// # Placement
//
// [Placement] keeps providers, inventories, traits, resource classes and
// allocations by the rules of Placement 15 at microversion 1.26: generations,
// 409 conflicts with their codes, reserved up to total, capacity of
// allocations. Its methods are one request each; Tree, Sync, Reserve and Drop
// make it a [reconcile.Placement]. Package placementtest serves it over HTTP.
//
// # Faults
//
// Every write of both asks its Fault function first. [Fault] counts writes and
// fails one of them, or all from one on as after a crash.
package reconciletest
