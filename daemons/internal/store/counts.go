package store

import (
	"context"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Counts is how many accelerator requests and devices the database holds.
type Counts struct {
	Requests map[arq.State]int
	Devices  map[DeviceKind]int
}

// DeviceKind is what devices are counted by.
type DeviceKind struct {
	Type  string
	State reconcile.DeviceState // StateUnset is NULL
}

// Counts counts requests by state and devices by type and state.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	out := Counts{}
	err := s.read(ctx, "Counts", func(t *tx) error {
		out = Counts{Requests: map[arq.State]int{}, Devices: map[DeviceKind]int{}}
		var requests []struct {
			State arq.State `db:"state"`
			N     int       `db:"n"`
		}
		if err := t.all(ctx, &requests, "SELECT state, COUNT(*) AS n FROM extended_accelerator_requests GROUP BY state"); err != nil {
			return err
		}
		for _, r := range requests {
			out.Requests[r.State] = r.N
		}
		var devices []struct {
			Type  string  `db:"type"`
			State *string `db:"device_state"`
			N     int     `db:"n"`
		}
		if err := t.all(ctx, &devices, "SELECT d.`type`, d.device_state, COUNT(*) AS n FROM devices d GROUP BY d.`type`, d.device_state"); err != nil {
			return err
		}
		for _, r := range devices {
			out.Devices[DeviceKind{r.Type, reconcile.DeviceState(value(r.State))}] = r.N
		}
		return nil
	})
	return out, err
}
