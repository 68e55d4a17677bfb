package conductord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
	"github.com/go-cyborg/cyborg/daemons/internal/keystone"
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
	if err := db.Upgrade(ctx, ""); err != nil {
		return nil, errors.Join(databaseError(cfg, err), db.Close())
	}
	return db, nil
}

func databaseError(cfg *config.Config, err error) error {
	if err == nil {
		return nil
	}
	place := cfg.Origin("database", "connection")
	if _, names := errors.AsType[*store.URLError](err); names { // the option
		return fmt.Errorf("%s: %w", place, err)
	}
	return fmt.Errorf("[database] connection at %s: %w", place, err)
}

// newPlacement makes the client of the Placement that the configuration names, or of one in the process.
func newPlacement(cfg *config.Config, c placement.Config) (*placement.Client, error) {
	if remotePlacement(cfg) {
		session, err := keystone.New(keystone.OptionsOf(cfg, "placement"))
		if err != nil {
			return nil, err
		}
		return placement.New(session.Service("placement"), c), nil
	}
	service := placementtest.New(nil)
	host := cfg.String("agent", "resource_provider_name")
	if _, err := service.Placement.CreateProvider("", host, ""); err != nil {
		return nil, fmt.Errorf("host %s in Placement: %w", host, err)
	}
	return placement.NewNoAuth("http://placement.invalid", placementtest.Client(service), c), nil
}

// newNotifier makes the client of Nova. Without [nova] auth_type what Nova would be told is logged.
func newNotifier(cfg *config.Config, log *slog.Logger) (conductor.Notifier, error) {
	if cfg.String("nova", "auth_type") == "" && cfg.String("nova", "auth_section") == "" {
		return logNotifier{log}, nil
	}
	session, err := keystone.New(keystone.OptionsOf(cfg, "nova"))
	if err != nil {
		return nil, err
	}
	return nova.New(session.Service("compute")), nil
}

// newImages makes the client of the image service, with the credentials of [placement]; without them there is none.
func newImages(cfg *config.Config) (conductor.Images, error) {
	if !remotePlacement(cfg) {
		return nil, nil
	}
	o := keystone.OptionsOf(cfg, "placement")
	o.ServiceType, o.ServiceName, o.EndpointOverride = "image", "", cfg.String("glance", "endpoint_override")
	if o.AuthType == "none" && o.EndpointOverride == "" {
		return nil, nil
	}
	session, err := keystone.New(o)
	if err != nil {
		return nil, err
	}
	return glance.New(session.Service("image")), nil
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
