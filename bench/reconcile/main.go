package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

const host = "compute-1"

func main() {
	rounds := flag.Int("rounds", 5, "rounds; medians are reported")
	largest := flag.Int("largest", 100000, "largest number of devices")
	flag.Parse()
	if err := run(*rounds, *largest); err != nil {
		fmt.Fprintln(os.Stderr, "bench reconcile:", err)
		os.Exit(1)
	}
}

func run(rounds, largest int) error {
	fmt.Print("## Reconciliation: decisions and whole runs, no service\n\n| handles | Diff, unchanged | Diff, all new | managed-mode check |\n|---|---|---|---|\n")
	var sizes []int
	for n := 1000; n <= largest; n *= 10 {
		sizes = append(sizes, n)
	}
	var diffs []float64
	for _, n := range sizes {
		d, err := decisions(rounds, n, largest/n)
		if err != nil {
			return err
		}
		diffs = append(diffs, float64(d[0]))
		fmt.Printf("| %d | %s | %s | %s |\n", n, ms(d[0]), ms(d[1]), ms(d[2]))
	}
	if len(sizes) > 1 {
		fmt.Printf("\nFitted exponent of Diff, unchanged: %.2f. Small hosts are measured many at a time, so that none stays in the processor's cache.\n", exponent(sizes, diffs))
	}
	fmt.Print("\n| devices | first report | unchanged report |\n|---|---|---|\n")
	for _, n := range []int{512, 4096} {
		first, again, err := runs(rounds, n)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %s | %s |\n", n, ms(first), ms(again))
	}
	fmt.Println("\nPromised: Diff of 100,000 unchanged handles in at most 150 ms, exponent at most 1.1.")
	return nil
}

// decisions times Diff of an unchanged report, of a first one, and the managed-mode check, of several hosts with n
// devices each; the medians for one host.
func decisions(rounds, n, hosts int) (out [3]time.Duration, err error) {
	type scene struct {
		have reconcile.Inventory
		want []reconcile.Device
		tree reconcile.Tree
	}
	scenes := make([]scene, hosts)
	for i := range scenes {
		scenes[i].have, scenes[i].tree = stored(report(n))
		scenes[i].want = report(n)
	}
	var samples [3][]time.Duration
	for range rounds {
		samples[0] = append(samples[0], timed(func() {
			for i := range scenes {
				if p := reconcile.Diff(scenes[i].have, scenes[i].want, scenes[i].tree); p.Unchanged != n {
					err = fmt.Errorf("%d of %d devices unchanged", p.Unchanged, n)
				}
			}
		}))
		samples[1] = append(samples[1], timed(func() {
			for i := range scenes {
				if p := reconcile.Diff(reconcile.Inventory{Host: host}, scenes[i].want, reconcile.Tree{Root: "root"}); len(p.Devices) != n {
					err = fmt.Errorf("%d of %d devices new", len(p.Devices), n)
				}
			}
		}))
		samples[2] = append(samples[2], timed(func() {
			for i := range scenes {
				if p := reconcile.Managed(scenes[i].have, scenes[i].want); p.Err() != nil {
					err = p.Err()
				}
			}
		}))
	}
	for i := range samples {
		slices.Sort(samples[i])
		out[i] = samples[i][rounds/2] / time.Duration(hosts)
	}
	return out, err
}

// runs times a first and an unchanged report of n devices on the in-memory store and Placement.
func runs(rounds, n int) (first, again time.Duration, err error) {
	ctx := context.Background()
	var firsts, repeats []time.Duration
	for range rounds {
		var p reconciletest.Placement
		if _, err := p.CreateProvider("", host, ""); err != nil {
			return 0, 0, err
		}
		runner := &reconcile.Runner{Store: &reconciletest.Store{}, Placement: &p}
		for _, into := range []*[]time.Duration{&firsts, &repeats} {
			want := report(n)
			var failed error
			*into = append(*into, timed(func() { failed = do(ctx, runner, want) }))
			if failed != nil {
				return 0, 0, failed
			}
		}
	}
	slices.Sort(firsts)
	slices.Sort(repeats)
	return firsts[rounds/2], repeats[rounds/2], nil
}

// stored are the rows of a report and what Placement shows of them; no text is shared with another report.
func stored(reported []reconcile.Device) (reconcile.Inventory, reconcile.Tree) {
	inv := reconcile.Inventory{Host: host, Devices: reported}
	tree := reconcile.Tree{Root: "root", Providers: []reconcile.Provider{{UUID: "root", Name: host}}}
	for i := range inv.Devices {
		d := &inv.Devices[i]
		d.ID, d.UUID, d.Status, d.State = int64(i+1), "uuid", reconcile.StatusEnabled, reconcile.StateAvailable
		p := &d.Deployables[0]
		p.ID, p.Offer, p.Handles[0].ID = d.ID, reconcile.ProviderUUID(p.Name), d.ID
		tree.Providers = append(tree.Providers, reconcile.Provider{UUID: strings.Clone(p.Offer), Name: strings.Clone(p.Name), Parent: "root", Generation: 2})
	}
	return inv, tree
}

func do(ctx context.Context, r *reconcile.Runner, want []reconcile.Device) error {
	result, err := r.Run(ctx, host, want)
	if err == nil && len(result.Problems) > 0 {
		err = errors.New(result.Problems[0].String())
	}
	return err
}

func timed(f func()) time.Duration {
	runtime.GC()
	start := time.Now()
	f()
	return time.Since(start)
}

// report is what a host with n devices reports; no text is shared between two reports.
func report(n int) []reconcile.Device {
	out := make([]reconcile.Device, n)
	for i := range out {
		info := fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "%04x", "function": "%d"}`, i>>8&255, i>>3&31, i>>16, i&7)
		board, driver := `{"product_id": "25b6", "controller": null}`, "NVIDIA"
		out[i] = reconcile.Device{
			Type: "GPU", Vendor: "10de", Model: "25b6", StdBoardInfo: &board,
			ControlPath: reconcile.ControlPath{Type: "PCI", Info: info},
			Deployables: []reconcile.Deployable{{
				Name: fmt.Sprintf("%s_%d", host, i), NumAccelerators: 1, DriverName: &driver,
				Attributes: []reconcile.Attribute{
					{Key: "rc", Value: "CUSTOM_PCI"},
					{Key: "trait0", Value: "OWNER_CYBORG"},
					{Key: "trait1", Value: "CUSTOM_PCI_NVIDIA"},
					{Key: "trait2", Value: "CUSTOM_PCI_PRODUCT_ID_25B6"},
				},
				Handles: []reconcile.Handle{{Type: arq.HandlePCI, Info: strings.Clone(info)}},
			}},
		}
	}
	return out
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// exponent is the slope of a straight line through the logarithms.
func exponent(sizes []int, times []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(sizes))
	for i := range sizes {
		x, y := math.Log(float64(sizes[i])), math.Log(times[i])
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
