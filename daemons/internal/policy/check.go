package policy

import (
	"slices"
	"strings"
)

// Values are the attributes of a caller or of what is acted on. A nil value is
// Python's None: its text is "None".
type Values map[string]any

// text is the value's text as Python's str() gives it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	return ""
}

// check is one node of a rule.
type check interface {
	allows(r request) bool
}

// request is one question to the enforcer.
type request struct {
	target, creds Values
	rules         map[string]check
	depth         int
}

// maxDepth ends rules that refer to each other in a circle; they deny.
const maxDepth = 64

type (
	constant bool
	allOf    []check
	anyOf    []check
	negation struct{ of check }
	roleIs   struct{ role string }
	ruleIs   struct{ name string }
	valueIs  struct{ kind, match string }
)

func (c constant) allows(request) bool { return bool(c) }

func (a allOf) allows(r request) bool {
	return !slices.ContainsFunc(a, func(c check) bool { return !c.allows(r) })
}

func (a anyOf) allows(r request) bool {
	return slices.ContainsFunc(a, func(c check) bool { return c.allows(r) })
}

func (n negation) allows(r request) bool { return !n.of.allows(r) }

// Roles are compared without case.
func (c roleIs) allows(r request) bool {
	role, ok := expand(c.role, r.target)
	roles, _ := r.creds["roles"].([]string)
	return ok && slices.ContainsFunc(roles, func(have string) bool { return strings.EqualFold(have, role) })
}

func (c ruleIs) allows(r request) bool {
	rule, ok := r.rules[c.name]
	r.depth++
	return ok && r.depth < maxDepth && rule.allows(r)
}

// A kind that is a Python literal (True, 'Member', 7) is compared itself, any
// other names an attribute of the caller.
func (c valueIs) allows(r request) bool {
	match, ok := expand(c.match, r.target)
	if !ok {
		return false
	}
	if literal, is := literalText(c.kind); is {
		return literal == match
	}
	value, ok := r.creds[c.kind]
	if !ok {
		return false
	}
	if list, many := value.([]string); many {
		return slices.Contains(list, match)
	}
	return text(value) == match
}

// expand inserts values of the target for %(name)s; a missing name fails.
func expand(pattern string, target Values) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "%")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if after, escaped := strings.CutPrefix(rest, "%"); escaped {
			b.WriteByte('%')
			pattern = after
			continue
		}
		name, after, ok := strings.Cut(strings.TrimPrefix(rest, "("), ")s")
		value, known := target[name]
		if !ok || !known || !strings.HasPrefix(rest, "(") {
			return "", false
		}
		b.WriteString(text(value))
		pattern = after
	}
}

// literalText recognises the Python literals that occur in rules.
func literalText(kind string) (string, bool) {
	switch {
	case kind == "True", kind == "False", kind == "None":
		return kind, true
	case len(kind) >= 2 && strings.ContainsRune(`"'`, rune(kind[0])) && kind[len(kind)-1] == kind[0]:
		return kind[1 : len(kind)-1], true
	case kind != "" && strings.Trim(kind, "0123456789") == "":
		return kind, true
	}
	return "", false
}
