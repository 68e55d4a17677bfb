package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// asRead stands in the vectors for the text that the refresh showed.
const asRead = "as read at the refresh"

type managedVectors struct {
	Single []struct {
		ID         string `json:"id"`
		Phase      string `json:"phase"`
		Persisted  string `json:"persisted"`
		Discovered string `json:"discovered"`
		InUse      bool   `json:"in_use"`
		References int    `json:"arq_references"`
		Stale      string `json:"stale"`
		Expect     struct {
			Error      *string `json:"error"`
			Was        *bool   `json:"persisted_managed"`
			Is         *bool   `json:"discovered_managed"`
			Attempted  int     `json:"updates_attempted"`
			Report     string  `json:"report"`
			Reported   *string `json:"reported_attach_info"`
			Agent      string  `json:"agent"`
			Afterwards *string `json:"persisted_after"`
		} `json:"expect"`
	} `json:"single"`
	Metadata []struct {
		Name       string `json:"name"`
		Persisted  string `json:"persisted"`
		Discovered string `json:"discovered"`
		InUse      bool   `json:"in_use"`
		References int    `json:"arq_references"`
		Expect     struct {
			Error      *string `json:"error"`
			Attempted  int     `json:"updates_attempted"`
			Afterwards *string `json:"persisted_after"`
		} `json:"expect"`
	} `json:"metadata"`
	Host []struct {
		Name      string `json:"name"`
		Persisted []struct {
			Address    string `json:"address"`
			Info       string `json:"attach_info"`
			InUse      bool   `json:"in_use"`
			References int    `json:"arq_references"`
		} `json:"persisted_handles"`
		Discovered []struct {
			Address string `json:"address"`
			Info    string `json:"attach_info"`
		} `json:"discovered"`
		Expect struct {
			Error     *string  `json:"error"`
			Conflicts []string `json:"conflicts"`
			Missing   []string `json:"missing_allocated"`
			Removed   []string `json:"removed_by_report"`
			Created   []string `json:"created_by_report"`
			Updated   []string `json:"updated"`
			Report    string   `json:"report"`
		} `json:"expect"`
	} `json:"host"`
}

// handleStore is the persisted side of one managed-mode case. Its updates come
// too late as the case says.
type handleStore struct {
	inv       reconcile.Inventory
	stale     string // none, once-then-X, twice
	wanted    string
	attempted int
	refreshed string // text that the last refresh showed
}

func (s *handleStore) Inventory(context.Context, string) (reconcile.Inventory, error) {
	for _, d := range s.inv.Devices {
		for _, h := range d.Deployables[0].Handles {
			s.refreshed = h.Info
		}
	}
	read := s.inv
	read.Devices = slices.Clone(read.Devices)
	for i := range read.Devices {
		ds := slices.Clone(read.Devices[i].Deployables)
		ds[0].Handles = slices.Clone(ds[0].Handles)
		read.Devices[i].Deployables = ds
	}
	return read, nil
}

func (s *handleStore) UpdateAttachInfo(_ context.Context, u reconcile.InfoUpdate) error {
	s.attempted++
	times, then, _ := strings.Cut(s.stale, "-then-")
	if times == "once" && s.attempted == 1 || times == "twice" && s.attempted <= 2 {
		s.meanwhile(then)
		return reconcile.ErrStale
	}
	for i := range s.inv.Devices {
		p := &s.inv.Devices[i].Deployables[0]
		for k := range p.Handles {
			h := &p.Handles[k]
			if h.UUID != u.Handle.UUID {
				continue
			}
			if h.Info != u.Handle.Info || u.RequireUnallocated && h.Held() {
				return reconcile.ErrStale
			}
			h.Info = u.To
			return nil
		}
	}
	return reconcile.ErrStale
}

