package nvme

import "fmt"

// ClearAction is what an operator asks to be done with a released drive ([nvme] device_spec, key clear_action).
type ClearAction string

// ClearStrategy is how the drive shall do it (key clear_strategy).
type ClearStrategy string

// The values of the two keys; an absent key means auto.
const (
	ActionAuto     ClearAction = "auto"
	ActionSanitize ClearAction = "sanitize"
	ActionZero     ClearAction = "zero"

	StrategyAuto   ClearStrategy = "auto"
	StrategyCrypto ClearStrategy = "crypto"
	StrategyBlock  ClearStrategy = "block"
)

// Policy is the erase an operator wants. The zero value is auto/auto.
type Policy struct {
	Action   ClearAction
	Strategy ClearStrategy
}

// Validate reports unknown values and combinations without a meaning; it returns a [*PolicyError].
func (p Policy) Validate() error {
	p = p.withDefaults()
	switch p.Action {
	case ActionAuto, ActionSanitize, ActionZero:
	default:
		return &PolicyError{Key: "clear_action", Value: string(p.Action), Reason: "use auto, sanitize or zero"}
	}
	switch p.Strategy {
	case StrategyAuto, StrategyCrypto, StrategyBlock:
	default:
		return &PolicyError{Key: "clear_strategy", Value: string(p.Strategy), Reason: "use auto, crypto or block"}
	}
	if p.Action == ActionZero && p.Strategy != StrategyAuto {
		return &PolicyError{Key: "clear_strategy", Value: string(p.Strategy), Reason: "has no meaning with clear_action zero"}
	}
	return nil
}

func (p Policy) withDefaults() Policy {
	if p.Action == "" {
		p.Action = ActionAuto
	}
	if p.Strategy == "" {
		p.Strategy = StrategyAuto
	}
	return p
}

// PolicyError is a value of an erase policy that cannot be followed.
type PolicyError struct{ Key, Value, Reason string }

// Error names key, value and what is allowed.
func (e *PolicyError) Error() string { return fmt.Sprintf("%s %q: %s", e.Key, e.Value, e.Reason) }
