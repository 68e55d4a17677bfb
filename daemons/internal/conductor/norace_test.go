//go:build !race

package conductor_test

// slowdown is how much longer code may take under the race detector.
const slowdown = 1
