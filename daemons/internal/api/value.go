package api

import (
	"encoding/json"
	"time"
)

// allow asks the policy.
func (c *call) allow(rule string) error {
	return c.Policy.Authorize(rule, c.caller.target(), c.caller.credentials())
}

// timestamp is how the API writes times; zero is null.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05-07:00")
	return &s
}

func timestampOf(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return timestamp(*t)
}

// scalarText turns a JSON value into text as the peer's string fields do: null and
// absent are nil, numbers become their text.
func scalarText(raw json.RawMessage) *string {
	var text string
	switch jsonKind(raw) {
	case "NoneType":
		return nil
	case "str":
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil
		}
	case "bool":
		text = "True"
		if string(raw) == "false" {
			text = "False"
		}
	default:
		text = string(raw)
	}
	return &text
}

// views turns rows into what is shown of them.
func views[R, V any](rows []R, view func(R) (V, error)) ([]V, error) {
	out := make([]V, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = view(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
