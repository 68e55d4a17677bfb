package rpc

// Event is something that happened outside of any call, for counters and gauges. Observers must not block.
type Event struct {
	Kind EventKind
	// Link names the connection: "publish", "replies", or the topic of a server.
	Link string
	// Queue is the queue or routing key concerned.
	Queue string
	// MessageID is the id of the call concerned.
	MessageID string
	// Err is the reason, if there is one.
	Err error
}

// EventKind names a kind of event.
type EventKind string

// The kinds of events.
const (
	EventConnected    EventKind = "connected"
	EventLost         EventKind = "lost"
	EventBlocked      EventKind = "blocked"       // the broker takes no messages: it is short of memory or disk
	EventUnblocked    EventKind = "unblocked"     // the broker takes messages again
	EventReturned     EventKind = "returned"      // no queue for a message
	EventRejected     EventKind = "rejected"      // a message that could not be read
	EventRefused      EventKind = "refused"       // a request for a method, version or arguments that the server does not have
	EventStray        EventKind = "stray"         // a reply that nobody waits for: late, repeated or misdirected
	EventDuplicate    EventKind = "duplicate"     // a request that was run already
	EventExpired      EventKind = "expired"       // a request that waited for a worker longer than its Delivery.TTL
	EventReplyDropped EventKind = "reply_dropped" // a reply that cannot be delivered: no queue, or too large
	EventMismatch     EventKind = "mismatch"      // an object of the broker differs from what was declared
)
