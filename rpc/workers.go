package rpc

import (
	"context"
	"sync"
	"time"
)

// workerIdle is how long a worker without work stays. A fresh goroutine per request would spend a fifth of the throughput
// on growing its stack.
const workerIdle = 10 * time.Second

// workers runs requests, a bounded number at once.
type workers struct {
	serve   func(*incoming)
	slots   chan struct{}  // one element per request that runs or is about to
	work    chan *incoming // unbuffered: taken only by a worker without work
	closing chan struct{}
	all     sync.WaitGroup
}

func newWorkers(n int, serve func(*incoming)) *workers {
	return &workers{serve: serve, slots: make(chan struct{}, n), work: make(chan *incoming), closing: make(chan struct{})}
}

// acquire waits for a free worker and reports whether there is one before ctx ends.
func (w *workers) acquire(ctx context.Context) bool {
	select {
	case w.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case w.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// release gives back what acquire took.
func (w *workers) release() { <-w.slots }

// run hands a request to a worker; acquire must have been called. The worker calls release itself, through q.free.
func (w *workers) run(q *incoming) {
	q.release = w.release
	select {
	case w.work <- q:
	default:
		w.all.Go(func() { w.worker(q) })
	}
}

func (w *workers) worker(q *incoming) {
	idle := time.NewTimer(workerIdle)
	defer idle.Stop()
	for {
		w.serve(q)
		idle.Reset(workerIdle)
		select {
		case q = <-w.work:
		case <-idle.C:
			return
		case <-w.closing:
			return
		}
	}
}

// close lets the workers end and returns a channel that is closed when they have. No request may be run any more.
func (w *workers) close() <-chan struct{} {
	close(w.closing)
	done := make(chan struct{})
	go func() { // ends with the last worker
		w.all.Wait()
		close(done)
	}()
	return done
}
