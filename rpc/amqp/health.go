package amqp

import "time"

// LinkState is the state of one connection, for readiness and metrics.
type LinkState struct {
	// Link names the job: "publish", "replies" or "topic.server".
	Link string
	// State is [StateDialing], [StateUp], [StateBlocked], [StateWaiting] or [StateStopped].
	State string
	// Broker is host:port of the broker in use or tried last.
	Broker string
	// Since is when the state began.
	Since time.Time
	// LastError is why the link was last lost or could not be opened; nil once it is up.
	LastError error
}

// The states of a link.
const (
	StateDialing = "dialing"
	StateUp      = "up"
	StateBlocked = "blocked"
	StateWaiting = "waiting"
	StateStopped = "stopped"
)

// Health tells the state of every link that was started, in the order of their start.
func (t *Transport) Health() []LinkState {
	t.mu.Lock()
	links := append([]*link(nil), t.links...)
	t.mu.Unlock()
	states := make([]LinkState, len(links))
	for i, l := range links {
		states[i] = l.health()
	}
	return states
}

// Impediment is nil while messages can be sent, otherwise the reason why they cannot. It serves [rpc.TimeoutError].
func (t *Transport) Impediment() error {
	t.mu.Lock()
	p := t.publisher
	t.mu.Unlock()
	if p == nil {
		return nil
	}
	state := p.link.health()
	switch state.State {
	case StateUp:
		return nil
	case StateBlocked:
		return errBlocked
	}
	if state.LastError != nil {
		return state.LastError
	}
	return errConnecting
}
