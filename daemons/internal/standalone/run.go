package standalone

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// Run serves until ctx ends, stops what it started and releases everything. It returns nil on a clean stop. Run it
// once.
func (s *Services) Run(ctx context.Context) error {
	defer close(s.ended)
	group, running := errgroup.WithContext(ctx)
	for _, part := range s.parts {
		group.Go(func() error { return part.Run(running) })
	}
	return errors.Join(group.Wait(), s.rpc.Close(context.WithoutCancel(ctx)), s.release())
}

// release gives back what Open occupied. A listener that was served is closed already.
func (s *Services) release() error {
	var problems []error
	if s.api != nil {
		s.api.Close()
	}
	if s.placement != nil {
		s.placement.Close()
	}
	if s.store != nil {
		problems = append(problems, s.store.Close())
	}
	return errors.Join(problems...)
}
