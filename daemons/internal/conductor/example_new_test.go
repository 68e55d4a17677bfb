package conductor_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
)

// A conductor is made of its collaborators; none may be missing.
func ExampleNew() {
	_, err := conductor.New(conductor.Config{})
	fmt.Println(err)
	// Output: conductor: store, placement, notifier, agents, registry and dispatcher are required
}
