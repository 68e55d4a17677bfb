// Package transporttest checks that an [rpc.Transport] keeps the promises that package rpc builds on.
//
// Whoever implements a transport runs the suite from a test of its own:
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t *testing.T) transporttest.Pair { … })
//	}
//
// A transport that lives in the process runs each of [Cases] inside a bubble of testing/synctest instead, where no time
// passes for waiting. Cases that break things need a [Breaker] and are skipped without.
//
// The names of topics and queues are fresh in every case, so that several runs may share a broker.
package transporttest
