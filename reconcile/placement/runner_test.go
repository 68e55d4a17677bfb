package placement_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

func function(n int) reconcile.Device {
	info := fmt.Sprintf(`{"bus": "%02x", "device": "00", "domain": "0000", "function": "%d"}`, n/8, n%8)
	return reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6", ControlPath: reconcile.ControlPath{Type: "PCI", Info: info},
		Deployables: []reconcile.Deployable{{
			Name: fmt.Sprintf("%s_%d", host, n), NumAccelerators: 1,
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_PCI"}, {Key: "trait0", Value: "OWNER_CYBORG"}, {Key: "trait1", Value: "CUSTOM_T1"}},
			Handles:    []reconcile.Handle{{Type: "PCI", Info: info}},
		}},
	}
}

// TestRunner counts the requests of whole reports over the wire: three for
// every new device and a constant, one for an unchanged report.
func TestRunner(t *testing.T) {
	t.Parallel()
	const n = 40
	w, db := newWire(t), &reconciletest.Store{}
	r := &reconcile.Runner{Store: db, Placement: w.Client}
	var report []reconcile.Device
	for i := range n {
		report = append(report, function(i))
	}
	run := func(ds []reconcile.Device) reconcile.Result {
		t.Helper()
		res, err := r.Run(context.Background(), host, ds)
		if err != nil || len(res.Problems) > 0 {
			t.Fatalf("%v, problems %v", err, res.Problems)
		}
		return res
	}
	run(report)
	// Two for the tree; trait and class once for each of the four workers at most.
	if sent := len(w.sent()); sent < 3*n+4 || sent > 3*n+10 {
		t.Errorf("first report of %d: %d requests", n, sent)
	}
	if res := run(report); res.Unchanged != n {
		t.Errorf("%d unchanged", res.Unchanged)
	}
	if sent := w.sent(); len(sent) != 1 {
		t.Errorf("unchanged report: %v", sent)
	}
	run(report[1:])
	if sent := w.sent(host + "_0"); len(sent) != 2 || sent[1] != "DELETE /resource_providers/"+host+"_0" {
		t.Errorf("one device gone: %v", sent)
	}
}

