package demo

import (
	"context"
	"encoding/json"
	"fmt"
)

// detail is the evidence of a step, by name.
type detail map[string]any

// step is one scene of the story. play fills d as it goes, so that a step that does not hold still shows what it
// saw; it returns why the step does not hold.
type step struct {
	name  string
	title string
	play  func(w *world, ctx context.Context, d detail) error
}

// story is all of it, in order: later steps build on what earlier ones did.
func story() []step {
	return []step{
		{"inventory", "which devices of the host are managed, and why not the others", (*world).inventory},
		{"report", "devices, deployables and attach handles stored; providers with inventory and traits", (*world).report},
		{"bind", "a request bound for an instance; managed as a JSON boolean from 2.4 on", (*world).bind},
		{"indirection", "the agent reads persisted objects through the conductor", (*world).indirection},
		{"cap", "[upgrade_levels] conductor = 1.0 refuses the same call before anything is sent", (*world).cap},
		{"conflict", "changing managed under a guest stops the agent's start", (*world).conflict},
		{"in_place", "after the unbind the same change keeps the attach handle", (*world).inPlace},
		{"excluded_while_bound", "excluding a device that a guest has keeps everything and offers nothing", (*world).excludedWhileBound},
		{"class_guard", "an NVMe controller is refused, or admitted with a warning by the workaround", (*world).classGuard},
		{"schema", "a misspelt key stops the agent's start", (*world).schema},
	}
}

// Result is the outcome of one step.
type Result struct {
	Step   string         `json:"step"`
	OK     bool           `json:"ok"`
	Detail map[string]any `json:"detail"`

	title string
}

// run plays one step.
func (s step) run(ctx context.Context, w *world) Result {
	d := detail{}
	r := Result{Step: s.name, OK: true, Detail: d, title: s.title}
	if err := s.play(w, ctx, d); err != nil {
		r.OK = false
		d["failure"] = err.Error()
	}
	return r
}

// holds is an error made of the first claim that is not true.
func holds(claims ...claim) error {
	for _, c := range claims {
		if !c.true {
			return fmt.Errorf("%s", c.text)
		}
	}
	return nil
}

type claim struct {
	true bool
	text string
}

func that(ok bool, format string, args ...any) claim {
	return claim{true: ok, text: fmt.Sprintf(format, args...)}
}

// compact is JSON on one line; for messages.
func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
