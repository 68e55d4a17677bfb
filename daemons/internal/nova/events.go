package nova

import "github.com/go-cyborg/cyborg/arq"

// EventName is the name of every event that Cyborg sends.
const EventName = "accelerator-request-bound"

// The statuses of an event.
const (
	StatusCompleted = "completed" // the request is bound
	StatusFailed    = "failed"    // it will not be
)

// Event is one element of the body of POST /os-server-external-events.
type Event struct {
	Name       string `json:"name"`
	ServerUUID string `json:"server_uuid"`
	Tag        string `json:"tag"` // UUID of the accelerator request
	Status     string `json:"status"`
}

// Body is the body of POST /os-server-external-events.
type Body struct {
	Events []Event `json:"events"`
}

// Events is what Nova is told of requests as they are committed, one event for each in their order. As in
// Cyborg 17 all carry the instance of the first. A request without an answer for Nova is *[arq.BadStateError],
// and then there is no event at all.
func Events(requests []arq.Request) ([]Event, error) {
	events := make([]Event, 0, len(requests))
	for _, r := range requests {
		status := StatusFailed
		switch {
		case r.State == arq.Bound:
			status = StatusCompleted
		case !r.State.Resolved():
			return nil, &arq.BadStateError{UUID: r.UUID, Have: r.State, Want: []arq.State{arq.Bound, arq.BindFailed, arq.Deleting}}
		}
		events = append(events, Event{Name: EventName, ServerUUID: requests[0].InstanceUUID, Tag: r.UUID, Status: status})
	}
	return events, nil
}
