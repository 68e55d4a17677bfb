package conductor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(crashVariable); job != "" {
		if err := crashChild(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// world is a conductor over SQLite and an in-memory Placement, reached over RPC.
type world struct {
	registry  *ovo.Registry
	bus       *memory.Bus
	client    *rpc.Client
	store     *store.Store
	placement *reconciletest.Placement
	nova      *nova.Recorder
	agents    *agents
	conductor *cyborgrpc.ConductorAPI
	objects   cyborg.Objects
	// configure changes the conductor's configuration before it starts; stop ends it and waits.
	configure func(*conductor.Config)
	stop      func()
	// exceptions is how the caller decodes failures.
	exceptions rpc.Exceptions
}

// agents records calls to agents and fails them on request.
type agents struct {
	mu    sync.Mutex
	calls []string
	err   error
	// during, if set, is called in the middle of every call.
	during func()
	// programs, if set, is how a programming ends.
	programs func(context.Context) (bool, error)
}

func (a *agents) call(what, host string, args cyborgrpc.MdevArgs) error {
	if a.during != nil {
		a.during()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, what+" "+host+" "+args.PCIAddr+" "+args.AskedType)
	return a.err
}

func (a *agents) CreateVGPUMdev(_ context.Context, host string, args cyborgrpc.MdevArgs) error {
	return a.call("create", host, args)
}

func (a *agents) RemoveVGPUMdev(_ context.Context, host string, args cyborgrpc.MdevArgs) error {
	return a.call("remove", host, args)
}

func (a *agents) FPGAProgram(ctx context.Context, host string, args cyborgrpc.FPGAProgramArgs) (bool, error) {
	if a.programs != nil {
		return a.programs(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, "program "+host+" "+args.BitstreamUUID+" "+args.DriverName+" "+string(args.ControlpathID.CpidInfo))
	return a.err == nil, a.err
}

const hostname = "compute-1"

func newWorld(t *testing.T) *world {
	t.Helper()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{registry: registry, bus: memory.New(), placement: &reconciletest.Placement{}, nova: &nova.Recorder{}, agents: &agents{}, exceptions: cyborgrpc.Exceptions()}
	if _, err := w.placement.CreateProvider("", hostname, ""); err != nil {
		t.Fatal(err)
	}
	w.store, err = store.Connect(t.Context(), store.Config{URL: "sqlite:///" + filepath.Join(t.TempDir(), "cyborg.sqlite"), Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.store.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	w.serve(t)
	return w
}

// serve runs the conductor on the bus and connects a caller.
func (w *world) serve(t *testing.T) *conductor.Manager {
	t.Helper()
	dispatcher, err := cyborg.Local(w.store).Dispatcher(w.registry)
	if err != nil {
		t.Fatal(err)
	}
	cfg := conductor.Config{
		Store: w.store, Placement: w.placement, Notifier: w.nova, Agents: w.agents,
		Registry: w.registry, Dispatcher: dispatcher,
	}
	if w.configure != nil {
		w.configure(&cfg)
	}
	manager, err := conductor.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := manager.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	wire := cyborgrpc.NewWire(w.registry)
	up := make(chan struct{})
	once := sync.OnceFunc(func() { close(up) })
	server, err := rpc.NewServer(w.bus, rpc.ServerConfig{
		Target:    rpc.Target{Topic: cyborgrpc.ConductorTopic, Server: "c1"},
		Endpoints: []*rpc.Endpoint{endpoint}, Serializer: wire, Exceptions: cyborgrpc.Exceptions(),
		Ready: func(ready bool) {
			if ready {
				once()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	w.client = rpc.NewClient(w.bus, rpc.ClientConfig{Serializer: wire, Exceptions: w.exceptions})
	w.stop = sync.OnceFunc(func() {
		if err := w.client.Close(context.Background()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := manager.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	<-up
	if w.conductor, err = cyborgrpc.NewConductorAPI(w.client, wire, cyborgrpc.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = cyborg.Remote(w.registry, w.conductor.Indirection()); err != nil {
		t.Fatal(err)
	}
	return manager
}

// as is a context of a caller.
func as(t *testing.T, admin bool, project string) context.Context {
	t.Helper()
	return rpc.WithRequest(t.Context(), &rpc.RequestContext{IsAdmin: admin, IsAdminProject: true, ProjectID: project})
}

// reported is a device with one deployable and handles of a type.
func reported(function, handleType string, infos ...string) *cyborg.DriverDevice {
	handles := make([]*cyborg.DriverAttachHandle, len(infos))
	for i, info := range infos {
		handles[i] = &cyborg.DriverAttachHandle{AttachType: ovo.Of(handleType), AttachInfo: ovo.Of(info)}
	}
	return &cyborg.DriverDevice{
		Vendor: ovo.Of("10de"), Model: ovo.Of("25b6"), Type: ovo.Of(cyborg.GPU),
		StdBoardInfo: ovo.NullOf("{}"), VendorBoardInfo: ovo.NullOf("-"),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of(address(function))}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name: ovo.Of(hostname + "_" + function), NumAccelerators: ovo.Of(int64(len(infos))),
			AttributeList: ovo.NullOf([]*cyborg.DriverAttribute{
				{Key: ovo.Of("rc"), Value: ovo.Of("CUSTOM_PCI")}, {Key: ovo.Of("trait0"), Value: ovo.Of("OWNER_CYBORG")},
			}),
			AttachHandleList: ovo.NullOf(handles),
		}}),
	}
}

func address(function string) string {
	return `{"bus": "25", "device": "00", "domain": "0000", "function": "` + function + `"}`
}

// providerOf is the resource provider of a device that [reported] makes.
func providerOf(function string) string { return reconcile.ProviderUUID(hostname + "_" + function) }
