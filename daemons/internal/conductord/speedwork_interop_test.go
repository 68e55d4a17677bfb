package conductord_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

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

// report is how long a report took.
func report(t *testing.T, api *cyborgrpc.ConductorAPI, host string, all []*cyborg.DriverDevice) time.Duration {
	t.Helper()
	start := time.Now()
	if err := api.ReportData(speedContext(t), host, all); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
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
