package arq

import (
	"fmt"
	"slices"
	"strings"
)

// State is where an accelerator request stands, in the spelling of the
// database enum and of the ARQ object's state field.
type State string

// The states of an accelerator request. Deleting is a value old peers may have
// stored; nothing writes it. UnbindFailed is known on the wire only: the
// database enum lacks it, so no transition leads there.
const (
	Initial      State = "Initial"
	BindStarted  State = "BindStarted"
	Bound        State = "Bound"
	Unbound      State = "Unbound"
	BindFailed   State = "BindFailed"
	UnbindFailed State = "UnbindFailed"
	Deleting     State = "Deleting"
	// Deleted stands for "the row is gone". It is the outcome of EventDelete
	// and never stored.
	Deleted State = ""
)

// States lists every state that a stored row may carry.
func States() []State {
	return []State{Initial, BindStarted, Bound, Unbound, BindFailed, Deleting}
}

// Valid reports whether a row may carry s.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Resolved reports whether a consumer that waits for the request has its
// answer (the bind_state=resolved filter of the REST API).
func (s State) Resolved() bool { return s == Bound || s == BindFailed || s == Deleting }

// Event is what happens to a request.
type Event string

// The events of the life cycle.
const (
	// EventBind: bound in one transaction, no step outside the database.
	EventBind Event = "bind"
	// EventBindStep: the handle is owned, a step outside the database is owed
	// (mdev creation, FPGA programming, NVMe reservation).
	EventBindStep Event = "bind with an outside step"
	// EventBindRefused: no such deployable or no free handle.
	EventBindRefused Event = "bind refused"
	// EventStepDone: the outside step succeeded.
	EventStepDone Event = "step done"
	// EventStepFailed: the outside step failed; the handle is freed.
	EventStepFailed Event = "step failed"
	// EventStepTimedOut: nobody knows whether the outside step took effect;
	// the handle stays with the request until it is unbound.
	EventStepTimedOut Event = "step timed out"
	// EventUnbind: the request gives its handle back.
	EventUnbind Event = "unbind"
	// EventUnbindFailed: the agent's part of an unbind failed; the row stays
	// as it is and the caller repeats.
	EventUnbindFailed Event = "unbind failed"
	// EventDelete: the row goes.
	EventDelete Event = "delete"
)

// Events lists every event.
func Events() []Event {
	return []Event{
		EventBind, EventBindStep, EventBindRefused, EventStepDone, EventStepFailed,
		EventStepTimedOut, EventUnbind, EventUnbindFailed, EventDelete,
	}
}

type transition struct {
	from []State // nil: every state
	to   State
}

// unbound lists the states from which a request may be bound.
var unbound = []State{Initial, Unbound}

// transitions is the whole life cycle. Unbinding an Initial request is
// accepted, as the REST API of Cyborg 17 accepts it.
var transitions = map[Event]transition{
	EventBind:         {unbound, Bound},
	EventBindStep:     {unbound, BindStarted},
	EventBindRefused:  {unbound, BindFailed},
	EventStepDone:     {[]State{BindStarted}, Bound},
	EventStepFailed:   {[]State{BindStarted}, BindFailed},
	EventStepTimedOut: {[]State{BindStarted}, BindFailed},
	EventUnbind:       {nil, Unbound},
	EventUnbindFailed: {[]State{Bound}, Bound},
	EventDelete:       {nil, Deleted},
}

// From lists the states in which e is allowed; a store uses it as the guard of
// its compare-and-set.
func (e Event) From() []State {
	t, ok := transitions[e]
	if !ok {
		return nil
	}
	if t.from == nil {
		return States()
	}
	return slices.Clone(t.from)
}

// Next returns the state that follows s after e. A request that is not in a
// state where e is allowed gives a *[BadStateError].
func (s State) Next(e Event) (State, error) {
	from := e.From()
	if !slices.Contains(from, s) {
		return s, &BadStateError{Have: s, Want: from}
	}
	return transitions[e].to, nil
}

// BadStateError says that a request is not in a state that allows what was
// asked. It maps to Cyborg's ARQBadState.
type BadStateError struct {
	UUID string // of the request; empty when the rule itself was asked
	Have State
	Want []State
}

// Error gives the text of Cyborg's ARQBadState.
func (e *BadStateError) Error() string {
	want := make([]string, len(e.Want))
	for i, s := range e.Want {
		want[i] = "'" + string(s) + "'"
	}
	return fmt.Sprintf("Bad state: %s for ARQ: %s. Expected state(s): [%s]", e.Have, e.UUID, strings.Join(want, ", "))
}
