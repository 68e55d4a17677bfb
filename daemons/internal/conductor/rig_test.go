package conductor_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

// rig is a conductor over a database file and a Placement that is spoken to over HTTP.
type rig struct {
	world
	file string
	db   *sql.DB // a peer's view of the rows
}

// rigConfig says what a rig is made of.
type rigConfig struct {
	File      string // of the database; made where it is missing
	URL       string // of a database server instead
	Placement http.RoundTripper
	Fault     func(store.Point) error
	Configure func(*conductor.Config)
}

func newRig(t *testing.T, c rigConfig) *rig {
	t.Helper()
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	if c.File == "" {
		c.File = filepath.Join(t.TempDir(), "cyborg.sqlite")
	}
	r := &rig{file: c.File, world: world{registry: registry, bus: memory.New(), agents: &agents{}, nova: &nova.Recorder{}, exceptions: cyborgrpc.Exceptions()}}
	if c.URL == "" {
		c.URL = "sqlite:///" + c.File
	}
	if r.store, err = store.Connect(t.Context(), store.Config{URL: c.URL, Unsynced: true, Fault: c.Fault}); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if r.db, err = sql.Open("sqlite", c.File); err != nil {
		t.Fatal(err)
	}
	client := placement.NewNoAuth("http://placement.invalid", &http.Client{Transport: c.Placement}, placement.Config{})
	r.configure = func(cfg *conductor.Config) {
		cfg.Placement, cfg.Providers = client, client
		if c.Configure != nil {
			c.Configure(cfg)
		}
	}
	r.serve(t)
	t.Cleanup(func() {
		r.stop()
		if err := errors.Join(r.db.Close(), r.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// newHosts is a Placement that knows hosts.
func newHosts(t *testing.T, hosts ...string) *placementtest.Handler {
	t.Helper()
	h := placementtest.New(nil)
	for _, name := range hosts {
		if _, err := h.Placement.CreateProvider(reconcile.ProviderUUID("root of "+name), name, ""); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// state is everything that the rig's database and a Placement hold, without ids, times and UUIDs.
func (r *rig) state(t *testing.T, h *placementtest.Handler) []string {
	t.Helper()
	return append(dumpRows(t, r.db).lines(nil), placementLines(t, h.Placement)...)
}

// device is the i-th device of a host: one deployable with handles.
func device(host string, i, handles int) *cyborg.DriverDevice {
	address := func(function int) string {
		return fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "0000", "function": "%d"}`, i/32+1, i%32, function)
	}
	list := make([]*cyborg.DriverAttachHandle, handles)
	for k := range list {
		list[k] = &cyborg.DriverAttachHandle{AttachType: ovo.Of("PCI"), AttachInfo: ovo.Of(address(k))}
	}
	return &cyborg.DriverDevice{
		Vendor: ovo.Of("abcd"), Model: ovo.Of("beef"), Type: ovo.Of(cyborg.GPU), StdBoardInfo: ovo.NullOf("{}"), VendorBoardInfo: ovo.NullOf("-"),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of(address(0))}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name: ovo.Of(fmt.Sprintf("%s_%04d", host, i)), NumAccelerators: ovo.Of(int64(handles)), DriverName: ovo.NullOf("TEST"),
			AttributeList: ovo.NullOf([]*cyborg.DriverAttribute{
				{Key: ovo.Of("rc"), Value: ovo.Of("CUSTOM_PCI")},
				{Key: ovo.Of("trait0"), Value: ovo.Of("OWNER_CYBORG")},
				{Key: ovo.Of("trait1"), Value: ovo.Of("CUSTOM_PCI_PRODUCT_ID_BEEF")},
			}),
			AttachHandleList: ovo.NullOf(list),
		}}),
	}
}

func devices(host string, n, handles int) []*cyborg.DriverDevice {
	out := make([]*cyborg.DriverDevice, n)
	for i := range out {
		out[i] = device(host, i, handles)
	}
	return out
}
