package amqp

import (
	"net"
	"sync"
	"time"
)

// maxHeld is how many bytes a plug holds back, at the most.
const maxHeld = 64 << 10

// plug is the socket of a connection. It puts a deadline on writes: without one a write to a frozen network blocks for
// minutes, and with it everything that waits for the library's locks. And it gathers what the library writes frame by frame
// into one write, between hold and release: a write costs both ends more than the message in it.
type plug struct {
	net.Conn
	timeout time.Duration

	mu      sync.Mutex // orders the writes
	holding bool
	held    []byte
	renewed time.Time // when the deadline was set
	failed  error     // of the first write that failed: what follows half a frame would be read as the rest of it
}

// hold lets writes wait for release. Who calls it must call release before waiting for anything.
func (p *plug) hold() {
	p.mu.Lock()
	p.holding = true
	p.mu.Unlock()
}

// release writes what was held back.
func (p *plug) release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holding = false
	return p.flush()
}

// Write writes within the time limit, or holds back.
func (p *plug) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holding && len(p.held)+len(b) <= maxHeld {
		p.held = append(p.held, b...)
		return len(b), nil
	}
	if err := p.flush(); err != nil {
		return 0, err
	}
	return p.write(b)
}

func (p *plug) flush() error {
	if len(p.held) == 0 {
		return nil
	}
	_, err := p.write(p.held)
	p.held = p.held[:0]
	return err
}

// write renews the deadline when a quarter of it is over, since that costs a tenth of a write. Nothing is written after a
// failure.
func (p *plug) write(b []byte) (n int, err error) {
	if p.failed != nil {
		return 0, p.failed
	}
	if now := time.Now(); now.Sub(p.renewed) > p.timeout/4 {
		if err := p.SetWriteDeadline(now.Add(p.timeout)); err != nil {
			return 0, err
		}
		p.renewed = now
	}
	n, p.failed = p.Conn.Write(b)
	return n, p.failed
}
