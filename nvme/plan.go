package nvme

import "fmt"

// Method is one way to erase.
type Method string

// The methods a plan may contain.
const (
	MethodSanitizeCrypto Method = "sanitize-crypto"
	MethodSanitizeBlock  Method = "sanitize-block"
	MethodFormatCrypto   Method = "format-crypto"
	MethodFormatUser     Method = "format-user"
	MethodZero           Method = "zero"
)

// Assurance is what a method guarantees.
type Assurance string

// Purge withstands laboratory means, clear only the drive's own interface (NIST SP 800-88).
const (
	Purge Assurance = "purge"
	Clear Assurance = "clear"
)

// Assurance is what the method guarantees. Format with a user-data erase counts as clear: a vendor may do no more.
func (m Method) Assurance() Assurance {
	switch m {
	case MethodSanitizeCrypto, MethodSanitizeBlock, MethodFormatCrypto:
		return Purge
	}
	return Clear
}

// Topology says how far a command may reach.
type Topology struct {
	// Exclusive: every controller of the NVM subsystem is ours and idle or part of this cleanup.
	Exclusive bool
	// Writable: every namespace to be cleaned can be written (not protected, not zoned or key-value).
	Writable bool
	// Detached: allocated namespaces exist that are attached to no controller; only a sanitize reaches them.
	Detached bool
}

// Plan is the erase of one drive. Attempts are in order; a later one may run only if the drive rejected the one before it as
// unsupported ([Status.Unsupported]) before anything started.
type Plan struct{ Attempts []Method }

// RefusedError is a drive that cannot be erased as the policy asks. Such a drive must not be offered at all.
type RefusedError struct {
	Policy Policy
	Reason string
}

// Error names the policy and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("clear_action %s with clear_strategy %s is not possible: %s", e.Policy.Action, e.Policy.Strategy, e.Reason)
}

// NewPlan chooses the erase for a controller. It returns a [*PolicyError] for a policy without a meaning and a
// [*RefusedError] when nothing that the policy allows is possible and safe.
func NewPlan(c Controller, t Topology, p Policy) (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	p = p.withDefaults()
	var plan Plan
	for _, m := range candidates(p) {
		if possible(m, c, t) {
			plan.Attempts = append(plan.Attempts, m)
		}
	}
	if len(plan.Attempts) == 0 {
		return Plan{}, &RefusedError{Policy: p, Reason: refusal(c, t)}
	}
	return plan, nil
}

// candidates is the order of attempts by policy, strongest first.
func candidates(p Policy) []Method {
	switch {
	case p.Action == ActionZero:
		return []Method{MethodZero}
	case p.Action == ActionSanitize && p.Strategy == StrategyCrypto:
		return []Method{MethodSanitizeCrypto}
	case p.Action == ActionSanitize && p.Strategy == StrategyBlock:
		return []Method{MethodSanitizeBlock}
	case p.Action == ActionSanitize:
		return []Method{MethodSanitizeCrypto, MethodSanitizeBlock}
	case p.Strategy == StrategyCrypto:
		return []Method{MethodSanitizeCrypto, MethodFormatCrypto}
	case p.Strategy == StrategyBlock:
		return []Method{MethodSanitizeBlock, MethodFormatUser}
	}
	return []Method{MethodSanitizeCrypto, MethodSanitizeBlock, MethodFormatCrypto, MethodFormatUser, MethodZero}
}

// possible applies what the controller can do and how far the command would reach.
func possible(m Method, c Controller, t Topology) bool {
	sanitize := t.Exclusive && !c.VirtualFunction
	format := c.Format && !t.Detached && (t.Exclusive || !c.FormatAll && !c.EraseAll)
	switch m {
	case MethodSanitizeCrypto:
		return sanitize && c.SanitizeCrypto
	case MethodSanitizeBlock:
		return sanitize && c.SanitizeBlock
	case MethodFormatCrypto:
		return format && c.FormatCrypto
	case MethodFormatUser:
		return format
	case MethodZero:
		return t.Writable && !t.Detached
	}
	return false
}

func refusal(c Controller, t Topology) string {
	switch {
	case !t.Exclusive:
		return "other functions of the subsystem are in use and the erase would reach them (" + c.Capabilities() + ")"
	case t.Detached:
		return "namespaces attached to no controller would keep their data (" + c.Capabilities() + ")"
	}
	return "the controller does not support it (" + c.Capabilities() + ")"
}
