package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// conditionStart is what a daemon is not ready for until its parts run.
const conditionStart = "start"

// daemon is the part that makes a daemon's parts and runs them. Making them may take its time, for a database that does
// not answer yet, say: signals and the operations listener do not wait for it.
func (p *Process) daemon(begin Start) Part {
	d := &launched{process: p, begin: begin}
	p.Readiness.Require(conditionStart)
	return Part{Name: "daemon", Run: d.run, Alive: d.alive}
}

// launched is the parts of a daemon once they are made.
type launched struct {
	process *Process
	begin   Start

	mu    sync.Mutex
	parts []*running
}

func (d *launched) run(ctx context.Context) error {
	made, err := d.begin(ctx, d.process)
	if err != nil {
		return err
	}
	ended := make(chan *running, len(made))
	d.mu.Lock()
	for _, part := range made {
		d.parts = append(d.parts, start(ctx, part, ended))
	}
	d.mu.Unlock()
	d.process.Readiness.Set(conditionStart, nil)
	var problems []error
	select {
	case <-ctx.Done():
	case r := <-ended:
		if r.err == nil && ctx.Err() == nil {
			problems = append(problems, fmt.Errorf("%s ended although nothing asked it to", r.Name))
		}
	}
	for _, r := range slices.Backward(d.parts) {
		r.cancel()
		<-r.done // in time, or the process ends without it
		problems = append(problems, r.err)
	}
	return errors.Join(problems...)
}

// alive reports whether every part makes progress; making them is progress.
func (d *launched) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return allAlive(d.parts)
}
