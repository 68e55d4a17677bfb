package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

func TestCountsIntegration(t *testing.T) {
	t.Parallel()
	for engine, url := range engines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := opener(url)(t, nil)
			counts := func() store.Counts {
				c, err := s.Counts(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			if diff := cmp.Diff(store.Counts{Requests: map[arq.State]int{}, Devices: map[store.DeviceKind]int{}}, counts()); diff != "" {
				t.Error(diff)
			}
			device := func(kind, path string, state reconcile.DeviceState) reconcile.Device {
				return reconcile.Device{Type: kind, Vendor: "v", Model: "m", State: state, ControlPath: reconcile.ControlPath{Type: "PCI", Info: path}}
			}
			_, err := s.Insert(t.Context(), "h", []reconcile.Device{
				device("GPU", "1", ""), device("GPU", "2", ""), device("NVME", "3", "error"), device("FPGA", "4", ""),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Raw().ExecContext(t.Context(), "UPDATE devices SET device_state = NULL WHERE type = 'FPGA'"); err != nil {
				t.Fatal(err)
			}
			p, err := s.CreateProfile(t.Context(), store.Profile{Name: "p", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateARQs(t.Context(), []arq.New{{ProfileID: p.ID}, {ProfileID: p.ID}}); err != nil {
				t.Fatal(err)
			}
			want := store.Counts{
				Requests: map[arq.State]int{arq.Initial: 2},
				Devices: map[store.DeviceKind]int{
					{Type: "GPU", State: "available"}: 2, {Type: "NVME", State: "error"}: 1, {Type: "FPGA"}: 1,
				},
			}
			if diff := cmp.Diff(want, counts()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
