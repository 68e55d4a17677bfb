package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// TestPeriodic: a report every interval; a configuration error withholds it and the agent goes on.
func TestPeriodic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &driver{discover: device(unmanaged)}
		c := &conductor{minor: 1, info: unmanaged, cpid: cpid}
		log := &lines{}
		a, err := agent.New(agent.Config{
			Hostname: "h", Drivers: []agent.Driver{d}, Conductor: c, Inventory: c, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		reports := func(after time.Duration, want int) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.reports) != want {
				t.Errorf("%d reports, want %d", len(c.reports), want)
			}
		}
		reports(0, 1)
		reports(agent.DefaultInterval+time.Second, 2)
		c.change(func(c *conductor) { c.info, c.inUse = managed, true }) // the guest's device, and somebody changed the row
		reports(agent.DefaultInterval, 2)
		if log.count("report withheld") != 1 {
			t.Errorf("log: %s", log.text.String())
		}
		d.finds(func() ([]*cyborg.DriverDevice, error) { return nil, errBroken })
		reports(agent.DefaultInterval, 2)
		if log.count("report failed") != 1 {
			t.Errorf("log: %s", log.text.String())
		}
		d.finds(device(unmanaged))
		c.change(func(c *conductor) { c.inUse = false })
		reports(agent.DefaultInterval, 3)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
}
