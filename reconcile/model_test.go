package reconcile_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

func allocationOf(id, class string) reconciletest.Consumer {
	return reconciletest.Consumer{Project: "p", User: "u", Allocations: map[string]map[string]int{id: {class: 1}}}
}

// seams lets a mutation test put itself between a run and the world.
type seams func(*reconciletest.Store, *reconciletest.Placement) (reconcile.Store, reconcile.Placement)

func honest(s *reconciletest.Store, p *reconciletest.Placement) (reconcile.Store, reconcile.Placement) {
	return s, p
}

// start makes a world and lives it up to the second report.
func (s scenario) start() *world {
	w := &world{store: &reconciletest.Store{}, placement: &reconciletest.Placement{}}
	root, err := w.placement.CreateProvider("", host, "")
	if err != nil {
		panic(err) // an empty Placement takes it
	}
	w.root = root.UUID
	w.run(honest, s.first)
	for _, g := range s.guests {
		g.visit(w)
	}
	inv, _ := w.store.Inventory(context.Background(), host)
	for _, t := range s.twins {
		t.double(w, inv.Devices)
	}
	return w
}

// run is one report by a process that has just started.
func (w *world) run(m seams, report []reconcile.Device) reconcile.Result {
	store, placement := m(w.store, w.placement)
	r := &reconcile.Runner{Store: store, Placement: placement, Parallel: 1}
	res, err := r.Run(context.Background(), host, report)
	if err != nil {
		panic(err) // the reads never fail here
	}
	return res
}

// settle repeats a report: a name that another device gives up, and an NVMe
// drive in the place of something else, take one report each.
func (w *world) settle(m seams, report []reconcile.Device) (last reconcile.Result) {
	for range 3 {
		last = w.run(m, report)
	}
	return last
}

func (w *world) faults(f *reconciletest.Fault) {
	if f == nil {
		w.store.Fault, w.placement.Fault = nil, nil
		return
	}
	w.store.Fault, w.placement.Fault = f.Next, f.Next
}

// check lives a scenario undisturbed, then with every write failing once and
// with a crash at every write, and says what does not come out right.
func (s scenario) check(m seams) error {
	calm := s.start()
	count := &reconciletest.Fault{At: -1}
	calm.faults(count)
	calm.run(m, s.second)
	calm.faults(nil)
	calm.settle(m, s.second)
	want := calm.snapshot()
	last := calm.run(m, s.second)
	if diff := cmp.Diff(want, calm.snapshot()); diff != "" {
		return fmt.Errorf("a repeated report changes something: %s", diff)
	}
	if err := calm.invariants(s.second, last); err != nil {
		return fmt.Errorf("undisturbed: %w", err)
	}
	if err := calm.invariants(s.third, calm.settle(m, s.third)); err != nil {
		return fmt.Errorf("undisturbed, another report: %w", err)
	}
	for at := range count.Count() {
		for _, crash := range []bool{false, true} {
			if err := s.disturbed(m, at, crash, want); err != nil {
				return fmt.Errorf("write %d (%s), crash %t: %w", at, count.Ops()[at], crash, err)
			}
		}
	}
	return nil
}

// disturbed has one write fail, or the process die there.
func (s scenario) disturbed(m seams, at int, crash bool, want []string) error {
	broken := func() *world {
		w := s.start()
		w.faults(&reconciletest.Fault{At: at, Crash: crash})
		w.run(m, s.second)
		w.faults(nil)
		return w
	}
	w := broken()
	if err := w.safe(); err != nil {
		return fmt.Errorf("right after: %w", err)
	}
	w.settle(m, s.second)
	if diff := cmp.Diff(want, w.snapshot()); diff != "" {
		return fmt.Errorf("the same report again does not end where it would have: %s", diff)
	}
	w = broken()
	if err := w.invariants(s.third, w.settle(m, s.third)); err != nil {
		return fmt.Errorf("another report: %w", err)
	}
	return nil
}

// snapshot is rows and providers without ids and times, one line each.
func (w *world) snapshot() []string {
	inv, _ := w.store.Inventory(context.Background(), host)
	var lines []string
	for _, d := range inv.Devices {
		head := fmt.Sprintf("%s %s", d.ControlPath.Info, d.Vendor)
		lines = append(lines, fmt.Sprintf("device %s %s %s %s", head, d.Type, d.Status, d.State))
		for _, p := range d.Deployables {
			lines = append(lines, fmt.Sprintf("deployable %s %s n=%d offer=%s %s", head, p.Name, p.NumAccelerators, p.Offer, attributesText(p.Attributes)))
			for _, h := range p.Handles {
				lines = append(lines, fmt.Sprintf("handle %s %s %s %s %t %d", head, p.Name, h.Type, h.Info, h.InUse, len(h.ARQs)))
			}
		}
	}
	for _, p := range w.placement.Providers("", "", w.root) {
		inventories, _, _ := w.placement.Inventories(p.UUID)
		traits, _, _ := w.placement.ProviderTraits(p.UUID)
		lines = append(lines, fmt.Sprintf("provider %s %v %v", p.Name, inventories, traits))
	}
	slices.Sort(lines)
	return lines
}

