// Package fake is Cyborg's fake driver: one constant FPGA with sixteen units, for tests of deployments without
// hardware. Its report equals the Python driver's byte for byte.
package fake
