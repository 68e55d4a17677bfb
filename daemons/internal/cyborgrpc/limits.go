package cyborgrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/rpc"
)

// Limits are the caps of outgoing calls: [upgrade_levels] conductor and agent. A zero cap is the default: no client
// goes without one.
type Limits struct {
	Conductor rpc.Version // 1.0 or 1.1
	Agent     rpc.Version // 1.0
}

// DefaultLimits are the defaults of the options: conductor 1.1, agent 1.0.
func DefaultLimits() Limits {
	return Limits{Conductor: rpc.Version{Major: 1, Minor: 1}, Agent: rpc.Version{Major: 1}}
}

// CapError says that the value of an option of [upgrade_levels] is no cap that this client supports.
type CapError struct {
	Option  string // conductor or agent
	Value   string
	Allowed []string
}

func (e *CapError) Error() string {
	return fmt.Sprintf("[upgrade_levels] %s: %q is not a version that this client supports; use %s",
		e.Option, e.Value, strings.Join(e.Allowed, " or "))
}

// The caps that the clients of this package support.
func conductorCaps() []string { return []string{"1.0", ConductorVersion} }
func agentCaps() []string     { return []string{AgentVersion} }

// checked is l with defaults for zero caps; a cap that a client does not support is a *[CapError].
func (l Limits) checked() (Limits, error) {
	conductor, agent := "", ""
	if !l.Conductor.IsZero() {
		conductor = l.Conductor.String()
	}
	if !l.Agent.IsZero() {
		agent = l.Agent.String()
	}
	return ParseLimits(conductor, agent)
}

// ParseLimits reads the two options; "" stands for the default. Only numbers are caps: there is no auto. All
// that is wrong is reported at once, as *[CapError].
func ParseLimits(conductor, agent string) (Limits, error) {
	limits := DefaultLimits()
	return limits, errors.Join(
		parseCap("conductor", conductor, conductorCaps(), &limits.Conductor),
		parseCap("agent", agent, agentCaps(), &limits.Agent))
}

func parseCap(option, value string, allowed []string, limit *rpc.Version) error {
	if value == "" {
		return nil
	}
	if slices.Contains(allowed, value) {
		v, err := rpc.ParseVersion(value)
		*limit = v
		return err
	}
	return &CapError{Option: option, Value: value, Allowed: allowed}
}
