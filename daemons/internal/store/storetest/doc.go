// Package storetest is the conformance suite of package store: the same cases
// on every database engine.
//
// [Run] takes a [Target], which opens stores on one database, and runs every
// case as a subtest. The cases share the database, so each works on hosts and
// names of its own, and they run in parallel.
package storetest
