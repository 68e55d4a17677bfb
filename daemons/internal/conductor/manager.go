package conductor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Requests is the part of the store that carries out the life cycle of accelerator requests. Every method is one
// transaction.
type Requests interface {
	// CreateARQs stores new requests, all or none.
	CreateARQs(ctx context.Context, requests []arq.New) ([]arq.Request, error)
	// Requests reads the requests that a filter chooses, in id order.
	Requests(ctx context.Context, f store.RequestFilter) ([]arq.Request, error)
	// Begin binds a request: it allocates a handle and leads to Bound, or to BindStarted when a step outside the
	// database is owed. A request that cannot be bound is recorded as BindFailed and its reason returned.
	Begin(ctx context.Context, b arq.Bind) (arq.Request, error)
	// StartProgramming notes that from now on nobody knows what the FPGA of a started bind carries, until Finish says.
	StartProgramming(ctx context.Context, uuid string) error
	// Finish records how the outside step of a bind ended.
	Finish(ctx context.Context, uuid string, o arq.Outcome) (arq.Request, error)
	// Release unbinds or deletes a request and settles its handle.
	Release(ctx context.Context, uuid string, how arq.Leave) (arq.Released, error)
}

// Profiles is the part of the store that keeps device profiles.
type Profiles interface {
	CreateProfile(ctx context.Context, p store.Profile) (store.Profile, error)
	DeleteProfile(ctx context.Context, uuid string) error
}

// Store is everything the conductor needs of the database.
type Store interface {
	reconcile.Store
	Requests
	Profiles
	Sweeps
	// Device reads one device with everything below it, and its host.
	Device(ctx context.Context, uuid string) (reconcile.Device, string, error)
}

// Notifier tells Nova how binds ended: one call for each patch.
type Notifier interface {
	Notify(ctx context.Context, events []nova.Event) error
}

// Agents runs the steps of a bind that only the host can do.
type Agents interface {
	CreateVGPUMdev(ctx context.Context, host string, args cyborgrpc.MdevArgs) error
	RemoveVGPUMdev(ctx context.Context, host string, args cyborgrpc.MdevArgs) error
	// FPGAProgram loads an image; false means that the driver could not.
	FPGAProgram(ctx context.Context, host string, args cyborgrpc.FPGAProgramArgs) (bool, error)
}

// Images finds what an FPGA is to be programmed with.
type Images interface {
	ByID(ctx context.Context, id string) (glance.Image, error)
	ByFunction(ctx context.Context, function string) (glance.Image, error)
}

// Providers reads and writes what of a resource provider is none of the reports' business.
type Providers interface {
	// ReplaceTraits takes off the traits that start with prefix and puts the wanted ones on.
	ReplaceTraits(ctx context.Context, uuid, prefix string, want ...string) error
	// InUse reports whether anything is allocated from a provider.
	InUse(ctx context.Context, uuid string) (bool, error)
}

// Config is what a conductor is made of.
type Config struct {
	Store      Store               // required
	Placement  reconcile.Placement // required
	Notifier   Notifier            // required
	Agents     Agents              // required
	Registry   *ovo.Registry       // required: the current classes
	Dispatcher *ovo.Dispatcher     // required: the remotable methods that this conductor runs
	// ReplyBudget is how long report_data waits for Placement before it answers; the run goes on. 0 means 5 s
	// ([conductor] report_reply_budget).
	ReplyBudget time.Duration
	// PlacementWorkers is the number of devices written to Placement at once; 0 means the runner's default
	// ([conductor] placement_workers).
	PlacementWorkers int
	// Images finds bitstreams; without it binds that need one fail.
	Images Images
	// Providers writes the trait of a programmed function and knows what is allocated; without it binds that would
	// write one fail and leaked handles stay.
	Providers Providers
	// BindTimeout bounds the programming of one patch; 0 means 60 s ([DEFAULT] bind_timeout).
	BindTimeout time.Duration
	// BindWorkers is the number of programmings at once; 0 means 10 ([DEFAULT] thread_pool_size).
	BindWorkers int
	// Retained, if set, is told how many devices are kept although their hosts do not report them, whenever a report
	// has been carried out. It must be safe for concurrent use.
	Retained func(devices int)
	// Moved, if set, is told of every transition of a request: the state it led to, "Deleted" for a row that is gone,
	// and how long it took from the call on. It must be safe for concurrent use.
	Moved func(to string, took time.Duration)
	// Now is the clock of the sweeps; nil is time.Now.
	Now    func() time.Time
	Logger *slog.Logger // nil discards
}

// Manager carries out the methods of the conductor.
type Manager struct {
	cfg  Config
	wire cyborgrpc.Wire
	log  *slog.Logger
	now  func() time.Time
	runs runs
	jobs background // binds that go on after their patch was answered
	busy inFlight

	programming chan struct{} // one element for each FPGA that is being programmed
}

// New makes a conductor. It starts nothing.
func New(cfg Config) (*Manager, error) {
	if cfg.Store == nil || cfg.Placement == nil || cfg.Notifier == nil || cfg.Agents == nil || cfg.Registry == nil || cfg.Dispatcher == nil {
		return nil, errors.New("conductor: store, placement, notifier, agents, registry and dispatcher are required")
	}
	if cfg.ReplyBudget <= 0 {
		cfg.ReplyBudget = 5 * time.Second
	}
	if cfg.BindTimeout <= 0 {
		cfg.BindTimeout = bindTimeout
	}
	if cfg.BindWorkers <= 0 {
		cfg.BindWorkers = 10
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{
		cfg: cfg, wire: cyborgrpc.NewWire(cfg.Registry), log: cfg.Logger, now: cfg.Now,
		programming: make(chan struct{}, cfg.BindWorkers),
	}
	runner := &reconcile.Runner{Store: cfg.Store, Placement: cfg.Placement, Log: cfg.Logger, Parallel: cfg.PlacementWorkers}
	m.runs.carryOut = (&reportRun{runner: runner, log: cfg.Logger, told: cfg.Retained, busy: &m.busy}).do
	return m, nil
}

// Close waits for the report runs and binds that go on after their answer, or until ctx ends; no further one starts.
func (m *Manager) Close(ctx context.Context) error {
	return errors.Join(m.runs.background.close(ctx), m.jobs.close(ctx))
}
