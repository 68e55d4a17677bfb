package conductord

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// openStore connects to the database. One that is embedded is created or upgraded; a server's is left as it is.
func openStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	c := store.OptionsOf(cfg)
	c.Log = log
	if !c.Embedded() {
		db, err := store.Open(ctx, c)
		return db, databaseError(cfg, err)
	}
	db, err := store.Connect(ctx, c)
	if err != nil {
		return nil, databaseError(cfg, err)
	}
	return db, databaseError(cfg, db.Upgrade(ctx, ""))
}

func databaseError(cfg *config.Config, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("[database] connection at %s: %w", cfg.Origin("database", "connection"), err)
}

// newPlacement makes the client of the Placement that the configuration names, or of one in the process.
func newPlacement(cfg *config.Config) (*placement.Client, error) {
	switch auth := cfg.String("placement", "auth_type"); {
	case auth == "none" && cfg.String("placement", "endpoint_override") != "":
		return placement.NewNoAuth(cfg.String("placement", "endpoint_override"), nil, placement.Config{}), nil
	case auth != "":
		return nil, fmt.Errorf("[placement] auth_type at %s: %q is not supported: set none with endpoint_override, or unset it for a Placement in this process",
			cfg.Origin("placement", "auth_type"), auth)
	}
	service := placementtest.New(nil)
	host := cfg.String("agent", "resource_provider_name")
	if _, err := service.Placement.CreateProvider("", host, ""); err != nil {
		return nil, fmt.Errorf("host %s in Placement: %w", host, err)
	}
	return placement.NewNoAuth("http://placement.invalid", placementtest.Client(service), placement.Config{}), nil
}

// logNotifier logs what Nova would be told.
type logNotifier struct{ log *slog.Logger }

// Notify implements [conductor.Notifier].
func (n logNotifier) Notify(ctx context.Context, events []nova.Event) error {
	for _, e := range events {
		n.log.InfoContext(ctx, "event for nova, not sent", "name", e.Name, "instance", e.ServerUUID, "arq", e.Tag, "status", e.Status)
	}
	return nil
}
