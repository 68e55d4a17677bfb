package agent

import (
	"context"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// Driver finds the accelerators of one kind on this host. The agent calls its methods one after the other,
// never at once.
type Driver interface {
	// Name is the driver's name in [agent] enabled_drivers.
	Name() string
	// InitHost validates the driver's configuration and what it needs of the conductor, before anything is
	// discovered or sent. A wrong configuration is a *[ConfigError].
	InitHost(ctx context.Context, conductor Caps) (Needs, error)
	// Discover lists the devices of the host. A *[ConfigError] stops the agent at start and withholds the
	// report later; any other error is transient and leaves its devices as they are stored. An unreadable host is an
	// error, never an empty list.
	Discover(ctx context.Context) ([]*cyborg.DriverDevice, error)
}

// Caps is what a driver may ask about the conductor: local decisions that send nothing.
type Caps interface {
	// SupportsObjectIndirection says whether the cap admits object operations.
	SupportsObjectIndirection() bool
	// Cap is the configured cap of outgoing conductor calls.
	Cap() rpc.Version
}

// Needs is what a driver's configuration asks of the deployment.
type Needs struct {
	// Indirection names the feature that cannot work without object operations in the conductor, "" for none.
	// While it is set, a conductor that is too old withholds the report instead of being worked around.
	Indirection string
}

// RequireIndirection is nil when the cap admits object operations, and otherwise a *[ConfigError] that names
// the feature, the version it requires, the cap and the option.
func RequireIndirection(conductor Caps, feature string) error {
	if conductor.SupportsObjectIndirection() {
		return nil
	}
	return &ConfigError{Err: &IndirectionError{Feature: feature, Required: IndirectionVersion, Cap: conductor.Cap()}}
}
