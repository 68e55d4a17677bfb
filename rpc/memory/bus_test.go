package memory_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/rpc/memory"
	"github.com/go-cyborg/cyborg/rpc/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance runs the suite in bubbles, where every wait is over at once.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, c := range transporttest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.Breaks {
				t.Skip("a bus cannot be broken")
			}
			synctest.Test(t, func(t *testing.T) {
				bus := memory.New()
				c.Run(t, transporttest.Pair{Client: bus, Server: bus})
			})
		})
	}
}
