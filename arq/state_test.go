package arq_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/arq"
)

func TestNext(t *testing.T) {
	t.Parallel()
	const refused = arq.State("refused")
	all := []arq.State{arq.Initial, arq.BindStarted, arq.Bound, arq.Unbound, arq.BindFailed}
	tests := []struct {
		event arq.Event
		want  [5]arq.State // from each of all
	}{
		{arq.EventBind, [5]arq.State{arq.Bound, refused, refused, arq.Bound, refused}},
		{arq.EventBindStep, [5]arq.State{arq.BindStarted, refused, refused, arq.BindStarted, refused}},
		{arq.EventBindRefused, [5]arq.State{arq.BindFailed, refused, refused, arq.BindFailed, refused}},
		{arq.EventStepDone, [5]arq.State{refused, arq.Bound, refused, refused, refused}},
		{arq.EventStepFailed, [5]arq.State{refused, arq.BindFailed, refused, refused, refused}},
		{arq.EventStepTimedOut, [5]arq.State{refused, arq.BindFailed, refused, refused, refused}},
		{arq.EventUnbind, [5]arq.State{arq.Unbound, arq.Unbound, arq.Unbound, arq.Unbound, arq.Unbound}},
		{arq.EventUnbindFailed, [5]arq.State{refused, refused, arq.Bound, refused, refused}},
		{arq.EventDelete, [5]arq.State{arq.Deleted, arq.Deleted, arq.Deleted, arq.Deleted, arq.Deleted}},
	}
	for _, test := range tests {
		for i, from := range all {
			got, err := from.Next(test.event)
			if bad, ok := errors.AsType[*arq.BadStateError](err); ok {
				got = refused
				if bad.Have != from || slices.Contains(bad.Want, from) {
					t.Errorf("%s in %s: error says have %s, want %v", test.event, from, bad.Have, bad.Want)
				}
			}
			if got != test.want[i] {
				t.Errorf("%s in %s: %q, want %q", test.event, from, got, test.want[i])
			}
		}
	}
}

func TestBadStateText(t *testing.T) {
	t.Parallel()
	err := &arq.BadStateError{UUID: "u", Have: arq.Bound, Want: []arq.State{arq.Initial, arq.Unbound}}
	if got, want := err.Error(), "Bad state: Bound for ARQ: u. Expected state(s): ['Initial', 'Unbound']"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// life is a request as a store keeps it: state, and whether it owns a handle.
type life struct {
	state arq.State
	owns  bool
}

// step applies an event the way a store does.
func (l *life) step(e arq.Event) error {
	next, err := l.state.Next(e)
	if err != nil {
		return err
	}
	switch e {
	case arq.EventBind, arq.EventBindStep:
		l.owns = true
	case arq.EventStepDone, arq.EventStepFailed, arq.EventStepTimedOut:
		l.owns = arq.Outcome{Event: e}.KeepsHandle()
	case arq.EventUnbind, arq.EventDelete:
		l.owns = false
	}
	l.state = next
	return nil
}

// TestLives drives requests through random events: only states that a row may
// have occur, Bound and BindStarted always own a handle, Initial and Unbound
// never, a refused event changes nothing, and every request can be unbound and
// bound again.
func TestLives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := life{state: arq.Initial}
		for _, e := range rapid.SliceOfN(rapid.SampledFrom(arq.Events()), 1, 40).Draw(t, "events") {
			before := l
			if err := l.step(e); err != nil {
				if l != before {
					t.Fatalf("refused %s changed %+v to %+v", e, before, l)
				}
				continue
			}
			if l.state == arq.Deleted {
				return
			}
			if !l.state.Valid() {
				t.Fatalf("%s in %s gives %q, which no row may have", e, before.state, l.state)
			}
			switch l.state {
			case arq.Bound, arq.BindStarted:
				if !l.owns {
					t.Fatalf("%s owns no handle", l.state)
				}
			case arq.Initial, arq.Unbound:
				if l.owns {
					t.Fatalf("%s owns a handle", l.state)
				}
			}
		}
		if err := l.step(arq.EventUnbind); err != nil {
			t.Fatalf("unbind in %s: %v", l.state, err)
		}
		if err := l.step(arq.EventBind); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSettle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		device string
		state  arq.State
		now    string
		want   arq.Settlement
	}{
		{"GPU", arq.Bound, "available", arq.SettleFree},
		{"GPU", arq.Bound, "", arq.SettleFree},
		{"NVME", arq.Bound, "allocated", arq.SettleClean},
		{"NVME", arq.Bound, "", arq.SettleClean},
		{"NVME", arq.BindStarted, "allocated", arq.SettleFree},
		{"NVME", arq.BindFailed, "allocated", arq.SettleFree},
		{"NVME", arq.BindFailed, "error", arq.SettleClean},
		{"NVME", arq.BindStarted, "cleaning", arq.SettleClean},
		{"NVME", arq.Initial, "pending_cleaning", arq.SettleClean},
		{"NVME", arq.Deleting, "allocated", arq.SettleClean},
	}
	for _, test := range tests {
		if got := arq.Settle(test.device, test.state, test.now); got != test.want {
			t.Errorf("Settle(%s, %s, %s) = %s, want %s", test.device, test.state, test.now, got, test.want)
		}
	}
}
