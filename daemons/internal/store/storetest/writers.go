package storetest

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Scene is a host with something for every writer to do.
type Scene struct {
	Store *store.Store `json:"-"`
	Host  string
	// Devices: one of several handles, one of mdev handles, one NVMe that is
	// allocated, one that is pending_cleaning, and one that nobody holds.
	Devices []reconcile.Device
	Profile store.Profile
	// Initial may be bound, Bound is bound to the first device, Started to the
	// second, Cleaned to the third.
	Initial, Bound, Started, Cleaned arq.Request
}

// NewScene writes a scene.
func NewScene(t testing.TB, s *store.Store, host string) *Scene {
	t.Helper()
	sc := &Scene{Store: s, Host: host}
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	f := &fixture{host: host}
	plain, mdev, nvme, dirty := f.device(1, 3), f.device(2, 1), f.nvmeDevice(3), f.nvmeDevice(4)
	mdev.Deployables[0].Handles[0].Type = arq.HandleMDEV
	dirty.State = reconcile.StatePendingCleaning
	ds, err := s.Insert(ctx, host, []reconcile.Device{plain, mdev, nvme, dirty, f.device(5, 1)})
	must(err)
	for _, d := range ds {
		_, err := s.Offer(ctx, []reconcile.Claim{{ID: d.Deployables[0].ID, Offer: provider(d.Deployables[0].Name)}})
		must(err)
	}
	sc.Profile, err = s.CreateProfile(ctx, store.Profile{Name: host, Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	must(err)
	qs, err := s.CreateARQs(ctx, []arq.New{{ProfileID: sc.Profile.ID}, {ProfileID: sc.Profile.ID}, {ProfileID: sc.Profile.ID}, {ProfileID: sc.Profile.ID}})
	must(err)
	sc.Initial = qs[0]
	for i, q := range []*arq.Request{&sc.Bound, &sc.Started, &sc.Cleaned} {
		*q, err = s.Begin(ctx, sc.bindTo(qs[i+1], i))
		must(err)
	}
	sc.Cleaned, err = s.Finish(ctx, sc.Cleaned.UUID, arq.Outcome{Event: arq.EventStepDone})
	must(err)
	inv, err := s.Inventory(ctx, host)
	must(err)
	sc.Devices = inv.Devices
	return sc
}

func (s *Scene) bindTo(q arq.Request, device int) arq.Bind {
	return arq.Bind{
		UUID: q.UUID, Hostname: s.Host, InstanceUUID: provider(s.Host), ProjectID: "p",
		DeviceRPUUID: provider((&fixture{host: s.Host}).device(device+1, 0).Deployables[0].Name),
	}
}

// rows is everything that a scene's writers may touch.
func (s *Scene) mustRows(t testing.TB) []any {
	t.Helper()
	rows, err := s.Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Rows reads everything that the scene's writers may touch.
func (s *Scene) Rows(ctx context.Context) ([]any, error) {
	inv, err := s.Store.Inventory(ctx, s.Host)
	if err != nil {
		return nil, err
	}
	profiles, err := s.Store.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	var own []store.Profile
	for _, p := range profiles {
		if p.Name == s.Host || p.Name == s.Host+"-new" {
			own = append(own, p)
		}
	}
	requests, err := s.Store.Requests(ctx, store.RequestFilter{})
	if err != nil {
		return nil, err
	}
	var states []string
	for _, q := range requests {
		if q.ProfileID == s.Profile.ID {
			states = append(states, q.UUID+" "+string(q.State)+" "+q.InstanceUUID)
		}
	}
	return []any{inv, own, states}, nil
}

// Writer is a transaction that changes a [Scene].
type Writer struct {
	Name string
	Run  func(context.Context, *Scene) error
}

// Writers returns every transaction of a store that writes.
func Writers() []Writer {
	version := func(d reconcile.Device) []reconcile.Version {
		return []reconcile.Version{{ID: d.Deployables[0].ID, UpdatedAt: d.Deployables[0].UpdatedAt}}
	}
	return []Writer{
		{"Insert", func(ctx context.Context, s *Scene) error {
			d := (&fixture{host: s.Host}).device(9, 2)
			_, err := s.Store.Insert(ctx, s.Host, []reconcile.Device{d})
			return err
		}},
		{"Withdraw", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.Withdraw(ctx, version(s.Devices[0]))
			return err
		}},
		{"Commit", func(ctx context.Context, s *Scene) error {
			d := s.Devices[0]
			p := d.Deployables[0]
			_, err := s.Store.Commit(ctx, reconcile.DevicePlan{Have: &d, Steps: []reconcile.Step{
				reconcile.SetBoard{Type: "GPU", Vendor: "v"},
				reconcile.SetNumAccelerators{Deployable: p.ID, To: 9},
				reconcile.SetAttribute{Attribute: p.Attributes[0].ID, To: "x"},
				reconcile.InsertHandle{Deployable: p.ID, Type: arq.HandlePCI, Info: "{}"},
			}})
			return err
		}},
		{"Remove", func(ctx context.Context, s *Scene) error {
			return s.Store.Remove(ctx, &s.Devices[4])
		}},
		{"Begin", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.Begin(ctx, s.bindTo(s.Initial, 0))
			return err
		}},
		{"Finish", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.Finish(ctx, s.Started.UUID, arq.Outcome{Event: arq.EventStepFailed})
			return err
		}},
		{"Release", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.Release(ctx, s.Bound.UUID, arq.LeaveDelete)
			return err
		}},
		{"Release of an NVMe device", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.Release(ctx, s.Cleaned.UUID, arq.LeaveUnbind)
			return err
		}},
		{"BeginCleanup", func(ctx context.Context, s *Scene) error {
			return s.Store.BeginCleanup(ctx, s.Devices[3].UUID, "a")
		}},
		{"UpdateAttachInfo", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.UpdateAttachInfo(ctx, s.freeHandle())
			return err
		}},
		{"CreateARQs", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.CreateARQs(ctx, []arq.New{{UUID: uuid.NewString(), ProfileID: s.Profile.ID}, {ProfileID: s.Profile.ID}})
			return err
		}},
		{"CreateProfile", func(ctx context.Context, s *Scene) error {
			_, err := s.Store.CreateProfile(ctx, store.Profile{Name: s.Host + "-new", Groups: s.Profile.Groups})
			return err
		}},
	}
}

// freeHandle describes the change of the text of a handle that nobody holds.
func (s *Scene) freeHandle() cyborg.AttachInfoUpdate {
	d := clone(s.Devices[0])
	for _, h := range d.Deployables[0].Handles {
		if !h.Held() {
			d.Deployables[0].Handles = []reconcile.Handle{h}
			break
		}
	}
	return (&fixture{host: s.Host}).update(d, `{"managed": false}`)
}
