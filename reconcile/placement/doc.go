// Package placement talks to OpenStack's Placement service as
// [reconcile.Runner] needs it: [Client] implements [reconcile.Placement] over
// gophercloud.
//
//	client := placement.New(service, placement.Config{}) // an authenticated gophercloud service client
//	runner := &reconcile.Runner{Store: db, Placement: client}
//
// # Requests
//
// Every request asks for one microversion, [Microversion]. A host's tree is
// one request; a new provider takes three: POST, PUT traits, PUT inventories,
// each carrying the generation the one before answered. Traits come before the
// inventory, so nothing is scheduled onto a provider that is not described.
// Traits of a known provider that somebody else set survive.
//
// Custom traits and resource classes are created once per client, when first
// needed; standard names are never created (Placement answers 400). A name
// that vanished is created again once.
//
// # Conflicts and errors
//
// A generation conflict (409 placement.concurrent_update) reads the provider,
// asks the state's Refresh for what is to be written now, and writes the whole
// provider again, at most ten times with growing random pauses. A conflict
// about allocations is a *[reconcile.InUseError]. No answer within the
// configured time, a status from 500, 401, 403, 408 and 429 are a
// *[reconcile.TransportError]; any other unexpected status is an *[Error] with
// Placement's code and words. The status of every answer is checked.
//
// A Client is safe for concurrent use. It starts no goroutine, logs nothing,
// and retries nothing but generation conflicts: the next report does the rest.
package placement
