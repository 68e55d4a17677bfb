package agent

import (
	"fmt"

	"github.com/go-cyborg/cyborg/rpc"
)

// IndirectionVersion is the conductor RPC version that has the object operations.
var IndirectionVersion = rpc.Version{Major: 1, Minor: 1}

// ConfigError is a failure that repeats until the operator changes the configuration or releases an
// allocation: it ends the agent's start, and withholds the report of a running agent.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// IndirectionError says that a configured feature needs object operations which the cap does not admit.
type IndirectionError struct {
	Feature       string
	Required, Cap rpc.Version
}

func (e *IndirectionError) Error() string {
	return fmt.Sprintf("%s needs conductor RPC version %s, but [upgrade_levels] conductor = %s does not admit it: "+
		"upgrade all conductors and raise the cap, or remove the setting", e.Feature, e.Required, e.Cap)
}
