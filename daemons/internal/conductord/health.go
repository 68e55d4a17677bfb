package conductord

import (
	"context"
	"time"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// What /readyz shows beside the message bus. systemd does not wait for these: the conductor takes calls without them
// and says what is wrong.
const (
	conditionDatabase  = "database"
	conditionPlacement = "placement" // and Keystone, without which there is no Placement
)

const (
	lookEvery = 15 * time.Second
	lookFor   = 10 * time.Second // the longest a look may take
)

// health looks at what the conductor depends on, and counts what the database holds.
type health struct {
	readiness *service.Readiness
	counts    func(context.Context) (store.Counts, error)
	placement func(context.Context) error // nil: there is no other service
	metrics   *metrics
}

// newHealth says what readiness depends on.
func newHealth(p *service.Process, db *store.Store, ping func(context.Context) error, m *metrics) *health {
	h := &health{readiness: p.Readiness, counts: db.Counts, metrics: m}
	p.Readiness.Watch(conditionDatabase)
	if remotePlacement(p.Config) {
		h.placement = ping
		p.Readiness.Watch(conditionPlacement)
	}
	return h
}

// remotePlacement reports whether Placement is another service, not part of this process.
func remotePlacement(cfg *config.Config) bool {
	return cfg.String("placement", "auth_type") != "" || cfg.String("placement", "auth_section") != ""
}

func (h *health) run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		h.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (h *health) look(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	counts, err := h.counts(look)
	if ctx.Err() != nil {
		return
	}
	h.readiness.Set(conditionDatabase, err)
	if err == nil {
		h.metrics.count(counts)
	}
	if h.placement == nil {
		return
	}
	ping, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if err := h.placement(ping); ctx.Err() == nil {
		h.readiness.Set(conditionPlacement, err)
	}
}
