package demo

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/reconcile"
)

// flip restarts the agent with the other managed mode. before and after are the stored attach handle of the bound
// device; refusal says why the start failed, nil when it did not.
func (w *world) flip(ctx context.Context) (before, after *cyborg.AttachHandle, refusal, err error) {
	if before, err = w.handle(ctx); err != nil {
		return nil, nil, nil, err
	}
	s, err := w.first.withManaged(!w.rule)
	if err != nil {
		return nil, nil, nil, err
	}
	refusal = w.restart(ctx, s)
	after, err = w.handle(ctx)
	return before, after, refusal, err
}

// conflict plays the sixth step: the device is bound, so its managed mode may not change, and that of the free
// devices neither as long as the start is refused.
func (w *world) conflict(ctx context.Context, d detail) error {
	all, err := w.texts(ctx)
	if err != nil {
		return err
	}
	before, after, refusal, err := w.flip(ctx)
	if err != nil {
		return err
	}
	now, err := w.texts(ctx)
	if err != nil {
		return err
	}
	d["error"], d["sent_reports"] = said(refusal), w.reports()
	d["info_before"], d["info_after"] = before.AttachInfo.Value(), after.AttachInfo.Value()
	var config *agent.ConfigError
	return holds(
		named(refusal, hostName, w.bound.Device.Address.String(), strconv.FormatBool(w.rule), strconv.FormatBool(!w.rule)),
		that(errors.As(refusal, &config), "the refusal is no configuration error: %v", refusal),
		that(before.AttachInfo.Value() == after.AttachInfo.Value(), "the stored text changed"),
		that(before.UUID.Value() == after.UUID.Value(), "the attach handle was replaced"),
		that(maps.Equal(all, now), "attach handles of other devices changed: %v, before %v", now, all),
		that(w.reports() == 0, "a report was sent"),
	)
}

// texts are the attach_info of all stored attach handles by UUID.
func (w *world) texts(ctx context.Context) (map[string]string, error) {
	handles, err := w.objects.AttachHandleList.GetByHostname(ctx, hostName)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, h := range handles.All() {
		out[h.UUID.Value()] = h.AttachInfo.Value()
	}
	return out, nil
}

// reportMethod is the method of a report.
const reportMethod = "report_data"

// reports counts the reports that the agent sent since its last start.
func (w *world) reports() int {
	n := 0
	for _, r := range w.wire.requests() {
		if r.Method == reportMethod {
			n++
		}
	}
	return n
}

// inPlace plays the seventh step: once the device is free, the same start changes the text and nothing else.
func (w *world) inPlace(ctx context.Context, d detail) error {
	if err := w.patch(ctx, "remove"); err != nil {
		return err
	}
	before, after, refusal, err := w.flip(ctx)
	if err := errors.Join(err, refusal); err != nil {
		return err
	}
	updates := w.updates()
	d["updates"] = updates
	d["uuid_before"], d["uuid_after"] = before.UUID.Value(), after.UUID.Value()
	d["info_before"], d["info_after"] = before.AttachInfo.Value(), after.AttachInfo.Value()
	managed := !w.rule
	want := pci.AttachInfo(w.bound.Device.Address, &managed)
	return holds(
		that(before.UUID.Value() == after.UUID.Value(), "the attach handle was replaced"),
		that(after.AttachInfo.Value() == want, "the stored text is %s, want %s", after.AttachInfo.Value(), want),
		that(before.AttachInfo.Value() != after.AttachInfo.Value(), "the stored text did not change"),
		that(updates > 0, "no update was requested before the report"),
	)
}

// updates counts the in-place updates that the agent requested before it reported.
func (w *world) updates() int {
	n := 0
	for _, r := range w.wire.requests() {
		if r.Method == reportMethod {
			break
		}
		if bytes.Contains(r.Envelope, []byte("update_attach_info")) {
			n++
		}
	}
	return n
}

// excludedWhileBound plays the eighth step: the operator excludes a device that a guest has.
func (w *world) excludedWhileBound(ctx context.Context, d detail) error {
	if err := w.patch(ctx, "add"); err != nil {
		return err
	}
	before, err := w.handle(ctx)
	if err != nil {
		return err
	}
	address := w.bound.Device.Address.String()
	s := w.now.excluding(address)
	for range 2 { // the second start's report finds it missing again, which is not said again
		if err := w.restart(ctx, s); err != nil {
			return err
		}
	}
	after, err := w.handle(ctx)
	if err != nil {
		return err
	}
	state, err := w.state(ctx)
	if err != nil {
		return err
	}
	devices, err := w.devices(ctx, detail{})
	if err != nil {
		return err
	}
	p, err := w.provider(ctx, reconcile.ProviderUUID(w.deployable()))
	if err != nil {
		return err
	}
	inventory := p.Inventories[pci.ResourceClass]
	absences := w.logs.matching(string(reconcile.ReasonMissing), pci.CPIDInfo(w.bound.Device.Address))
	d["total"], d["reserved"], d["inventories"] = inventory.Total, inventory.Reserved, p.inventories
	d["arq_state"], d["absence_logged"], d["devices"] = state, absences, devices
	return holds(
		that(inventory.Total > 0 && inventory.Reserved == inventory.Total, "%d of %d are reserved, want all", inventory.Reserved, inventory.Total),
		that(before.UUID.Value() == after.UUID.Value() && before.AttachInfo.Value() == after.AttachInfo.Value(), "the attach handle changed"),
		that(state == "Bound", "the request is %s, want Bound", state),
		that(devices == len(w.selection.Selected()), "%d devices are stored, want %d", devices, len(w.selection.Selected())),
		that(len(absences) == 1, "the absence was logged %d times, want once", len(absences)),
	)
}

// nvmeClass is base class and subclass of an NVMe controller.
const nvmeClass = "0108"

// classGuard plays the ninth step on the first NVMe controller.
func (w *world) classGuard(ctx context.Context, d detail) error {
	address := ""
	for _, decision := range w.selection.Decisions {
		if strings.HasPrefix(decision.Device.Class.String(), "0x"+nvmeClass) {
			address = decision.Device.Address.String()
			break
		}
	}
	if address == "" {
		d["skipped"] = "the host has no NVMe controller"
		return holds(that(!w.recorded, "the recorded host has no NVMe controller"))
	}
	guarded := w.now.selecting(address)
	refusal := w.restart(ctx, guarded)
	sent := len(w.wire.requests())
	d["error"], d["sent"] = said(refusal), sent
	guarded.AllowUnsafe = true
	if err := w.restart(ctx, guarded); err != nil {
		return err
	}
	warnings := w.logs.matching("UNSAFE", address)
	d["warning"] = strings.Join(warnings, "\n")
	deployables, err := w.objects.DeployableList.GetByHostname(ctx, hostName)
	if err != nil {
		return err
	}
	admitted := slices.ContainsFunc(deployables.All(), func(d *cyborg.Deployable) bool { return d.Name.Value() == hostName+"_"+address })
	return holds(
		named(refusal, address, nvmeClass, "pci driver"),
		that(sent == 0, "%d messages were sent, want none", sent),
		that(admitted, "the workaround did not admit the device"),
		that(len(warnings) > 0, "the device was admitted without a warning"),
	)
}

// schema plays the last step: a misspelt key is refused, never ignored.
func (w *world) schema(ctx context.Context, d detail) error {
	s, key, err := w.first.withMisspelt()
	if err != nil {
		return err
	}
	refusal := w.restart(ctx, s)
	d["error"], d["key"] = said(refusal), key
	return holds(named(refusal, "device_spec", "value 1", key))
}
