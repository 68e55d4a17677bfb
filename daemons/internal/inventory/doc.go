// Package inventory converts versioned objects into the plain inventory values that reconcile decides on: what
// drivers report ([Reported]), what a host has stored ([Stored]), and a stored device as a report that changes
// nothing ([Stub]). Agent and conductor share it, so that both read a report the same way. It converts and checks
// shape; it decides nothing.
package inventory
