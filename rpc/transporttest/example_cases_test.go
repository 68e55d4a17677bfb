package transporttest_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/rpc/transporttest"
)

// A test of a transport runs all cases with [transporttest.Run], or each by itself, in a bubble of its own for instance.
func ExampleCases() {
	for _, c := range transporttest.Cases() {
		if c.Breaks { // these need a Breaker
			fmt.Println(c.Name)
		}
	}
	// Output:
	// listening is told before and after a loss
	// a deleted reply queue comes back
}