func attributesText(as []reconcile.Attribute) string {
	var out []string
	for _, a := range as {
		out = append(out, a.Key+"="+a.Value)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// safe holds at every moment: what is on offer is described, and no more of it
// can be had than the rows have.
func (w *world) safe() error {
	inv, _ := w.store.Inventory(context.Background(), host)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		for k := range d.Deployables {
			p := &d.Deployables[k]
			if p.Offer == "" {
				continue
			}
			if err := w.described(d, p); err != nil {
				return err
			}
		}
	}
	return unique(inv)
}

// described checks the provider of a deployable that is on offer.
func (w *world) described(d *reconcile.Device, p *reconcile.Deployable) error {
	inventories, _, err := w.placement.Inventories(p.Offer)
	if err != nil {
		return nil // visibly missing from the tree
	}
	traits, _, _ := w.placement.ProviderTraits(p.Offer)
	for _, t := range p.Traits() {
		if !slices.Contains(traits, t) {
			return fmt.Errorf("%s is on offer without trait %s", p.Name, t)
		}
	}
	for class, v := range inventories {
		if class != p.Class() {
			return fmt.Errorf("%s is on offer as %s, its row says %s", p.Name, class, p.Class())
		}
		if v.Total-v.Reserved > p.NumAccelerators {
			return fmt.Errorf("%s offers %d of %d", p.Name, v.Total-v.Reserved, p.NumAccelerators)
		}
		if _, reserved := reconcile.DesiredReserved(d, p, true, 0); reserved == p.NumAccelerators && v.Reserved != v.Total {
			return fmt.Errorf("%s is on offer unreserved", p.Name)
		}
	}
	if len(inventories) == 0 && p.NumAccelerators > 0 {
		return fmt.Errorf("%s is on offer without inventory", p.Name)
	}
	return nil
}

// unique checks that no function has two rows on the host, apart from those of
// a device row that a peer doubled.
func unique(inv reconcile.Inventory) error {
	where, seen := map[string]string{}, map[string]int{}
	for i := range inv.Devices {
		d := &inv.Devices[i]
		for k := range d.Deployables {
			for _, h := range d.Deployables[k].Handles {
				function, place := address0(h.Info), address0(d.ControlPath.Info)+" "+d.Deployables[k].Name
				if other, ok := where[function]; ok && other != place {
					return fmt.Errorf("function %s has a row in %s and one in %s", function, other, place)
				}
				where[function] = place
				if seen[function+d.UUID]++; seen[function+d.UUID] > 1 {
					return fmt.Errorf("function %s has two rows in %s", function, place)
				}
			}
		}
	}
	return nil
}

// address0 is the bus and function of a text, whatever its spelling.
func address0(info string) string {
	info = strings.ToLower(strings.ReplaceAll(info, " ", ""))
	_, bus, _ := strings.Cut(info, `"bus":"`)
	_, function, _ := strings.Cut(info, `"function":"`)
	return bus[:2] + "." + function[:1]
}

// invariants hold after a report has been carried out without a fault; res is
// what became of it.
func (w *world) invariants(report []reconcile.Device, res reconcile.Result) error {
	if err := w.safe(); err != nil {
		return err
	}
	if err := w.exact(report, res); err != nil {
		return err
	}
	inv, _ := w.store.Inventory(context.Background(), host)
	rows := map[string]bool{}
	for i := range inv.Devices {
		for k := range inv.Devices[i].Deployables {
			rows[inv.Devices[i].Deployables[k].Name] = true
		}
	}
	for _, p := range w.placement.Providers("", "", w.root) {
		if p.UUID != w.root && !rows[p.Name] {
			return fmt.Errorf("provider %s has no row", p.Name)
		}
	}
	reported := map[string]bool{}
	for i := range report {
		reported[address0(report[i].ControlPath.Info)] = true
	}
	for i := range inv.Devices {
		d := &inv.Devices[i]
		if reported[address0(d.ControlPath.Info)] {
			continue
		}
		if err := w.retained(d); err != nil {
			return err
		}
	}
	return nil
}

// retained checks a stored device that is not reported.
func (w *world) retained(d *reconcile.Device) error {
	for k := range d.Deployables {
		p := &d.Deployables[k]
		if p.Offer != "" {
			return fmt.Errorf("missing device %s: %s is on offer", d.ControlPath.Info, p.Name)
		}
		inventories, _, err := w.placement.Inventories(reconcile.ProviderUUID(p.Name))
		if err != nil {
			continue
		}
		for _, v := range inventories {
			if v.Reserved != v.Total {
				return fmt.Errorf("missing device %s: %s has %d of %d reserved", d.ControlPath.Info, p.Name, v.Reserved, v.Total)
			}
		}
	}
	return nil
}

// worlds is how many scenarios a check lives through; RECONCILE_WORLDS changes
// it.
func worlds(t *testing.T, usual int) int {
	t.Helper()
	if s := os.Getenv("RECONCILE_WORLDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return usual
}

// TestModel lives through random worlds with every write failing once and with
// a crash at every write.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range worlds(t, 60) {
		s := genScenario.Example(seed)
		if err := s.check(honest); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestModelShrinks is the same property for rapid to explore and shrink.
func TestModelShrinks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := genScenario.Draw(t, "scenario")
		w := s.start()
		if err := w.invariants(s.second, w.settle(honest, s.second)); err != nil {
			t.Fatal(err)
		}
	})
}