// meanwhile is what another request did to the first handle.
func (s *handleStore) meanwhile(what string) {
	p := &s.inv.Devices[0].Deployables[0]
	switch what {
	case "in-use":
		p.Handles[0].InUse = true
	case "referenced":
		p.Handles[0].ARQs = []string{"arq"}
	case "already-as-wanted":
		p.Handles[0].Info = strings.ReplaceAll(s.wanted, " ", "")
	case "invalid":
		p.Handles[0].Info = `{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": "no"}`
	case "handle-gone":
		p.Handles = nil
	}
}

// pciDevice is one PCI device; its control path and name come from address.
func pciDevice(address, info string, id int64) reconcile.Device {
	var bus, slot, function string
	f := strings.FieldsFunc(address, func(r rune) bool { return r == ':' || r == '.' })
	bus, slot, function = f[1], f[2], f[3]
	path := fmt.Sprintf(`{"bus": "%s", "device": "%s", "domain": "%s", "function": "%s"}`, bus, slot, f[0], function)
	return reconcile.Device{
		ID: id, Type: "GPU", ControlPath: reconcile.ControlPath{ID: id, Type: "PCI", Info: path},
		Deployables: []reconcile.Deployable{{
			ID: id, Name: host + "_" + address, NumAccelerators: 1,
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_PCI"}},
			Handles:    []reconcile.Handle{{ID: id, UUID: fmt.Sprintf("handle-%d", id), Type: arq.HandlePCI, Info: info}},
		}},
	}
}

func allocate(d *reconcile.Device, inUse bool, references int) {
	h := &d.Deployables[0].Handles[0]
	h.InUse = inUse
	for range references {
		h.ARQs = append(h.ARQs, "arq")
	}
}

// kind is the vectors' name of an error.
func kind(err error) string {
	var conflict *reconcile.ManagedConflictError
	var invalid *reconcile.InvalidInfoError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &conflict):
		return "managed_conflict"
	case errors.As(err, &invalid):
		return "invalid_attach_info"
	case errors.Is(err, reconcile.ErrStale):
		return "stale"
	}
	return err.Error()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestReconcileVectors(t *testing.T) {
	var v managedVectors
	dir := os.Getenv("VECTORS_DIR")
	if dir == "" {
		dir = filepath.Join("testdata", "vectors")
	}
	data, err := os.ReadFile(filepath.Join(dir, "pci", "reconcile.json"))
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stdout, "reconcile vectors: 0 passed, 0 failed, 0 skipped")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	passed, failed := 0, 0
	check := func(name, diff string) {
		if diff == "" {
			passed++
			return
		}
		failed++
		t.Errorf("%s: %s", name, diff)
	}
	for i := range v.Single {
		check(v.Single[i].ID, v.single(i))
	}
	for i := range v.Metadata {
		check(v.Metadata[i].Name, v.metadata(i))
	}
	for i := range v.Host {
		check(v.Host[i].Name, v.host(i))
	}
	fmt.Fprintf(os.Stdout, "reconcile vectors: %d passed, %d failed, 0 skipped\n", passed, failed)
}

// address of the one handle of the single and metadata cases.
const address = "0000:25:00.4"

func (v *managedVectors) single(i int) string {
	c := v.Single[i]
	d := pciDevice(address, c.Persisted, 1)
	allocate(&d, c.InUse, c.References)
	store := &handleStore{inv: reconcile.Inventory{Host: host, Devices: []reconcile.Device{d}}, stale: c.Stale, wanted: c.Discovered}
	res, err := reconcile.ApplyManaged(context.Background(), store, host, []reconcile.Device{pciDevice(address, c.Discovered, 0)})

	want, got := map[string]any{}, map[string]any{}
	put := func(key string, w, g any) { want[key], got[key] = w, g }
	put("error", text(c.Expect.Error), kind(err))
	put("updates_attempted", c.Expect.Attempted, store.attempted)
	put("report", c.Expect.Report, sent(err))
	put("agent", c.Expect.Agent, agent(c.Phase, err))
	after := ""
	if hs := store.inv.Devices[0].Deployables[0].Handles; len(hs) > 0 {
		after = hs[0].Info
	}
	put("persisted_after", orRefreshed(c.Expect.Afterwards, store), after)
	if c.Expect.Reported != nil && err == nil {
		put("reported_attach_info", orRefreshed(c.Expect.Reported, store), res.Report[0].Deployables[0].Handles[0].Info)
	}
	var conflict *reconcile.ManagedConflictError
	if c.Expect.Was != nil && errors.As(err, &conflict) {
		put("persisted_managed", *c.Expect.Was, conflict.Stored)
		put("discovered_managed", *c.Expect.Is, conflict.Configured)
	}
	if configuration(err) && !strings.Contains(err.Error(), address) {
		put("error names the address", address, err.Error())
	}
	return cmp.Diff(want, got)
}

