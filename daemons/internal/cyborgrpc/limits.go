package cyborgrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/upgradelevels"
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
	limits, err := ParseLimits("", "")
	if err != nil {
		panic("cyborgrpc: " + err.Error()) // a default that is no version is a mistake of the program
	}
	return limits
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
	var limits Limits
	err := errors.Join(
		parseCap(upgradelevels.Conductor(), conductor, &limits.Conductor),
		parseCap(upgradelevels.Agent(), agent, &limits.Agent))
	return limits, err
}

func parseCap(level upgradelevels.Level, value string, limit *rpc.Version) error {
	if value == "" {
		value = level.Default
	}
	if !slices.Contains(level.Allowed, value) {
		return &CapError{Option: level.Option, Value: value, Allowed: level.Allowed}
	}
	v, err := rpc.ParseVersion(value)
	*limit = v
	return err
}
