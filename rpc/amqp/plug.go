package amqp

import (
	"net"
	"time"
)

// plug is the socket of a connection with a deadline on every write. Without it a write to a frozen network blocks for
// minutes, and with it everything that waits for the library's locks.
type plug struct {
	net.Conn
	timeout time.Duration
}

// Write writes within the time limit.
func (p *plug) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}
