package reconciletest

import (
	"slices"

	"github.com/go-cyborg/cyborg/reconcile"
)

// Seed puts devices into the database as they are, offers included, and
// returns them with their ids: rows that a Python conductor may have written.
func (s *Store) Seed(host string, ds ...reconcile.Device) []reconcile.Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.insert(host, ds)
}

// Bind gives a free handle of the deployable on offer as provider to a
// request, as the conductor's bind does; ok is false when there is none.
func (s *Store) Bind(provider, arq string) (handle reconcile.Handle, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.devices {
		d := &s.devices[i].device
		if d.Type == "NVME" && d.State != reconcile.StateAvailable {
			continue
		}
		for k := range d.Deployables {
			if d.Deployables[k].Offer != provider || provider == "" {
				continue
			}
			for n := range d.Deployables[k].Handles {
				h := &d.Deployables[k].Handles[n]
				if h.Held() {
					continue
				}
				h.InUse, h.ARQs = true, []string{arq}
				if d.Type == "NVME" {
					d.State = reconcile.StateAllocated
				}
				return *h, true
			}
		}
	}
	return reconcile.Handle{}, false
}

// Unbind frees the handles of a request.
func (s *Store) Unbind(arq string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.devices {
		d := &s.devices[i].device
		for k := range d.Deployables {
			for n := range d.Deployables[k].Handles {
				h := &d.Deployables[k].Handles[n]
				if slices.Contains(h.ARQs, arq) {
					h.InUse, h.ARQs = false, nil
				}
			}
		}
	}
}

// Edit changes every device of a host in place, as another program on the same
// database might.
func (s *Store) Edit(host string, edit func(*reconcile.Device)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.devices {
		if s.devices[i].host == host {
			edit(&s.devices[i].device)
		}
	}
}
