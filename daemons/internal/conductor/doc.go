// Package conductor is the service that owns persisted state: it takes the reports of agents, carries out the
// life cycle of accelerator requests, and runs remotable object methods.
//
// It is thin. What a report changes is decided by reconcile, what a request may do by arq; rows are written by
// the store and Placement by the reconcile runner. This package translates objects and RPC arguments into their
// values, calls them, and tells Nova.
//
// [Manager] holds the methods; [Manager.Endpoint] registers those of RPC 1.0 and 1.1, and nothing else of it
// can be called from outside. A Manager is safe for concurrent use.
package conductor
