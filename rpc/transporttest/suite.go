package transporttest

import (
	"testing"

	"github.com/go-cyborg/cyborg/rpc"
)

// Pair is two transports on one broker, as two processes have them.
type Pair struct {
	Client, Server rpc.Transport
	// Breaker disturbs the broker or the way to it; nil if that is not possible.
	Breaker Breaker
}

// Breaker does to a broker what happens to brokers.
type Breaker interface {
	// Cut closes every connection of both transports without warning.
	Cut(t *testing.T)
	// DeleteQueue deletes a queue, whoever uses it.
	DeleteQueue(t *testing.T, name string)
}

// Case is one promise.
type Case struct {
	Name string
	// Breaks says that the case needs a [Breaker].
	Breaks bool
	Run    func(t *testing.T, p Pair)
}

// Cases lists the promises, first those of the transport alone, then the behaviour of clients and servers over it.
func Cases() []Case {
	return []Case{
		{Name: "a topic, a server and all servers are reached", Run: routing},
		{Name: "competing consumers share the work", Run: competing},
		{Name: "expired messages are not delivered", Run: expiry},
		{Name: "messages without a queue are reported, and only those", Run: undeliverable},
		{Name: "every message is completed exactly once", Run: completion},
		{Name: "what is not settled comes back, what is rejected does not", Run: settling},
		{Name: "a blocked receiver holds no more than its prefetch", Run: backPressure},
		{Name: "messages to one queue stay in order", Run: order},
		{Name: "a reply queue ends with its listener", Run: replyQueueEnds},
		{Name: "listening is told before and after a loss", Breaks: true, Run: loss},
		{Name: "a deleted reply queue comes back", Breaks: true, Run: replyQueueReturns},

		{Name: "replies are never crossed", Run: crossing},
		{Name: "failures arrive with their class", Run: failures},
		{Name: "versions and namespaces are checked", Run: versions},
		{Name: "a monitored call outlives its monitor timeout while signs of life come", Run: monitor},
		{Name: "casts reach one server or all", Run: casts},
		{Name: "a repeated request is run once", Run: duplicates},
		{Name: "garbage is rejected and the consumer lives on", Run: garbage},
		{Name: "a stopping server finishes what it began", Run: drain},
		{Name: "the request context goes through nested calls", Run: nested},
		{Name: "a call without a server fails at once or waits for the route", Run: route},
		{Name: "a call ends with its deadline", Run: deadline},
	}
}

// Run checks every case over the transports that open gives, which also arranges for their end.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			p := open(t)
			if c.Breaks && p.Breaker == nil {
				t.Skip("the broker cannot be broken here")
			}
			c.Run(t, p)
		})
	}
}
