package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/agent"
	pcidriver "github.com/go-cyborg/cyborg/daemons/internal/drivers/pci"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/reconcile"
)

// inventory plays the first step: the driver of this configuration decides for every function of the host.
func (w *world) inventory(_ context.Context, d detail) error {
	cfg, err := w.load(w.first)
	if err != nil {
		return err
	}
	drivers, err := w.services.Drivers(cfg, w.sysfs)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(drivers, func(d agent.Driver) bool { return d.Name() == pcidriver.Name })
	if at < 0 {
		return fmt.Errorf("the generic pci driver is not enabled")
	}
	w.selection, err = drivers[at].(*pcidriver.Driver).Select()
	if err != nil {
		return err
	}
	var selected []string
	reasons := map[string]string{}
	for _, decision := range w.selection.Decisions {
		address := decision.Device.Address.String()
		if decision.Verdict == pci.Selected {
			selected = append(selected, address)
		} else {
			reasons[address] = decision.Reason
		}
	}
	d["selected"], d["reasons"] = selected, reasons
	claims := []claim{that(len(selected) > 0, "no device is selected")}
	for _, address := range w.first.Exclude {
		claims = append(claims, that(!slices.Contains(selected, address), "%s is in exclude_list and yet selected", address))
	}
	for address, reason := range reasons {
		claims = append(claims, that(reason != "", "%s is not selected without a reason", address))
	}
	if w.recorded {
		claims = append(claims, w.recordedClaims(selected, reasons)...)
	}
	if err := holds(claims...); err != nil {
		return err
	}
	if err := w.selection.Err(); err != nil {
		return err
	}
	w.choose()
	return nil
}

// recordedClaims say exactly what is selected of the recorded host: the functions with the ids of the rule, but for
// the excluded one.
func (w *world) recordedClaims(selected []string, reasons map[string]string) []claim {
	claims := []claim{
		that(len(selected) == recordedCount, "%d devices are selected, want %d", len(selected), recordedCount),
		that(strings.Contains(reasons[recordedExclude], "exclude_list"), "%s is left out because: %s", recordedExclude, reasons[recordedExclude]),
	}
	for _, d := range w.selection.Selected() {
		ids := d.Device.VendorID + ":" + d.Device.ProductID
		claims = append(claims, that(ids == recordedIDs, "%s with ids %s is selected", d.Device.Address, ids))
	}
	return claims
}

// choose takes the device of the bind: the first virtual function, else the first device.
func (w *world) choose() {
	selected := w.selection.Selected()
	w.bound = selected[0]
	if at := slices.IndexFunc(selected, func(d pci.Decision) bool { return d.Device.Parent != nil }); at >= 0 {
		w.bound = selected[at]
	}
	w.rule = w.bound.Managed
}

// report plays the second step: the agent starts and reports; REST API, remotable lists and Placement agree.
func (w *world) report(ctx context.Context, d detail) error {
	if err := w.restart(ctx, w.first); err != nil {
		return err
	}
	devices, err := w.devices(ctx, d)
	if err != nil {
		return err
	}
	deployables, err := w.objects.DeployableList.GetByHostname(ctx, hostName)
	if err != nil {
		return err
	}
	handles, err := w.objects.AttachHandleList.GetByHostname(ctx, hostName)
	if err != nil {
		return err
	}
	want := len(w.selection.Selected())
	d["devices"], d["deployables"], d["attach_handles"] = devices, deployables.Len(), handles.Len()
	if err := holds(
		that(devices == want, "GET /v2/devices shows %d devices, want %d", devices, want),
		that(deployables.Len() == want, "%d deployables are stored, want %d", deployables.Len(), want),
		that(handles.Len() == want, "%d attach handles are stored, want %d", handles.Len(), want),
	); err != nil {
		return err
	}
	return w.providers(ctx, d)
}

// devices counts what the REST API lists, and keeps the answer in d.
func (w *world) devices(ctx context.Context, d detail) (int, error) {
	a, err := w.api.want(ctx, http.StatusOK, http.MethodGet, "/v2/devices", nil)
	if err != nil {
		return 0, err
	}
	d["rest"] = a
	var listed struct {
		Devices []struct {
			UUID string `json:"uuid"`
		} `json:"devices"`
	}
	err = a.into(&listed)
	return len(listed.Devices), err
}

// providers checks every selected device's resource provider in Placement.
func (w *world) providers(ctx context.Context, d detail) error {
	sample := map[string]any{}
	for _, decision := range w.selection.Selected() {
		r := pci.NewReport(hostName, decision)
		id := reconcile.ProviderUUID(r.DeployableName)
		p, err := w.provider(ctx, id)
		if err != nil {
			return err
		}
		want := traitsOf(r)
		inventory := p.Inventories[pci.ResourceClass]
		if err := holds(
			that(inventory.Total == 1 && inventory.Reserved == 0, "provider %s: inventory %s, want total 1, reserved 0", r.DeployableName, compact(p.Inventories)),
			that(len(want) > 0, "deployable %s has no traits", r.DeployableName),
			that(slices.Equal(slices.Sorted(slices.Values(p.Traits)), want), "provider %s: traits %v, want %v", r.DeployableName, p.Traits, want),
		); err != nil {
			return err
		}
		if decision.Device.Address == w.bound.Device.Address {
			sample = map[string]any{"uuid": id, "name": r.DeployableName, "inventories": p.inventories, "traits": p.traits}
		}
	}
	d["providers"], d["provider"] = len(w.selection.Selected()), sample
	return nil
}

func traitsOf(r pci.Report) []string {
	var traits []string
	for _, a := range r.Attributes {
		if a.Key != "rc" {
			traits = append(traits, a.Value)
		}
	}
	slices.Sort(traits)
	return traits
}
