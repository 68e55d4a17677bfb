package conductord_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// client calls the conductor that serves the stack, as agent and API do.
func (s *stack) client(t *testing.T) *cyborgrpc.ConductorAPI {
	t.Helper()
	bus, err := amqp.Open(amqp.Config{URL: "rabbit://guest:guest@127.0.0.1:5672/" + s.name, ControlExchange: "cyborg"})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	wire := cyborgrpc.NewWire(registry)
	client := rpc.NewClient(bus, rpc.ClientConfig{Serializer: wire, Exceptions: cyborgrpc.Exceptions(), Timeout: time.Hour})
	t.Cleanup(func() {
		_ = client.Close(context.Background())
		_ = bus.Close(context.Background())
	})
	api, err := cyborgrpc.NewConductorAPI(client, wire, cyborgrpc.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func speedContext(t *testing.T) context.Context {
	return rpc.WithRequest(t.Context(), rpc.AdminContext())
}

// speedDevices are n devices of a host: one deployable, one handle, three attributes each.
func speedDevices(host string, n int) []*cyborg.DriverDevice {
	out := make([]*cyborg.DriverDevice, n)
	for i := range out {
		address := fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "0000", "function": "%d"}`, i/256+1, i/8%32, i%8)
		out[i] = &cyborg.DriverDevice{
			Vendor: ovo.Of("abcd"), Model: ovo.Of("beef"), Type: ovo.Of(cyborg.GPU), StdBoardInfo: ovo.NullOf("{}"), VendorBoardInfo: ovo.NullOf("-"), Stub: ovo.Of(false),
			ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of(address)}),
			DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
				Name: ovo.Of(fmt.Sprintf("%s_%04d", host, i)), NumAccelerators: ovo.Of[int64](1), DriverName: ovo.NullOf("TEST"),
				AttributeList: ovo.NullOf([]*cyborg.DriverAttribute{
					{Key: ovo.Of("rc"), Value: ovo.Of("CUSTOM_PCI")},
					{Key: ovo.Of("trait0"), Value: ovo.Of("OWNER_CYBORG")},
					{Key: ovo.Of("trait1"), Value: ovo.Of("CUSTOM_PCI_PRODUCT_ID_BEEF")},
				}),
				AttachHandleList: ovo.NullOf([]*cyborg.DriverAttachHandle{{AttachType: ovo.Of("PCI"), AttachInfo: ovo.Of(address), InUse: ovo.Of(false)}}),
			}}),
		}
	}
	return out
}

// reports times a first report and the shortest of some unchanged ones.
func reports(t *testing.T, api *cyborgrpc.ConductorAPI, host string, n, again int) (first, unchanged time.Duration) {
	t.Helper()
	all := speedDevices(host, n)
	for i := range 1 + again {
		start := time.Now()
		if err := api.ReportData(speedContext(t), host, all); err != nil {
			t.Fatal(err)
		}
		switch took := time.Since(start); {
		case i == 0:
			first = took
		case unchanged == 0 || took < unchanged:
			unchanged = took
		}
	}
	return first, unchanged
}

// bare sends the three requests of n new providers to Placement, four devices at a time, and nothing else.
func (s *stack) bare(t *testing.T, n int) time.Duration {
	t.Helper()
	root := reconcile.ProviderUUID("bare-root")
	if status, answer := s.placementCall(http.MethodPost, "/resource_providers", map[string]string{"uuid": root, "name": "bare-root"}); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	send := func(method, path string, body any) {
		if status, answer := s.placementCall(method, path, body); status >= http.StatusBadRequest {
			t.Errorf("%s %s: %d %v", method, path, status, answer)
		}
	}
	queue := make(chan int)
	var workers sync.WaitGroup
	start := time.Now()
	for range 4 {
		workers.Go(func() {
			for i := range queue {
				name := fmt.Sprintf("bare_%04d", i)
				id := reconcile.ProviderUUID(name)
				send(http.MethodPost, "/resource_providers", map[string]string{"uuid": id, "name": name, "parent_provider_uuid": root})
				send(http.MethodPut, "/resource_providers/"+id+"/traits", map[string]any{
					"resource_provider_generation": 0, "traits": []string{"OWNER_CYBORG", "CUSTOM_PCI_PRODUCT_ID_BEEF"},
				})
				send(http.MethodPut, "/resource_providers/"+id+"/inventories", map[string]any{
					"resource_provider_generation": 1,
					"inventories":                  map[string]any{"CUSTOM_PCI": map[string]int{"total": 1, "max_unit": 1, "reserved": 0}},
				})
			}
		})
	}
	for i := range n {
		queue <- i
	}
	close(queue)
	workers.Wait()
	return time.Since(start)
}

// cycle does ARQ create, bind, unbind and delete over RPC.
func (s *stack) cycle(t *testing.T, api *cyborgrpc.ConductorAPI, host string, profile int64) time.Duration {
	t.Helper()
	provider, guest := reconcile.ProviderUUID(host+"_0000"), uuid.NewString()
	start := time.Now()
	saved, err := api.ARQCreate(speedContext(t), &cyborg.ExtARQ{ARQ: ovo.Of(&cyborg.ARQ{
		DeviceProfileName: ovo.Of("speed"), DeviceProfileGroupID: ovo.Of[int64](0), ProjectID: ovo.NullOf("p"),
	})}, profile)
	if err != nil {
		t.Fatal(err)
	}
	id := saved.ARQ.Value().UUID.Value()
	add := cyborgrpc.ARQPatches{{UUID: id, Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: cyborgrpc.OpAdd, Value: &host}}}}
	remove := cyborgrpc.ARQPatches{{UUID: id, Ops: []cyborgrpc.PatchOp{{Path: "/hostname", Op: cyborgrpc.OpRemove}}}}
	if err := api.ARQApplyPatch(speedContext(t), add, map[string]cyborgrpc.ARQFields{id: {Hostname: &host, DeviceRPUUID: &provider, InstanceUUID: &guest}}); err != nil {
		t.Fatal(err)
	}
	if err := api.ARQApplyPatch(speedContext(t), remove, map[string]cyborgrpc.ARQFields{id: {}}); err != nil {
		t.Fatal(err)
	}
	if err := api.ARQDeleteByUUID(speedContext(t), []string{id}); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}

// cycles gives the medians of some cycles and of the logins to Keystone between them: the peer logs in for every bind.
func (s *stack) cycles(t *testing.T, api *cyborgrpc.ConductorAPI, host string, profile int64) (cycle, login time.Duration) {
	t.Helper()
	const rounds = 21
	var cycles, logins []time.Duration
	for range rounds {
		cycles = append(cycles, s.cycle(t, api, host, profile))
		start := time.Now()
		s.token("cyborg", "service")
		logins = append(logins, time.Since(start))
	}
	slices.Sort(cycles)
	slices.Sort(logins)
	return cycles[rounds/2], logins[rounds/2]
}

// figures are what one conductor took.
type figures struct{ first, unchanged, cycle, login time.Duration }

func (s *stack) figures(t *testing.T, start func(string) func(), host string, n, again int) (f figures) {
	t.Helper()
	s.addHost(host)
	stop := start("speed.conf")
	defer stop()
	api := s.client(t)
	f.first, f.unchanged = reports(t, api, host, n, again)
	groups, err := cyborgrpc.GroupDicts([]arq.Group{{{Key: "resources:CUSTOM_PCI", Value: "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := api.DeviceProfileCreate(speedContext(t), &cyborg.DeviceProfile{Name: ovo.Of("speed-" + host), Groups: ovo.Of(groups)})
	if err != nil {
		t.Fatal(err)
	}
	f.cycle, f.login = s.cycles(t, api, host, p.ID.Value())
	return f
}

// requests is the number of requests to Placement so far.
func (s *stack) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// TestInteropSpeed measures both conductors side by side on one database, one Placement and one Keystone. The full size
// takes the peer several minutes: without CYBORG_TEST_FULL=1 it is a quarter, and the ratios are printed, not judged.
func TestInteropSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	s := newStack(t)
	s.inside("cyborg-dbsync", "--config-file", s.dir+"/cyborg.conf", "upgrade")
	n, again, full := 128, 5, os.Getenv("CYBORG_TEST_FULL") == "1"
	if full {
		n = 512
	}
	text, err := os.ReadFile(s.root + s.dir + "/cyborg.conf")
	if err != nil {
		t.Fatal(err)
	}
	s.write("speed.conf", strings.Replace(string(text), "[DEFAULT]\n", "[DEFAULT]\nrpc_response_timeout = 3600\n", 1)+"[conductor]\nreport_reply_budget = 3600\n")
	before := s.requests()
	ours := s.figures(t, s.goConductor, "speed-go", n, again)
	perDevice := float64(s.requests()-before) / float64(n)
	bare := s.bare(t, n)
	theirs := s.figures(t, s.pythonConductor, "speed-python", n, 1)
	var devices int
	if err := s.mysql(s.name + "_cyborg").QueryRow("SELECT COUNT(*) FROM devices").Scan(&devices); err != nil || devices != 2*n {
		t.Errorf("%d devices: %v", devices, err)
	}
	ratio := func(a, b time.Duration) float64 { return float64(a) / float64(b) }
	fmt.Fprintf(os.Stdout, "interop speed: %d devices first: Go %s, Python %s, ratio %.1f; bare requests %s, Go is %.2f times that; %.2f requests per device\n",
		n, ours.first, theirs.first, ratio(theirs.first, ours.first), bare, ratio(ours.first, bare), perDevice)
	fmt.Fprintf(os.Stdout, "interop speed: %d devices unchanged: Go %s, Python %s, ratio %.0f\n", n, ours.unchanged, theirs.unchanged, ratio(theirs.unchanged, ours.unchanged))
	fmt.Fprintf(os.Stdout, "interop speed: ARQ cycle: Go %s, Python %s, ratio %.1f; login %s, ratio without it %.1f\n",
		ours.cycle, theirs.cycle, ratio(theirs.cycle, ours.cycle), theirs.login, ratio(theirs.cycle-theirs.login, ours.cycle))
	if !full {
		return
	}
	for what, ok := range map[string]bool{
		"unchanged report 1,000 times faster":     ratio(theirs.unchanged, ours.unchanged) >= 1000,
		"first report 4 times faster":             ratio(theirs.first, ours.first) >= 4,
		"first report within 1.3 bare requests":   ratio(ours.first, bare) <= 1.3,
		"ARQ cycle 20 times faster":               ratio(theirs.cycle, ours.cycle) >= 20,
		"ARQ cycle 3 times faster without logins": ratio(theirs.cycle-theirs.login, ours.cycle) >= 3,
	} {
		if !ok {
			t.Errorf("missed: %s", what)
		}
	}
}
