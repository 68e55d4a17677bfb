package cyborgrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/rpc"
)

// Limits are the caps of outgoing calls: [upgrade_levels] conductor and agent.
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

// ParseLimits reads the two options; "" stands for the default. Only numbers are caps: there is no auto. All
// that is wrong is reported at once, as *[CapError].
func ParseLimits(conductor, agent string) (Limits, error) {
	limits := DefaultLimits()
	return limits, errors.Join(
		parseCap("conductor", conductor, []string{"1.0", "1.1"}, &limits.Conductor),
		parseCap("agent", agent, []string{"1.0"}, &limits.Agent))
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
