// Package nvmesim is an NVMe controller in memory: an [nvme.Transport] for tests of erase code and for trying a policy.
//
// It keeps the data of its namespaces, so a test can write a secret, erase and look for it. Sanitize runs in the background
// of the drive: each read of the Sanitize Status log is one step of progress. What a real drive may refuse is a field of
// [Config].
package nvmesim
