// Package upgradelevels is the one list of the RPC versions that clients may be limited to: what [upgrade_levels] takes
// and what it means when it is unset. The table of options validates against it, and the clients are made from it.
package upgradelevels
