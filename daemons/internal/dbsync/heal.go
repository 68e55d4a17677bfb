package dbsync

import (
	"context"
	"errors"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// Servers finds the owners of instances.
type Servers interface {
	// ProjectOf returns the project of an instance, or [ErrNoServer].
	ProjectOf(ctx context.Context, instance string) (string, error)
}

// ErrNoServer says that Nova does not know an instance.
var ErrNoServer = errors.New("no such server")

// Requests is the part of the store that holds ARQs without an owner.
type Requests interface {
	UnownedRequests(ctx context.Context, after int64, limit int) ([]store.UnownedRequest, error)
	SetRequestProject(ctx context.Context, id int64, project string) (bool, error)
}

// healBatch is the number of ARQs read at a time.
const healBatch = 100

// HealProjects gives every ARQ that a guest uses and nobody owns the project
// of its instance, and returns how many it gave one. An instance that Nova
// does not know, or does not tell about, is logged and left for the next time.
// servers is called once, and only when there is something to do.
func HealProjects(ctx context.Context, s Requests, servers func(context.Context) (Servers, error), log *slog.Logger) (n int, err error) {
	var nova Servers
	projects := map[string]string{}
	for after := int64(0); ; {
		rows, err := s.UnownedRequests(ctx, after, healBatch)
		if err != nil || len(rows) == 0 {
			return n, err
		}
		if nova == nil {
			if nova, err = servers(ctx); err != nil {
				return n, err
			}
		}
		for _, r := range rows {
			after = r.ID
			project, known := projects[r.Instance]
			if !known {
				project, err = nova.ProjectOf(ctx, r.Instance)
				if err != nil {
					report(ctx, log, r, err)
					continue
				}
				projects[r.Instance] = project
			}
			set, err := s.SetRequestProject(ctx, r.ID, project)
			if err != nil {
				return n, err
			}
			if set {
				n++
			}
		}
	}
}

func report(ctx context.Context, log *slog.Logger, r store.UnownedRequest, err error) {
	level := slog.LevelWarn
	if errors.Is(err, ErrNoServer) {
		level = slog.LevelError
	}
	log.LogAttrs(ctx, level, "owner of an accelerator request not found",
		slog.String("arq", r.UUID), slog.String("instance", r.Instance), slog.Any("error", err))
}