// TestRunnerFaults breaks every single request of a report in turn; the next
// report ends where an undisturbed one would have.
func TestRunnerFaults(t *testing.T) {
	t.Parallel()
	report := []reconcile.Device{function(0), function(1), function(2)}
	later := []reconcile.Device{function(0), function(3)}
	later[0].Deployables[0].NumAccelerators = 2
	life := func(t *testing.T, broken func(*http.Request) *http.Response) (*wire, *reconciletest.Store) {
		w, db := newWire(t), &reconciletest.Store{}
		run := func(ds []reconcile.Device) {
			r := &reconcile.Runner{Store: db, Placement: w.Client, Parallel: 1}
			_, _ = r.Run(context.Background(), host, ds) // the broken one may fail
		}
		run(report)
		w.sent()
		w.answer = broken
		run(later)
		w.answer = nil
		run(later)
		return w, db
	}
	calm, db := life(t, nil)
	want := contents(calm, db)
	for at := range 20 {
		for _, code := range []int{409, 503} {
			n := 0
			w, db := life(t, func(r *http.Request) *http.Response {
				if n++; n-1 == at {
					return status(r, code, `{"errors": [{"detail": "x\n\n y", "code": "placement.concurrent_update"}]}`)
				}
				return nil
			})
			if got := contents(w, db); !slices.Equal(got, want) {
				t.Errorf("%d at request %d:\n%s\nwant\n%s", code, at, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func contents(w *wire, db *reconciletest.Store) []string {
	inv, _ := db.Inventory(context.Background(), host)
	var lines []string
	for _, d := range inv.Devices {
		p := d.Deployables[0]
		lines = append(lines, fmt.Sprintf("row %s %d %s", p.Name, p.NumAccelerators, p.Offer))
	}
	for _, p := range w.service.Placement.Providers("", "", "") {
		inventories, _, _ := w.service.Placement.Inventories(p.UUID)
		traits, _, _ := w.service.Placement.ProviderTraits(p.UUID)
		lines = append(lines, fmt.Sprintf("provider %s %v %v", p.Name, inventories, traits))
	}
	slices.Sort(lines)
	return lines
}

// TestUnknownNames: a class or trait that Placement does not know, and that nobody may create, is refused by name: a
// new device is not offered, a stored one stays on offer as it was.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	for name, attribute := range map[string]int{"resource class": 0, "trait": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, db := newWire(t), &reconciletest.Store{}
			r := &reconcile.Runner{Store: db, Placement: w.Client, Parallel: 1}
			report := []reconcile.Device{function(0), function(1)}
			run := func() reconcile.Result {
				res, err := r.Run(t.Context(), host, report)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			run()
			before := contents(w, db)
			report[0].Deployables[0].Attributes[attribute].Value = "TOASTER"
			report = append(report, function(2), function(3))
			report[2].Deployables[0].Attributes[attribute].Value = "TOASTER"
			for range 2 {
				res := run()
				var refused []string
				for _, p := range res.Problems {
					if p.Reason != reconcile.ReasonInvalid || p.Host != host || p.Device == "" || p.Reported != "TOASTER" || !strings.Contains(p.Detail, "No such") {
						t.Errorf("problem %+v", p)
					}
					refused = append(refused, p.Deployable+" "+p.Field)
				}
				slices.Sort(refused)
				field := " attribute " + report[0].Deployables[0].Attributes[attribute].Key
				if want := []string{host + "_0" + field, host + "_2" + field}; !slices.Equal(refused, want) {
					t.Errorf("refused %v, want %v", refused, want)
				}
			}
			after := contents(w, db)
			for _, line := range before {
				if !slices.Contains(after, line) {
					t.Errorf("%s is not any more:\n%s", line, strings.Join(after, "\n"))
				}
			}
			inv, _ := db.Inventory(t.Context(), host)
			for i, offered := range []bool{true, true, false, true} {
				p := inv.Devices[i].Deployables[0]
				if (p.Offer != "") != offered {
					t.Errorf("%s on offer: %t", p.Name, p.Offer != "")
				}
			}
			if got := inv.Devices[0].Deployables[0].Attributes[attribute].Value; got == "TOASTER" {
				t.Error("the row says what its provider does not")
			}
		})
	}
}

// TestGarbledAnswers: an answer of the right status that is none to the request, as a proxy may give it, is not taken
// for one: nothing goes on offer that Placement does not hold, and the next report ends where it would have.
func TestGarbledAnswers(t *testing.T) {
	t.Parallel()
	report := []reconcile.Device{function(0), function(1)}
	life := func(t *testing.T, answer func(*http.Request) *http.Response) (*wire, *reconciletest.Store) {
		w, db := newWire(t), &reconciletest.Store{}
		r := &reconcile.Runner{Store: db, Placement: w.Client, Parallel: 1}
		w.answer = answer
		_, _ = r.Run(t.Context(), host, report)
		w.answer = nil
		inv, _ := db.Inventory(t.Context(), host)
		for _, d := range inv.Devices {
			if p := d.Deployables[0]; p.Offer != "" && w.holds(t, p.Name) != "generation 2, [CUSTOM_T1 OWNER_CYBORG], CUSTOM_PCI 0/1 of 1" {
				t.Errorf("%s is on offer: %s", p.Name, w.holds(t, p.Name))
			}
		}
		_, _ = r.Run(t.Context(), host, report)
		return w, db
	}
	calm, db := life(t, nil)
	requests, want := len(calm.sent()), contents(calm, db)
	for _, body := range []string{
		"", "garbage", "{}", "[]", "null", `{"resource_providers": null}`, `{"resource_providers": [null]}`, `{"resource_providers": [{}]}`, `{"resource_providers": 7}`,
		`{"resource_provider_generation": 0}`, `{"resource_provider_generation": 1, "traits": []}`, `{"resource_provider_generation": 1, "inventories": {}}`,
	} {
		for at := range requests {
			n := 0
			w, db := life(t, func(r *http.Request) *http.Response {
				if n++; n-1 == at {
					return status(r, http.StatusOK, body)
				}
				return nil
			})
			if got := contents(w, db); !slices.Equal(got, want) {
				t.Errorf("%q to request %d:\n%s\nwant\n%s", body, at, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestGarbledUsages: what does not tell the usages does not say that there are none.
func TestGarbledUsages(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", "[]", "null", `{"usages": null}`, `{"usages": {"X": "1"}}`} {
		w := newWire(t)
		w.answer = func(r *http.Request) *http.Response { return status(r, http.StatusOK, body) }
		if used, err := w.InUse(t.Context(), "x"); err == nil {
			t.Errorf("%q: in use %t", body, used)
		}
	}
}

// TestRunnerDrops: a provider that the tree shows goes with one request. Of one that it does not show Placement is
// asked first: it is gone, was made since, or is another host's.
func TestRunnerDrops(t *testing.T) {
	t.Parallel()
	id := reconcile.ProviderUUID(host + "_0")
	get, del := "GET /resource_providers/"+host+"_0", "DELETE /resource_providers/"+host+"_0"
	for name, c := range map[string]struct {
		late string   // whose provider appears when the tree has been read
		want []string // requests
		left bool
	}{
		"gone":           {want: []string{get}},
		"made since":     {late: host, want: []string{get, del}},
		"another host's": {late: "compute-2", want: []string{get}, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, db := newWire(t), &reconciletest.Store{}
			if _, err := db.Insert(t.Context(), host, []reconcile.Device{function(0)}); err != nil {
				t.Fatal(err)
			}
			other, err := w.service.Placement.CreateProvider("", "compute-2", "")
			if err != nil {
				t.Fatal(err)
			}
			roots := map[string]string{host: w.root, "compute-2": other.UUID}
			w.before = func(r *http.Request) {
				if c.late != "" && strings.HasSuffix(r.URL.Path, id) {
					_, _ = w.service.Placement.CreateProvider(id, host+"_0", roots[c.late])
				}
			}
			r := &reconcile.Runner{Store: db, Placement: w.Client}
			if res, err := r.Run(t.Context(), host, nil); err != nil || len(res.Problems) > 0 {
				t.Fatalf("%v, problems %v", err, res.Problems)
			}
			if sent := w.sent(host + "_0"); !slices.Equal(sent[len(sent)-len(c.want):], c.want) || slices.Contains(sent, del) != slices.Contains(c.want, del) {
				t.Errorf("sent %v", sent)
			}
			if _, err := w.service.Placement.Provider(id); (err == nil) != c.left {
				t.Errorf("provider is left: %t", err == nil)
			}
			if inv, err := db.Inventory(t.Context(), host); err != nil || len(inv.Devices) != 0 {
				t.Errorf("rows %v, %v", inv.Devices, err)
			}
		})
	}
}
