package reconcile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/reconcile"
)

// gate holds every request of overlapping runs until it is let through.
type gate struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

func (g *gate) wait(string) {
	through := make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, through)
	g.mu.Unlock()
	<-through
}

// next lets one waiting request through; false when none waits.
func (g *gate) next(rnd *rand.Rand) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		return false
	}
	i := rnd.IntN(len(g.waiting))
	close(g.waiting[i])
	g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
	return true
}

// overlap runs the second and the third report of a scenario at once, request
// by request in a random order, with guests coming and going between; then one
// calm report has to put everything right.
func (s scenario) overlap(m seams, seed uint64) error {
	w := s.start()
	rnd := rand.New(rand.NewPCG(seed, 1))
	g := &gate{}
	w.store.Before, w.placement.Before = g.wait, g.wait
	var runs sync.WaitGroup
	for _, report := range [][]reconcile.Device{s.second, s.third} {
		runs.Go(func() {
			store, placement := m(w.store, w.placement)
			r := &reconcile.Runner{Store: store, Placement: placement, Parallel: 2}
			_, _ = r.Run(context.Background(), host, report) // a plan that comes too late may fail
		})
	}
	done := make(chan struct{})
	go func() { runs.Wait(); close(done) }()
	visitors := 0
	for {
		synctest.Wait()
		select {
		case <-done:
			w.store.Before, w.placement.Before = nil, nil
			return w.afterwards(s.third)
		default:
		}
		if !g.next(rnd) {
			return fmt.Errorf("both runs wait for something else")
		}
		if rnd.IntN(8) == 0 {
			visitors++
			w.visitor(rnd, visitors)
		}
	}
}

// visitor binds a random deployable on offer, or lets a guest go.
func (w *world) visitor(rnd *rand.Rand, n int) {
	if rnd.IntN(3) == 0 {
		w.store.Unbind(fmt.Sprintf("visitor-%d", rnd.IntN(n+1)))
		return
	}
	var offers []string
	w.store.Edit(host, func(d *reconcile.Device) {
		for k := range d.Deployables {
			if d.Deployables[k].Offer != "" && d.Type != "NVME" {
				offers = append(offers, d.Deployables[k].Offer)
			}
		}
	})
	if len(offers) > 0 {
		w.store.Bind(offers[rnd.IntN(len(offers))], fmt.Sprintf("visitor-%d", n))
	}
}

// afterwards is one calm report, then what must hold.
func (w *world) afterwards(report []reconcile.Device) error {
	inv, err := w.store.Inventory(context.Background(), host)
	if err == nil {
		err = unique(inv)
	}
	if err != nil {
		return err
	}
	return w.invariants(report, w.settle(honest, report))
}

// distinct gives every deployable a name of its own, and every handle a
// function of its own. Two reports that give one name or function to two
// devices at the same moment cannot be told apart by the rows; within one
// report such a device is refused.
func (s scenario) distinct() scenario {
	for _, report := range [][]reconcile.Device{s.first, s.second, s.third} {
		for i := range report {
			for k := range report[i].Deployables {
				p := &report[i].Deployables[k]
				for n := range p.Handles {
					h := &p.Handles[n]
					was := address0(h.Info)
					h.Info = strings.NewReplacer(
						`"`+was[:2]+`"`, `"`+address0(report[i].ControlPath.Info)[:2]+`"`, `"`+strings.ToUpper(was[:2])+`"`, `"`+strings.ToUpper(address0(report[i].ControlPath.Info)[:2])+`"`,
						`"function": "`+was[3:], fmt.Sprintf(`"function": "%d`, k*3+n), `"function":"`+was[3:], fmt.Sprintf(`"function":"%d`, k*3+n),
					).Replace(h.Info)
				}
				if strings.HasSuffix(p.Name, "_shared") {
					p.Name = fmt.Sprintf("%s_dev%s_%d", host, address0(report[i].ControlPath.Info), k)
				}
			}
		}
	}
	return s
}

// overlapped runs one overlap in a bubble of its own.
func overlapped(t *testing.T, s scenario, m seams, seed uint64) (err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { err = s.overlap(m, seed) })
	return err
}

// TestModelOverlap lets two conductors reconcile different reports of one host
// at the same time.
func TestModelOverlap(t *testing.T) {
	t.Parallel()
	for seed := range worlds(t, 300) {
		s := genScenario.Example(seed).distinct()
		if err := overlapped(t, s, honest, uint64(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
