package reconcile_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// scenario is a random life of one host: a first report, what guests and
// others do then, and two more reports.
type scenario struct {
	first, second, third []reconcile.Device
	guests               []guest
	twins                []twinRow
}

// guest is what happens to the n-th handle or device of the stored host.
type guest struct {
	kind guestKind
	at   int
}

type guestKind uint8

const (
	bound       guestKind = iota // handle held, allocation made
	inUseOnly                    // first window of a peer's bind
	referenced                   // second window of a peer's unbind
	outlived                     // allocation without a held handle
	maintained                   // device disabled
	unclean                      // NVMe device waiting for cleaning
	withdrawn                    // offer NULL, as a crash leaves it
	unspoken                     // provider deleted by hand
	respelt                      // stored text in another spelling
	foreignMark                  // somebody's trait on the provider
)

// twinRow doubles the n-th stored device in another spelling.
type twinRow struct {
	at    int
	inUse bool
}

const paths = 6

// addressText spells the address of function fn of path i in one of three ways.
func addressText(i, fn, spelling int, extra string) string {
	switch spelling {
	case 1:
		return fmt.Sprintf(`{"domain":"0000","bus":"A%d","device":"00","function":"%d"%s}`, i, fn, strings.ReplaceAll(extra, " ", ""))
	case 2:
		return fmt.Sprintf(`{"domain": "0000", "bus": "a%d", "device": "0", "function": "%d"%s}`, i, fn, extra)
	}
	return fmt.Sprintf(`{"bus": "a%d", "device": "00", "domain": "0000", "function": "%d"%s}`, i, fn, extra)
}

// often draws one of the values, the first ones more often.
func often[T any](t *rapid.T, label string, values ...T) T {
	n := rapid.IntRange(0, len(values)*3-1).Draw(t, label)
	if n >= len(values) {
		n = 0
	}
	return values[n]
}

func genHandle(t *rapid.T, i, k, n int) reconcile.Handle {
	extra := often(t, "extra", "", `, "managed": false`, `, "managed": true`, `, "numa_node": 1`, `, "stateful": true`, `, "physical_network": "physnet0"`)
	// Now and then the function is the one that the other deployable, or the next device, usually has.
	switch often(t, "function", 0, 0, 0, 1, 2) {
	case 1:
		k = 1 - k
	case 2:
		i = (i + 1) % paths
	}
	return reconcile.Handle{Type: arq.HandlePCI, Info: addressText(i, k*3+n, often(t, "spelling", 0, 1, 2), extra)}
}

func genDeployable(t *rapid.T, i, k int) reconcile.Deployable {
	p := reconcile.Deployable{Name: fmt.Sprintf("%s_dev%d_%d", host, i, k)}
	if often(t, "name", 0, 0, 0, 1) == 1 {
		p.Name = host + "_shared"
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "handles") {
		p.Handles = append(p.Handles, genHandle(t, i, k, n))
	}
	p.NumAccelerators = often(t, "num", len(p.Handles), len(p.Handles)+1, 0)
	if class := often(t, "class", "CUSTOM_A", "CUSTOM_B", ""); class != "" {
		p.Attributes = append(p.Attributes, reconcile.Attribute{Key: "rc", Value: class})
	}
	for n, trait := range []string{"OWNER_CYBORG", "CUSTOM_T1", "CUSTOM_T2", "not a trait"} {
		if rapid.IntRange(0, 1+n*n*n).Draw(t, "trait") == 0 {
			p.Attributes = append(p.Attributes, reconcile.Attribute{Key: fmt.Sprintf("trait%d", n), Value: trait})
		}
	}
	if rapid.Bool().Draw(t, "driver") {
		driver := "fake"
		p.DriverName = &driver
	}
	return p
}

func genDevice(t *rapid.T, i int) reconcile.Device {
	d := reconcile.Device{
		Type: often(t, "type", "GPU", "NVME", "FPGA"), Vendor: often(t, "vendor", "10de", "8086"), Model: "25b6",
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: addressText(i, 0, often(t, "path", 0, 1), "")},
		Stub:        often(t, "stub", false, false, true),
	}
	if d.Type == "NVME" {
		d.State = often(t, "state", reconcile.StateAvailable, reconcile.StateUnset, reconcile.StatePendingCleaning)
	}
	for k := range rapid.IntRange(1, 2).Draw(t, "deployables") {
		d.Deployables = append(d.Deployables, genDeployable(t, i, k))
	}
	return d
}

func genReport(t *rapid.T) []reconcile.Device {
	var ds []reconcile.Device
	for i := range paths {
		switch rapid.IntRange(0, 9).Draw(t, "presence") {
		case 0, 1, 2:
		case 3:
			ds = append(ds, genDevice(t, i), genDevice(t, i))
		default:
			ds = append(ds, genDevice(t, i))
		}
	}
	return rapid.Permutation(ds).Draw(t, "order")
}