// orRefreshed gives the expected text, or what the last read showed.
func orRefreshed(s *string, store *handleStore) string {
	if s != nil && *s == asRead {
		return store.refreshed
	}
	return text(s)
}

func sent(err error) string {
	if err != nil {
		return "withheld"
	}
	return "sent"
}

// agent is what an agent does: a configuration error ends its start.
func agent(phase string, err error) string {
	if phase == "startup" && configuration(err) {
		return "exit"
	}
	return "continue"
}

// configuration reports whether an error asks the operator to act.
func configuration(err error) bool {
	return kind(err) == "managed_conflict" || kind(err) == "invalid_attach_info"
}

func (v *managedVectors) metadata(i int) string {
	c := v.Metadata[i]
	d := pciDevice(address, c.Persisted, 1)
	allocate(&d, c.InUse, c.References)
	store := &handleStore{inv: reconcile.Inventory{Host: host, Devices: []reconcile.Device{d}}}
	_, err := reconcile.ApplyManaged(context.Background(), store, host, []reconcile.Device{pciDevice(address, c.Discovered, 0)})
	got := []any{kind(err), store.attempted, store.inv.Devices[0].Deployables[0].Handles[0].Info}
	return cmp.Diff([]any{text(c.Expect.Error), c.Expect.Attempted, text(c.Expect.Afterwards)}, got)
}

func (v *managedVectors) host(i int) string {
	c := v.Host[i]
	inv := reconcile.Inventory{Host: host}
	for n, p := range c.Persisted {
		d := pciDevice(p.Address, p.Info, int64(n+1))
		allocate(&d, p.InUse, p.References)
		inv.Devices = append(inv.Devices, d)
	}
	var discovered []reconcile.Device
	for _, q := range c.Discovered {
		discovered = append(discovered, pciDevice(q.Address, q.Info, 0))
	}
	store := &handleStore{inv: inv}
	res, err := reconcile.ApplyManaged(context.Background(), store, host, discovered)
	var conflicts []string
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			if conflict, ok := errors.AsType[*reconcile.ManagedConflictError](e); ok {
				conflicts = append(conflicts, conflict.Address.String())
			}
		}
	}
	want := []any{text(c.Expect.Error), sorted(c.Expect.Conflicts), sorted(c.Expect.Updated), c.Expect.Report}
	got := []any{kind(err), sorted(conflicts), sorted(res.Updated), sent(err)}
	if err == nil {
		created, removed := byReport(store.inv, res.Report)
		want = append(want, sorted(c.Expect.Missing), sorted(c.Expect.Created), sorted(c.Expect.Removed))
		got = append(got, sorted(res.Missing), created, removed)
	}
	return cmp.Diff(want, got)
}

func sorted(list []string) []string {
	return append([]string{}, slices.Sorted(slices.Values(list))...)
}

// byReport says what the ordinary report will create and remove.
func byReport(inv reconcile.Inventory, report []reconcile.Device) (created, removed []string) {
	created, removed = []string{}, []string{}
	for _, p := range reconcile.Diff(inv, report, reconcile.Tree{}).Devices {
		switch p.Verdict {
		case reconcile.Add:
			created = append(created, strings.TrimPrefix(p.Want.Deployables[0].Name, host+"_"))
		case reconcile.Remove:
			removed = append(removed, strings.TrimPrefix(p.Have.Deployables[0].Name, host+"_"))
		}
	}
	return created, removed
}
