package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"
)

// Rule is a registered default.
type Rule struct {
	// Name is what is asked for: cyborg:arq:create.
	Name string
	// Check is the rule's text.
	Check string
	// Deprecated is the text of its predecessor, which also counts unless
	// EnforceNewDefaults is set or the rule is overridden; empty means none.
	Deprecated string
	// ProjectScope refuses tokens of the system and of a domain.
	ProjectScope bool
}

// Config are the options of [oslo_policy] that matter. The zero value uses
// deprecated predecessors and does not look at the scope of tokens.
type Config struct {
	// EnforceNewDefaults ignores the deprecated predecessors.
	EnforceNewDefaults bool
	// EnforceScope refuses tokens whose scope a rule does not allow.
	EnforceScope bool
}

// Enforcer answers whether a caller may do something.
type Enforcer struct {
	rules  map[string]check
	scoped map[string]bool
}

// DeniedError says that a rule does not pass. Its text is the peer's.
type DeniedError struct {
	// Rule is the name of the rule.
	Rule string
}

func (e *DeniedError) Error() string {
	return "Access was denied to the following resource: " + e.Rule
}

// New builds an enforcer from defaults and an operator's overrides (rule name to
// text). Every rule that cannot be read is reported.
func New(defaults []Rule, overrides map[string]string, c Config) (*Enforcer, error) {
	e := &Enforcer{rules: map[string]check{}, scoped: map[string]bool{}}
	var problems []error
	read := func(rule string) check {
		parsed, err := parse(rule)
		if err != nil {
			problems = append(problems, err)
		}
		return parsed
	}
	for _, r := range defaults {
		e.rules[r.Name] = read(r.Check)
		e.scoped[r.Name] = r.ProjectScope && c.EnforceScope
		if r.Deprecated != "" && !c.EnforceNewDefaults {
			e.rules[r.Name] = anyOf{e.rules[r.Name], read(r.Deprecated)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		e.rules[name] = read(overrides[name])
	}
	return e, errors.Join(problems...)
}

// Authorize returns nil when the rule passes, else a *[DeniedError]. A rule that
// does not exist never passes.
func (e *Enforcer) Authorize(rule string, target, creds Values) error {
	c, known := e.rules[rule]
	if !known || e.scoped[rule] && !projectScoped(creds) {
		return &DeniedError{Rule: rule}
	}
	if !c.allows(request{target: target, creds: creds, rules: e.rules}) {
		return &DeniedError{Rule: rule}
	}
	return nil
}

// projectScoped tells tokens of the system and of a domain apart from those of a
// project; one without any scope counts as the latter, as in oslo.policy.
func projectScoped(creds Values) bool {
	for _, scope := range []string{"system_scope", "domain_id"} {
		if v, _ := creds[scope].(string); v != "" {
			return false
		}
	}
	return true
}

// ParseFile reads a policy file: a YAML (or JSON) mapping from rule name to rule.
func ParseFile(content []byte) (map[string]string, error) {
	rules := map[string]string{}
	if err := yaml.Unmarshal(content, &rules); err != nil {
		return nil, fmt.Errorf("policy file is not a mapping from rule names to rules: %w", err)
	}
	return rules, nil
}
