package conductor

import (
	"context"
	"sync"
)

// background is work that goes on after its caller was answered. Its zero value is ready.
type background struct {
	mu     sync.Mutex
	closed bool
	ctx    context.Context // ends when close gives up waiting
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// start runs f beside its caller, whose end does not end it; false means that nothing starts any more.
func (b *background) start(ctx context.Context, f func(context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(b.ctx, cancel)
	b.group.Go(func() {
		defer cancel()
		defer stop()
		f(own)
	})
	return true
}

func (b *background) closing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// close lets nothing start any more and waits for what runs. When ctx ends first that is told to stop, which it does
// between two writes, and the error of ctx is returned.
func (b *background) close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	cancel := b.cancel
	b.mu.Unlock()
	if cancel == nil {
		return nil
	}
	defer cancel()
	idle := make(chan struct{})
	go func() {
		b.group.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		cancel()
		<-idle
		return ctx.Err()
	}
}
