package conductord

import (
	"context"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// heal completes old rows at start, as the peer's conductor does. A failure is logged: the daemon serves all the same.
// It returns when ctx ends, since the end of a part ends the daemon.
func heal(ctx context.Context, cfg *config.Config, db *store.Store, log *slog.Logger) error {
	n, err := dbsync.HealProjects(ctx, db, func(ctx context.Context) (dbsync.Servers, error) { return dbsync.Nova(ctx, cfg) }, log)
	if err != nil && ctx.Err() == nil {
		log.Error("projects of accelerator requests were not completed: run cyborg-dbsync online_data_migrations", "error", err)
	}
	found, done, err := db.BackfillDeviceStates(ctx)
	if err != nil && ctx.Err() == nil {
		log.Error("states of devices were not completed: run cyborg-dbsync online_data_migrations", "error", err)
	}
	if n > 0 || found > 0 {
		log.Info("old rows completed", "requests", n, "devices", done)
	}
	<-ctx.Done()
	return nil
}
