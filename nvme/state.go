package nvme

import "fmt"

// State is the lifecycle state of a drive, the wire spelling of Device.device_state.
type State string

// The states; a drive may be handed out in Available only.
const (
	Available       State = "available"
	Allocated       State = "allocated"
	PendingCleaning State = "pending_cleaning"
	Cleaning        State = "cleaning"
	Failed          State = "error"
)

// Event is what moves a drive from one state to another.
type Event string

// The events of the lifecycle. Anything that is not in the table of [State.Next] is forbidden: above all nothing but a
// finished cleaning, or an operator who takes the responsibility, leads back to Available once a guest had the drive.
const (
	EventBind         Event = "bind"           // an accelerator request takes the drive
	EventBindUndone   Event = "bind_undone"    // the request never reached Bound
	EventRelease      Event = "release"        // unbind or delete after Bound, or an allocation without a request
	EventBegin        Event = "begin"          // the agent is about to send the first destructive command
	EventPostpone     Event = "postpone"       // nothing destructive was sent, the attempt is given back
	EventCleaned      Event = "cleaned"        // erased and verified
	EventFail         Event = "fail"           // the erase, its verification or a precondition failed for good
	EventRetry        Event = "retry"          // an operator asks for another cleaning
	EventForce        Event = "force"          // an operator declares the drive clean, recorded as unverified
	EventSuspectDirty Event = "suspect_dirty"  // an available drive shows signs of use or of an unfinished erase
	EventWasNeverOurs Event = "was_never_ours" // another drive was found at the address
)

// transitions is the whole lifecycle; it is never written.
var transitions = map[State]map[Event]State{
	Available:       {EventBind: Allocated, EventSuspectDirty: PendingCleaning, EventWasNeverOurs: PendingCleaning},
	Allocated:       {EventBindUndone: Available, EventRelease: PendingCleaning, EventWasNeverOurs: Failed},
	PendingCleaning: {EventBegin: Cleaning, EventFail: Failed, EventWasNeverOurs: Failed},
	Cleaning:        {EventPostpone: PendingCleaning, EventCleaned: Available, EventFail: Failed, EventWasNeverOurs: Failed},
	Failed:          {EventRetry: PendingCleaning, EventForce: Available},
}

// StateError is an event that the present state does not allow; the drive stays as it is.
type StateError struct {
	State State
	Event Event
}

// Error names state and event.
func (e *StateError) Error() string {
	return fmt.Sprintf("a drive in state %q does not take %q", e.State, e.Event)
}

// Next is the state after an event, or a [*StateError]. An unknown or empty state takes nothing: it is not available.
func (s State) Next(e Event) (State, error) {
	if next, ok := transitions[s][e]; ok {
		return next, nil
	}
	return s, &StateError{State: s, Event: e}
}

// Usable reports whether a drive in this state may be handed out.
func (s State) Usable() bool { return s == Available }
