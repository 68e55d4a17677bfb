package reconcile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reconcileVectors is reconcile.json: managed-mode decisions on one handle, on metadata, and on a host.
type reconcileVectors struct {
	Single []struct {
		ID            string `json:"id"`
		Persisted     string `json:"persisted"`
		Discovered    string `json:"discovered"`
		InUse         bool   `json:"in_use"`
		ARQReferences int    `json:"arq_references"`
		Stale         string `json:"stale"`
		Expect        struct {
			Error   *string `json:"error"`
			Updates int     `json:"updates_attempted"`
			Report  string  `json:"report"`
			Info    *string `json:"reported_attach_info"`
			After   *string `json:"persisted_after"`
			Stored  *bool   `json:"persisted_managed"`
			Config  *bool   `json:"discovered_managed"`
		} `json:"expect"`
	} `json:"single"`
	Metadata []struct {
		Name          string `json:"name"`
		Persisted     string `json:"persisted"`
		Discovered    string `json:"discovered"`
		InUse         bool   `json:"in_use"`
		ARQReferences int    `json:"arq_references"`
		Expect        struct {
			Error   *string `json:"error"`
			After   string  `json:"persisted_after"`
			Updates int     `json:"updates_attempted"`
		} `json:"expect"`
	} `json:"metadata"`
	Host []struct {
		Name      string `json:"name"`
		Persisted []struct {
			Address       string `json:"address"`
			Info          string `json:"attach_info"`
			InUse         bool   `json:"in_use"`
			ARQReferences int    `json:"arq_references"`
		} `json:"persisted_handles"`
		Discovered []struct {
			Address string `json:"address"`
			Info    string `json:"attach_info"`
		} `json:"discovered"`
		Expect struct {
			Error     *string  `json:"error"`
			Conflicts []string `json:"conflicts"`
			Updated   []string `json:"updated"`
		} `json:"expect"`
	} `json:"host"`
}

func loadReconcileVectors(t *testing.T) (v reconcileVectors, ok bool) {
	t.Helper()
	dir := filepath.Join("testdata", "vectors", "pci")
	if root := os.Getenv("VECTORS_DIR"); root != "" {
		dir = filepath.Join(root, "pci")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "reconcile.json"))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("VECTORS_DIR") != "" {
		return v, false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v, true
}

func references(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("arq-%d", i)
	}
	return out
}

// deviceAt is one device with one handle. The cpid is the same text on both sides, so that the handle's text
// alone decides.
func deviceAt(cpid, info string, inUse bool, arqs int) reconcile.Device {
	return reconcile.Device{
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: cpid},
		Deployables: []reconcile.Deployable{{
			Name:    "host_" + cpid,
			Handles: []reconcile.Handle{{UUID: "handle-" + cpid, Type: arq.HandlePCI, Info: info, InUse: inUse, ARQs: references(arqs)}},
		}},
	}
}

// problemKinds names what a plan refuses, as the vectors do.
func problemKinds(err error) (kinds, addresses []string) {
	if err == nil {
		return nil, nil
	}
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var conflict *reconcile.ManagedConflictError
		var invalid *reconcile.InvalidInfoError
		switch {
		case errors.As(e, &conflict):
			kinds, addresses = append(kinds, "managed_conflict"), append(addresses, conflict.Address.String())
		case errors.As(e, &invalid):
			kinds, addresses = append(kinds, "invalid_attach_info"), append(addresses, invalid.Address.String())
		}
	}
	return kinds, addresses
}

// TestManagedVectors checks the decision of one pass. What follows a stale update is the agent's doing and is
// checked there; here such a case ends with the first attempt.
func TestManagedVectors(t *testing.T) {
	v, ok := loadReconcileVectors(t)
	if !ok {
		return
	}
	passed, failed, skipped := 0, 0, 0
	check := func(name string, problem string) {
		if problem == "" {
			passed++
			return
		}
		failed++
		t.Errorf("%s: %s", name, problem)
	}
	const cpid = `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`
	for _, c := range v.Single {
		if c.Stale != "none" {
			skipped++
			continue
		}
		plan := reconcile.Managed(
			reconcile.Inventory{Host: "h", Devices: []reconcile.Device{deviceAt(cpid, c.Persisted, c.InUse, c.ARQReferences)}},
			[]reconcile.Device{deviceAt(cpid, c.Discovered, false, 0)})
		check(c.ID, singleProblem(plan, c.Expect.Error, c.Expect.Updates, c.Expect.Info))
	}
	for _, c := range v.Metadata {
		plan := reconcile.Managed(
			reconcile.Inventory{Host: "h", Devices: []reconcile.Device{deviceAt(cpid, c.Persisted, c.InUse, c.ARQReferences)}},
			[]reconcile.Device{deviceAt(cpid, c.Discovered, false, 0)})
		problem := singleProblem(plan, c.Expect.Error, c.Expect.Updates, nil)
		for _, u := range plan.Updates {
			if problem == "" && u.To != c.Expect.After {
				problem = fmt.Sprintf("update writes %s, want %s", u.To, c.Expect.After)
			}
		}
		check(c.Name, problem)
	}
	for _, c := range v.Host {
		var have reconcile.Inventory
		for _, p := range c.Persisted {
			have.Devices = append(have.Devices, deviceAt(p.Address, p.Info, p.InUse, p.ARQReferences))
		}
		var found []reconcile.Device
		for _, d := range c.Discovered {
			found = append(found, deviceAt(d.Address, d.Info, false, 0))
		}
		plan := reconcile.Managed(have, found)
		_, conflicts := problemKinds(plan.Err())
		var updated []string
		if plan.Err() == nil {
			for _, u := range plan.Updates {
				updated = append(updated, u.Device.ControlPath.Info)
			}
		}
		problem := ""
		if !slices.Equal(conflicts, c.Expect.Conflicts) || !slices.Equal(updated, c.Expect.Updated) {
			problem = fmt.Sprintf("conflicts %v, updated %v; want %v, %v", conflicts, updated, c.Expect.Conflicts, c.Expect.Updated)
		}
		check(c.Name, problem)
	}
	fmt.Fprintf(os.Stdout, "managed vectors: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
}

func singleProblem(plan reconcile.ManagedPlan, wantErr *string, updates int, reported *string) string {
	kinds, _ := problemKinds(plan.Err())
	switch {
	case wantErr == nil && kinds != nil, wantErr != nil && !slices.Equal(kinds, []string{*wantErr}):
		return fmt.Sprintf("error %v, want %v", kinds, wantErr)
	case plan.Err() != nil:
		return ""
	case len(plan.Updates) != updates:
		return fmt.Sprintf("%d updates, want %d", len(plan.Updates), updates)
	}
	if got := plan.Report[0].Deployables[0].Handles[0].Info; reported != nil && got != *reported {
		return fmt.Sprintf("reports %s, want %s", got, *reported)
	}
	return ""
}
