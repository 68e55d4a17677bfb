package nova_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	request := func(uuid string, s arq.State, instance string) arq.Request {
		return arq.Request{UUID: uuid, State: s, InstanceUUID: instance}
	}
	event := func(tag, status string) nova.Event {
		return nova.Event{Name: "accelerator-request-bound", ServerUUID: "i1", Tag: tag, Status: status}
	}
	for name, tt := range map[string]struct {
		requests []arq.Request
		want     []nova.Event
		bad      arq.State
	}{
		"none":                     {want: []nova.Event{}},
		"bound":                    {requests: []arq.Request{request("a", arq.Bound, "i1")}, want: []nova.Event{event("a", "completed")}},
		"failed":                   {requests: []arq.Request{request("a", arq.BindFailed, "i1")}, want: []nova.Event{event("a", "failed")}},
		"deleting":                 {requests: []arq.Request{request("a", arq.Deleting, "i1")}, want: []nova.Event{event("a", "failed")}},
		"first instance for all":   {requests: []arq.Request{request("a", arq.Bound, "i1"), request("b", arq.BindFailed, "i2")}, want: []nova.Event{event("a", "completed"), event("b", "failed")}},
		"one unresolved stops all": {requests: []arq.Request{request("a", arq.Bound, "i1"), request("b", arq.BindStarted, "i1")}, bad: arq.BindStarted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nova.Events(tt.requests)
			if tt.bad != "" {
				var bad *arq.BadStateError
				if !errors.As(err, &bad) || bad.Have != tt.bad || got != nil {
					t.Fatalf("Events() = %v, %v; want a bad state %s and no events", got, err, tt.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
