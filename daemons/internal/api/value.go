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