// mutated is a report that differs from another in some devices only.
func mutated(t *rapid.T, ds []reconcile.Device) []reconcile.Device {
	var out []reconcile.Device
	for _, d := range ds {
		switch rapid.IntRange(0, 6).Draw(t, "fate") {
		case 0:
		case 6: // a driver that counts units, not the handles it sees
			d.Deployables = slices.Clone(d.Deployables)
			for k := range d.Deployables {
				if p := &d.Deployables[k]; len(p.Handles) > 0 {
					p.Handles = p.Handles[1:]
				}
			}
			out = append(out, d)
		case 1:
			out = append(out, genDevice(t, int(d.ControlPath.Info[strings.IndexAny(d.ControlPath.Info, "aA")+1]-'0')%paths))
		default:
			out = append(out, d)
		}
	}
	return out
}

var genScenario = rapid.Custom(func(t *rapid.T) scenario {
	s := scenario{first: genReport(t)}
	s.second, s.third = mutated(t, s.first), mutated(t, s.first)
	if rapid.IntRange(0, 3).Draw(t, "fresh") == 0 {
		s.second = genReport(t)
	}
	for range rapid.IntRange(0, 4).Draw(t, "guests") {
		s.guests = append(s.guests, guest{guestKind(rapid.IntRange(0, int(foreignMark)).Draw(t, "kind")), rapid.IntRange(0, 11).Draw(t, "at")})
	}
	if rapid.IntRange(0, 3).Draw(t, "twins") == 0 {
		s.twins = append(s.twins, twinRow{rapid.IntRange(0, paths-1).Draw(t, "twin"), rapid.Bool().Draw(t, "held")})
	}
	return s
})

// visit changes what is stored: the n-th device and its deployable.
func (g guest) visit(w *world) {
	n := 0
	count := 0
	w.store.Edit(host, func(d *reconcile.Device) { count += len(d.Deployables) })
	if count == 0 {
		return
	}
	w.store.Edit(host, func(d *reconcile.Device) {
		for k := range d.Deployables {
			if n == g.at%count {
				g.do(w, d, &d.Deployables[k])
			}
			n++
		}
	})
}

func (g guest) do(w *world, d *reconcile.Device, p *reconcile.Deployable) {
	id := reconcile.ProviderUUID(p.Name)
	switch g.kind {
	case bound, inUseOnly, referenced:
		if len(p.Handles) == 0 || p.Offer == "" {
			return
		}
		h := &p.Handles[0]
		h.InUse = g.kind != referenced
		if g.kind != inUseOnly {
			h.ARQs = []string{fmt.Sprintf("arq-%d", h.ID)}
		}
		if g.kind == bound {
			w.allocate(id, p.Class(), fmt.Sprintf("instance-%d", h.ID))
		}
		if d.Type == "NVME" {
			d.State = reconcile.StateAllocated
			w.inventoryFollows(d)
		}
	case outlived:
		w.allocate(id, p.Class(), fmt.Sprintf("gone-%d", p.ID))
	case maintained:
		d.Status = reconcile.StatusMaintaining
		w.inventoryFollows(d)
	case unclean:
		if d.Type != "NVME" || d.State != reconcile.StateAvailable {
			return
		}
		d.State = reconcile.StateCleaning
		for i := range d.Deployables {
			d.Deployables[i].Offer = ""
			for k := range d.Deployables[i].Handles {
				d.Deployables[i].Handles[k].InUse = true
			}
		}
		w.inventoryFollows(d)
	case withdrawn:
		p.Offer = ""
	case unspoken:
		_ = w.placement.DeleteProvider(id) // refused while allocated
	case respelt:
		for i := range p.Handles {
			p.Handles[i].Info = strings.ReplaceAll(p.Handles[i].Info, " ", "")
		}
	case foreignMark:
		if traits, generation, err := w.placement.ProviderTraits(id); err == nil {
			_, _ = w.placement.EnsureTrait("CUSTOM_FOREIGN")
			_, _ = w.placement.PutTraits(id, generation, append(traits, "CUSTOM_FOREIGN"))
		}
	}
}

func (w *world) allocate(id, class, consumer string) {
	_ = w.placement.PutAllocations(consumer, nil, allocationOf(id, class)) // refused where there is no room
}

// inventoryFollows writes what a device's state asks for, as the API and the
// bind do.
func (w *world) inventoryFollows(d *reconcile.Device) {
	for k := range d.Deployables {
		p := &d.Deployables[k]
		id := reconcile.ProviderUUID(p.Name)
		inventories, generation, err := w.placement.Inventories(id)
		if err != nil {
			continue
		}
		for class, v := range inventories {
			_, reserved := reconcile.DesiredReserved(d, p, true, 0)
			v.Reserved = min(reserved, v.Total)
			inventories[class] = v
		}
		_, _ = w.placement.PutInventories(id, generation, inventories, true)
	}
}

// double seeds a second row of a stored device.
func (t twinRow) double(w *world, ds []reconcile.Device) {
	if len(ds) == 0 {
		return
	}
	d := ds[t.at%len(ds)]
	d.UUID = ""
	d.ControlPath.Info = strings.ReplaceAll(d.ControlPath.Info, ", ", ",  ")
	d.Deployables = slices.Clone(d.Deployables)
	for k := range d.Deployables {
		p := &d.Deployables[k]
		p.Handles = slices.Clone(p.Handles)
		for i := range p.Handles {
			p.Handles[i].InUse, p.Handles[i].ARQs = t.inUse && i == 0, nil
		}
	}
	w.store.Seed(host, d)
}
