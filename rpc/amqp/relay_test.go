package amqp_test

import (
	"net"
	"sync"
	"testing"
)

// relay is a TCP relay that can cut and freeze what runs through it.
type relay struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	frozen chan struct{} // nil = flowing, otherwise closed when it flows again
	conns  map[net.Conn]bool
	wg     sync.WaitGroup
}

func newRelay(t *testing.T, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, target: target, conns: map[net.Conn]bool{}}
	r.wg.Add(1)
	go r.accept()
	t.Cleanup(r.close)
	return r
}

// close ends the relay; it may be called again.
func (r *relay) close() {
	r.thaw()
	r.listener.Close()
	r.cut()
	r.wg.Wait()
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	defer r.wg.Done()
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.target)
		if err != nil {
			in.Close()
			continue
		}
		r.mu.Lock()
		r.conns[in], r.conns[out] = true, true
		r.mu.Unlock()
		r.wg.Add(2)
		go r.pump(in, out)
		go r.pump(out, in)
	}
}

func (r *relay) pump(from, to net.Conn) {
	defer r.wg.Done()
	defer func() {
		from.Close()
		to.Close()
		r.mu.Lock()
		delete(r.conns, from)
		r.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		frozen := r.frozen
		r.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut closes every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.Close()
	}
}

// freeze stops everything without closing anything.
func (r *relay) freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen == nil {
		r.frozen = make(chan struct{})
	}
}

// thaw lets everything flow again.
func (r *relay) thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen != nil {
		close(r.frozen)
		r.frozen = nil
	}
}
