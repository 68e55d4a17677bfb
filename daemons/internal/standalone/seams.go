package standalone

import (
	"net/http"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/api"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Store is everything that the services need of the database.
type Store interface {
	conductor.Store
	api.Store
	cyborg.Store
}

// Seams decorate parts of the services. A nil seam leaves its part as it is. Tests use them to take one
// mechanism away and see that its absence shows.
type Seams struct {
	Store     func(Store) Store
	Placement func(reconcile.Placement) reconcile.Placement
	Notifier  func(conductor.Notifier) conductor.Notifier
	Handler   func(http.Handler) http.Handler         // of the REST API
	Options   func(drivers.Options) drivers.Options   // of the agent's drivers
	Inventory func(agent.Inventory) agent.Inventory   // as the agent sees persisted state
	Limits    func(cyborgrpc.Limits) cyborgrpc.Limits // of every RPC client
	Objects   func(cyborg.Objects) cyborg.Objects     // remotable methods of a caller
}

func through[T any](seam func(T) T, part T) T {
	if seam == nil {
		return part
	}
	return seam(part)
}
