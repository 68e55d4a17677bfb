package amqp

import (
	"bytes"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
)

// settling is a written message that waits for the broker's answer.
type settling struct {
	item          *item
	exchange, key string
}

// settler completes written messages in order. The broker sends a return before the confirm of the same message, and the
// library hands both over from one goroutine: once a confirm is seen, its return is in the channel.
type settler struct {
	conn     *conn
	returns  chan amqp091.Return
	observe  func(rpc.Event)
	queue    chan settling
	slots    chan struct{} // one token per written and unsettled message
	returned []amqp091.Return

	finished  chan struct{}
	unsettled []*item // valid once finished is closed
}

func newSettler(c *conn, returns chan amqp091.Return, observe func(rpc.Event)) *settler {
	return &settler{
		conn: c, returns: returns, observe: observe,
		queue: make(chan settling, window), slots: make(chan struct{}, window), finished: make(chan struct{}),
	}
}

// release gives back a slot of the window.
func (s *settler) release() { <-s.slots }

// waitIdle returns when nothing is unsettled, or the connection is lost.
func (s *settler) waitIdle() {
	for range window {
		s.slots <- struct{}{}
	}
	for range window {
		<-s.slots
	}
}

// run settles until the queue is closed and empty.
func (s *settler) run() {
	defer close(s.finished)
	for w := range s.queue {
		s.await(w)
		s.settle(w)
		s.release()
	}
	// The library closes returns when the channel ends; what is drained here belongs to messages settled as lost.
}

// await waits for the confirm of a message while taking returns, so that the library's reader never waits for us.
func (s *settler) await(w settling) {
	for {
		select {
		case <-w.item.confirm.Done():
			s.drainReturns()
			return
		case r, ok := <-s.returns:
			if !ok {
				s.returns = nil
				continue
			}
			s.returned = append(s.returned, r)
		}
	}
}

func (s *settler) drainReturns() {
	for {
		select {
		case r, ok := <-s.returns:
			if !ok {
				s.returns = nil
				return
			}
			s.returned = append(s.returned, r)
		default:
			return
		}
	}
}

func (s *settler) settle(w settling) {
	switch {
	case s.wasReturned(w):
		s.observe(rpc.Event{Kind: rpc.EventReturned, Link: "publish", Queue: w.key})
		w.item.done(&rpc.UndeliverableError{Exchange: w.exchange, RoutingKey: w.key})
	case w.item.confirm.Acked():
		w.item.done(nil)
	case s.conn.channel.IsClosed():
		// The library ends every open confirmation like a refusal when the channel ends.
		s.unsettled = append(s.unsettled, w.item)
	default:
		w.item.done(rpc.ErrNacked)
	}
}

// wasReturned looks for the message among the returned ones. A return carries no delivery tag; the body does, since every
// message has an id of its own.
func (s *settler) wasReturned(w settling) bool {
	for n, r := range s.returned {
		if r.RoutingKey == w.key && r.Exchange == w.exchange && bytes.Equal(r.Body, w.item.wire) {
			s.returned = append(s.returned[:n], s.returned[n+1:]...)
			return true
		}
	}
	return false
}
