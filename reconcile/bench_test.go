package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// fleet is a host with n devices, one handle and four attributes each: stored
// as a report left them, reported, and as Placement shows them.
func fleet(n int) (reconcile.Inventory, []reconcile.Device, reconcile.Tree) {
	inv := reconcile.Inventory{Host: host}
	tree := reconcile.Tree{Root: "root", Providers: []reconcile.Provider{{UUID: "root", Name: host}}}
	want := make([]reconcile.Device, n)
	for i := range n {
		info := fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "%04x", "function": "%d"}`, i>>8&255, i>>3&31, i>>16, i&7)
		board, driver := `{"product_id": "25b6", "controller": null}`, "NVIDIA"
		d := reconcile.Device{
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
				Handles: []reconcile.Handle{{Type: arq.HandlePCI, Info: info}},
			}},
		}
		want[i] = d
		inv.Devices = append(inv.Devices, storedAs(d, int64(i+1), &tree))
	}
	return inv, want, tree
}

// storedAs is the row of a reported device, read from a database: no text is
// shared with the report.
func storedAs(d reconcile.Device, id int64, tree *reconcile.Tree) reconcile.Device {
	q := d.Deployables[0]
	q.ID, q.Name, q.Offer = id, strings.Clone(q.Name), reconcile.ProviderUUID(q.Name)
	tree.Providers = append(tree.Providers, reconcile.Provider{UUID: strings.Clone(q.Offer), Name: strings.Clone(q.Name), Parent: "root", Generation: 2})
	q.Attributes = append([]reconcile.Attribute(nil), q.Attributes...)
	q.Handles = []reconcile.Handle{{ID: id, Type: arq.HandlePCI, Info: strings.Clone(q.Handles[0].Info)}}
	board := strings.Clone(*d.StdBoardInfo)
	d.ID, d.UUID, d.Status, d.State, d.StdBoardInfo = id, "uuid", reconcile.StatusEnabled, reconcile.StateAvailable, &board
	d.ControlPath.Info = strings.Clone(d.ControlPath.Info)
	d.Deployables = []reconcile.Deployable{q}
	return d
}

// BenchmarkDiff is an unchanged report. Every iteration takes another host, of
// which there are 100,000 handles in all, as a conductor's next report is of
// another host: a small host would otherwise never leave the processor's cache.
func BenchmarkDiff(b *testing.B) {
	const all = 100000
	for _, n := range []int{1000, 10000, all} {
		b.Run(fmt.Sprintf("handles=%d", n), func(b *testing.B) {
			type report struct {
				have reconcile.Inventory
				want []reconcile.Device
				tree reconcile.Tree
			}
			hosts := make([]report, all/n)
			for i := range hosts {
				hosts[i].have, hosts[i].want, hosts[i].tree = fleet(n)
			}
			b.ReportAllocs()
			next := 0
			for b.Loop() {
				h := &hosts[next%len(hosts)]
				next++
				if p := reconcile.Diff(h.have, h.want, h.tree); p.Unchanged != n {
					b.Fatalf("%d of %d unchanged", p.Unchanged, n)
				}
			}
		})
	}
}

// BenchmarkDiffAdded is a first report.
func BenchmarkDiffAdded(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("handles=%d", n), func(b *testing.B) {
			_, want, _ := fleet(n)
			b.ReportAllocs()
			for b.Loop() {
				if p := reconcile.Diff(reconcile.Inventory{Host: host}, want, reconcile.Tree{}); len(p.Devices) != n {
					b.Fatalf("%d of %d added", len(p.Devices), n)
				}
			}
		})
	}
}

// BenchmarkDiffRespelt is a report in which every text is spelt differently.
func BenchmarkDiffRespelt(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("handles=%d", n), func(b *testing.B) {
			have, want, tree := fleet(n)
			for i := range want {
				want[i].ControlPath.Info = strings.ReplaceAll(want[i].ControlPath.Info, " ", "")
				want[i].Deployables[0].Handles[0].Info = want[i].ControlPath.Info
			}
			b.ReportAllocs()
			for b.Loop() {
				if p := reconcile.Diff(have, want, tree); p.Unchanged != n {
					b.Fatalf("%d of %d unchanged", p.Unchanged, n)
				}
			}
		})
	}
}

// BenchmarkManaged is the managed-mode pass before an unchanged report.
func BenchmarkManaged(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("handles=%d", n), func(b *testing.B) {
			have, want, _ := fleet(n)
			b.ReportAllocs()
			for b.Loop() {
				if p := reconcile.Managed(have, want); len(p.Updates) != 0 || p.Err() != nil {
					b.Fatal("not unchanged")
				}
			}
		})
	}
}
