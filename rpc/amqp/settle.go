package amqp

import (
	"bytes"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
)

// settling is a written message that waits for the broker's answer.
type settling struct {
	item          *item
	exchange, key string
}

// patience is how long the settler lets confirmations gather when nobody waits for one: to be woken for each is a good part
// of what a lone call costs.
const patience = 20 * time.Millisecond

// settler completes written messages in order. The broker sends a return before the confirm of the same message, and the
// library hands both over from one goroutine: once a confirm is seen, its return is in the channel.
type settler struct {
	conn     *conn
	returns  chan amqp091.Return
	observe  func(rpc.Event)
	queue    chan settling
	slots    chan struct{} // one token per written and unsettled message
	returned []amqp091.Return

	awaited atomic.Int32  // written messages whose senders wait
	wake    chan struct{} // holds one token while there may be something to settle at once
	timer   *time.Timer   // looks after the others
	armed   atomic.Bool   // the timer runs

	finished  chan struct{}
	unsettled []*item // valid once finished is closed
}

func newSettler(c *conn, returns chan amqp091.Return, observe func(rpc.Event)) *settler {
	return &settler{
		conn: c, returns: returns, observe: observe, wake: make(chan struct{}, 1), timer: time.NewTimer(patience),
		queue: make(chan settling, window), slots: make(chan struct{}, window), finished: make(chan struct{}),
	}
}

// add hands a written message over. It belongs to the goroutine that writes.
func (s *settler) add(w settling) {
	if !w.item.Patient {
		s.awaited.Add(1)
	}
	s.queue <- w // a slot is room
	switch {
	case !w.item.Patient || len(s.queue) >= window/2:
		s.signal()
	case s.armed.CompareAndSwap(false, true):
		s.timer.Reset(patience)
	}
}

// end says that no more is written.
func (s *settler) end() {
	close(s.queue)
	s.signal()
}

func (s *settler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
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
	defer s.timer.Stop()
	var first *settling // taken and not settled
	for {
		select {
		case <-s.wake:
		case <-s.timer.C:
			s.armed.Store(false)
		case r, ok := <-s.returns:
			s.took(r, ok)
		}
		over := false
		if first, over = s.work(first); over {
			return
		}
		if (first != nil || len(s.queue) > 0) && s.armed.CompareAndSwap(false, true) {
			s.timer.Reset(patience)
		}
	}
}

// work settles what is confirmed, and waits for confirms while somebody waits for one of them.
func (s *settler) work(first *settling) (left *settling, over bool) {
	for {
		if first == nil {
			select {
			case w, ok := <-s.queue:
				if !ok {
					return nil, true
				}
				first = &w
			default:
				return nil, false
			}
		}
		if s.awaited.Load() > 0 || len(s.returned) > 0 {
			s.await(*first)
		} else if !confirmed(first.item.confirm) {
			return first, false
		}
		s.drainReturns()
		s.settle(*first)
		if !first.item.Patient {
			s.awaited.Add(-1)
		}
		s.release()
		first = nil
	}
}

func confirmed(c *amqp091.DeferredConfirmation) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// await waits for the confirm of a message while taking returns, so that the library's reader never waits for us.
func (s *settler) await(w settling) {
	for {
		select {
		case <-w.item.confirm.Done():
			return
		case r, ok := <-s.returns:
			s.took(r, ok)
		}
	}
}

func (s *settler) drainReturns() {
	for {
		select {
		case r, ok := <-s.returns:
			s.took(r, ok)
		default:
			return
		}
	}
}

// took keeps a return. The library closes the channel when the connection ends; returns of messages settled as lost count
// for nothing.
func (s *settler) took(r amqp091.Return, ok bool) {
	if !ok {
		s.returns = nil
		return
	}
	s.returned = append(s.returned, r)
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
