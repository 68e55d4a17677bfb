package arq

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseGroups reads the JSON list of groups of a request body: flat objects
// whose values are strings, numbers, booleans or null, turned into text as
// Cyborg's objects do (1 is "1", true is "True"). Anything else gives a
// *[GroupError] with WrongType. Call [CheckGroups] before storing the result.
func ParseGroups(list []byte) ([]Group, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil {
		return nil, &GroupError{Group: -1, Reason: "groups must be a list of objects", WrongType: true}
	}
	groups := make([]Group, len(raw))
	for i, text := range raw {
		g, err := parseGroup(string(text))
		if err != nil {
			return nil, &GroupError{Group: i, Reason: err.Error(), WrongType: true}
		}
		groups[i] = g
	}
	return groups, nil
}

func parseGroup(text string) (Group, error) {
	members, err := decodeObject(text)
	if err != nil {
		return nil, err
	}
	g := make(Group, len(members))
	for i, m := range members {
		v, null, err := valueText(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.key, err)
		}
		g[i] = Property{Key: m.key, Value: v, Null: null}
	}
	return g, nil
}

var errNotScalar = errors.New("want a string, number, boolean or null")

// valueText turns the JSON text of a scalar into what Python's str() makes of
// the decoded value.
func valueText(value string) (text string, null bool, err error) {
	switch {
	case value == "null":
		return "", true, nil
	case value == "true":
		return "True", false, nil
	case value == "false":
		return "False", false, nil
	case value == "" || value[0] == '{' || value[0] == '[':
		return "", false, errNotScalar
	case value[0] == '"':
		var s string
		if err := json.Unmarshal([]byte(value), &s); err != nil {
			return "", false, errNotScalar
		}
		return s, false, nil
	}
	return numberText(value), false, nil
}

// numberText is Python's str() of a JSON number.
func numberText(value string) string {
	if !strings.ContainsAny(value, ".eE") {
		if value == "-0" {
			return "0"
		}
		return value
	}
	f, _ := strconv.ParseFloat(value, 64) // out of range gives an infinity, as in Python
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// DecodeProfile reads the profile_json column of device_profiles.
func DecodeProfile(column string) ([]Group, error) {
	var p struct {
		Groups json.RawMessage `json:"groups"`
	}
	if err := json.Unmarshal([]byte(column), &p); err != nil {
		return nil, fmt.Errorf("device profile %s: %w", column, err)
	}
	if p.Groups == nil {
		return nil, fmt.Errorf("device profile %s: no groups", column)
	}
	return ParseGroups(p.Groups)
}

// EncodeProfile writes the profile_json column with the bytes that Cyborg
// writes.
func EncodeProfile(groups []Group) string {
	var b strings.Builder
	b.WriteString(`{"groups": [`)
	for i, g := range groups {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(g.text())
	}
	b.WriteString("]}")
	return b.String()
}

// MarshalJSON writes the group as an object in its own order.
func (g Group) MarshalJSON() ([]byte, error) { return []byte(g.text()), nil }

// UnmarshalJSON reads an object as [ParseGroups] does.
func (g *Group) UnmarshalJSON(text []byte) error {
	parsed, err := parseGroup(string(text))
	if err != nil {
		return &GroupError{Group: -1, Reason: err.Error(), WrongType: true}
	}
	*g = parsed
	return nil
}

func (g Group) text() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range g {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(asciiJSON(p.Key))
		b.WriteString(": ")
		if p.Null {
			b.WriteString("null")
		} else {
			b.WriteString(asciiJSON(p.Value))
		}
	}
	b.WriteByte('}')
	return b.String()
}
