package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/rpc"
)

// TestTwoConductors lets 20 hosts report to two conductors on one database, with devices that come and go and change,
// while 200 binds and unbinds run: no handle is given out twice, no request is lost, no deadlock reaches a caller, and
// one calm report of each host ends in the state of the report.
func TestTwoConductors(t *testing.T) {
	t.Parallel()
	twoConductors(t, rigConfig{})
}

// TestTwoConductorsIntegration does the same on the databases of the environment.
func TestTwoConductorsIntegration(t *testing.T) {
	for engine, url := range map[string]string{"mysql": os.Getenv("CYBORG_TEST_MYSQL_URL"), "postgresql": os.Getenv("CYBORG_TEST_POSTGRES_URL")} {
		t.Run(engine, func(t *testing.T) {
			if url == "" {
				t.Skip("no address of a database")
			}
			twoConductors(t, rigConfig{URL: url})
		})
	}
}

const (
	crowdHosts   = 20
	crowdDevices = 4
	crowdBinds   = 200
)

func twoConductors(t *testing.T, c rigConfig) {
	t.Helper()
	prefix := "crowd-" + uuid.NewString()[:8]
	hosts := make([]string, crowdHosts)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("%s-%02d", prefix, i)
	}
	h := newHosts(t, hosts...)
	c.Placement = placementtest.Client(h).Transport
	first := newRig(t, c)
	c.File = first.file
	second := newRig(t, c)
	rigs := []*rig{first, second}
	ctx := as(t, true, "")
	for _, host := range hosts {
		if err := first.conductor.ReportData(ctx, host, devices(host, crowdDevices, 2)); err != nil {
			t.Fatal(err)
		}
	}
	requests := crowdRequests(t, first)

	var group sync.WaitGroup
	var reports, binds atomic.Int32
	done, stop := context.WithCancel(ctx)
	for i, host := range hosts {
		group.Go(func() {
			for n := 0; done.Err() == nil; n++ {
				if err := rigs[(i+n)%2].conductor.ReportData(ctx, host, crowdReport(host)); err != nil {
					t.Errorf("report of %s: %v", host, err)
					return
				}
				reports.Add(1)
			}
		})
	}
	var guests sync.WaitGroup
	for g := range 8 {
		guests.Go(func() {
			for i := g; i < crowdBinds; i += 8 {
				if bindOnce(ctx, t, rigs[i%2], hosts[rand.N(len(hosts))], requests[i]) {
					binds.Add(1)
				}
				if i%3 == 0 {
					if err := rigs[(i+1)%2].conductor.ARQApplyPatch(ctx, patches([]string{requests[i]}, cyborgrpc.OpRemove), nil); err != nil {
						t.Errorf("unbind: %v", err)
					}
				}
			}
		})
	}
	guests.Wait()
	stop()
	group.Wait()
	t.Logf("%d reports, %d of %d binds succeeded", reports.Load(), binds.Load(), crowdBinds)
	for _, host := range hosts {
		if err := second.conductor.ReportData(ctx, host, devices(host, crowdDevices, 2)); err != nil {
			t.Fatal(err)
		}
	}
	checkCrowd(t, first.store, hosts, requests)
	if err := first.conductor.ARQDeleteByUUID(ctx, requests); err != nil {
		t.Error(err)
	}
	for _, host := range hosts { // nothing is held any more, so nothing may be left
		if err := second.conductor.ReportData(ctx, host, nil); err != nil {
			t.Error(err)
		}
		if have, err := first.store.Inventory(ctx, host); err != nil || len(have.Devices) > 0 {
			t.Errorf("host %s: %v, %d devices left", host, err, len(have.Devices))
		}
	}
	if binds.Load() == 0 || reports.Load() < crowdHosts {
		t.Errorf("nothing was tested: %d binds, %d reports", binds.Load(), reports.Load())
	}
}

// crowdReport leaves some devices out and changes the number of units of others.
func crowdReport(host string) (out []*cyborg.DriverDevice) {
	for i := range crowdDevices {
		switch rand.N(6) {
		case 0:
		case 1:
			out = append(out, device(host, i, 1))
		default:
			out = append(out, device(host, i, 2))
		}
	}
	return out
}

func crowdRequests(t *testing.T, r *rig) []string {
	t.Helper()
	p, err := r.store.CreateProfile(t.Context(), store.Profile{Name: "crowd-" + uuid.NewString(), Groups: []arq.Group{{{Key: "resources:CUSTOM_PCI", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	news := make([]arq.New, crowdBinds)
	for i := range news {
		news[i].ProfileID = p.ID
	}
	made, err := r.store.CreateARQs(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(made))
	for i := range made {
		out[i] = made[i].UUID
	}
	return out
}

// bindOnce binds a request to some device of a host. That there is no free handle, or that the device is off offer at
// the moment, is an answer; anything else is a failure.
func bindOnce(ctx context.Context, t *testing.T, r *rig, host, request string) bool {
	provider, guest := reconcile.ProviderUUID(fmt.Sprintf("%s_%04d", host, rand.N(crowdDevices))), uuid.NewString()
	err := r.conductor.ARQApplyPatch(ctx, patches([]string{request}, cyborgrpc.OpAdd), map[string]cyborgrpc.ARQFields{
		request: {Hostname: &host, DeviceRPUUID: &provider, InstanceUUID: &guest},
	})
	var none *arq.NotFoundError
	var remote *rpc.RemoteError
	switch {
	case err == nil:
		return true
	case errors.As(err, &none):
	case errors.As(err, &remote) && strings.Contains(remote.Message, "not found"):
	default:
		t.Errorf("bind: %v", err)
	}
	return false
}

// checkCrowd: each bound request owns a handle of its own that is in use, every other handle is free, every device is
// there once and on offer.
func checkCrowd(t *testing.T, s *store.Store, hosts, requests []string) {
	t.Helper()
	owners := map[string]string{} // handle to request
	for _, id := range requests {
		q, err := s.Request(t.Context(), id)
		if err != nil {
			t.Errorf("request %s is lost: %v", id, err)
			continue
		}
		if (q.State == arq.Bound) != (q.Handle != nil) {
			t.Errorf("request %s is %s with handle %v", id, q.State, q.Handle)
		}
		if q.Handle != nil {
			if other, twice := owners[q.Handle.UUID]; twice {
				t.Errorf("handle %s was given to %s and %s", q.Handle.UUID, other, id)
			}
			owners[q.Handle.UUID] = id
		}
	}
	found := 0
	for _, host := range hosts {
		have, err := s.Inventory(t.Context(), host)
		if err != nil {
			t.Fatal(err)
		}
		if len(have.Devices) != crowdDevices {
			t.Errorf("host %s has %d devices", host, len(have.Devices))
		}
		for i := range have.Devices {
			for _, p := range have.Devices[i].Deployables {
				functions := map[string]bool{}
				for _, handle := range p.Handles {
					if functions[handle.Info] {
						t.Errorf("two handles of %s", handle.Info)
					}
					functions[handle.Info] = true
					if handle.InUse != (owners[handle.UUID] != "") {
						t.Errorf("handle %s: in use %t, owner %q", handle.UUID, handle.InUse, owners[handle.UUID])
					}
					if owners[handle.UUID] != "" {
						found++
					}
				}
				if p.Offer == "" || len(p.Handles) != 2 {
					t.Errorf("deployable %s: offer %q, %d handles", p.Name, p.Offer, len(p.Handles))
				}
			}
		}
	}
	if found != len(owners) {
		t.Errorf("%d of %d handles of bound requests exist", found, len(owners))
	}
}
