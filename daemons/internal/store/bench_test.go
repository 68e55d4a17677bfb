package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// BenchmarkReport is a report of 512 devices (one handle, three attributes
// each) through reconcile.Runner, with a Placement in the process: the
// database's and our own part of it. Run with the URLs of the servers, or it
// is SQLite alone.
func BenchmarkReport(b *testing.B) {
	for engine, url := range engines(b) {
		var statements atomic.Int64
		s := opener(url)(b, func(cfg *store.Config) {
			cfg.Unsynced = false
			cfg.Fault = func(p store.Point) error {
				if p.Stage != store.StageCommitted {
					statements.Add(1)
				}
				return nil
			}
		})
		ctx := context.Background()
		run := func(b *testing.B, r *reconcile.Runner, host string, ds []reconcile.Device) {
			b.Helper()
			res, err := r.Run(ctx, host, ds)
			if err != nil || len(res.Problems) > 0 {
				b.Fatalf("%v, %v", res.Problems, err)
			}
		}
		b.Run("first/"+engine, func(b *testing.B) {
			statements.Store(0)
			for range b.N {
				b.StopTimer()
				r, host, ds := reporter(b, s)
				b.StartTimer()
				run(b, r, host, ds)
			}
			b.ReportMetric(float64(statements.Load())/float64(b.N), "statements/op")
		})
		b.Run("unchanged/"+engine, func(b *testing.B) {
			r, host, ds := reporter(b, s)
			run(b, r, host, ds)
			statements.Store(0)
			b.ResetTimer()
			for range b.N {
				run(b, r, host, ds)
			}
			b.ReportMetric(float64(statements.Load())/float64(b.N), "statements/op")
		})
	}
}

// reporter makes a host with a Placement of its own.
func reporter(b *testing.B, s *store.Store) (*reconcile.Runner, string, []reconcile.Device) {
	b.Helper()
	host := "bench-" + uuid.NewString()
	placement := &reconciletest.Placement{}
	if _, err := placement.CreateProvider(uuid.NewString(), host, ""); err != nil {
		b.Fatal(err)
	}
	ds := make([]reconcile.Device, 512)
	for i := range ds {
		address := fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "0000", "function": "0"}`, i>>5, i&31)
		ds[i] = reconcile.Device{
			Type: "GPU", Vendor: "10de", Model: "m", ControlPath: reconcile.ControlPath{Type: "PCI", Info: address},
			Deployables: []reconcile.Deployable{{
				Name: fmt.Sprintf("%s_%d", host, i), NumAccelerators: 1,
				Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_GPU"}, {Key: "trait0", Value: "CUSTOM_A"}, {Key: "trait1", Value: "CUSTOM_B"}},
				Handles:    []reconcile.Handle{{Type: arq.HandlePCI, Info: address}},
			}},
		}
	}
	return &reconcile.Runner{Store: s, Placement: placement}, host, ds
}

// BenchmarkBind binds and unbinds one request.
func BenchmarkBind(b *testing.B) {
	for engine, url := range engines(b) {
		b.Run(engine, func(b *testing.B) {
			s := opener(url)(b, func(cfg *store.Config) { cfg.Unsynced = false })
			bind := raceBinds(b, s)[0]
			ctx := context.Background()
			b.ResetTimer()
			for range b.N {
				if _, err := s.Begin(ctx, bind); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Release(ctx, bind.UUID, arq.LeaveUnbind); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
