// Package placementtest is a Placement service in the process: a
// [reconciletest.Placement] behind the HTTP API that the real one has, for
// tests and for a Cyborg that runs on its own without an OpenStack.
//
// [New] makes the handler; [Client] an HTTP client that calls a handler
// without a network. Together they stand where Placement would:
//
//	service := placementtest.New(nil)
//	client := placement.NewNoAuth("http://placement.invalid", placementtest.Client(service), placement.Config{})
//
// # What it answers
//
// Version document, resource providers (list by name, uuid and tree; show,
// create, delete), inventories (all and one class), traits (of a provider,
// show, create, delete), resource classes, usages, allocations and allocation
// candidates of a single provider, at microversions 1.0 to 1.39 with the
// shapes, statuses, error bodies, codes and generations of Placement 15,
// against whose recorded answers it is tested. Tokens are not asked for and
// nothing is kept on disk. Whole classes and name spaces of traits count as
// standard; see [reconciletest.Placement].
package placementtest
