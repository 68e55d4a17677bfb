package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/rpc"
)

// profileName is the device profile of the story.
const profileName = "demo-gpu"

// shownRequest is what the story reads of an accelerator request.
type shownRequest struct {
	UUID  string                     `json:"uuid"`
	State string                     `json:"state"`
	Info  map[string]json.RawMessage `json:"attach_handle_info"`
}

// bind plays the third step through the REST API, as Nova does.
func (w *world) bind(ctx context.Context, d detail) error {
	if err := w.createRequest(ctx); err != nil {
		return err
	}
	if err := w.patch(ctx, "add"); err != nil {
		return err
	}
	new24, err := w.show(ctx, "2.4")
	if err != nil {
		return err
	}
	old23, err := w.show(ctx, "2.3")
	if err != nil {
		return err
	}
	events := w.events()
	d["v2_4"], d["v2_3"], d["events"] = new24, old23, events
	var at24, at23 shownRequest
	if err := errors.Join(new24.into(&at24), old23.into(&at23)); err != nil {
		return err
	}
	_, known := at23.Info["managed"]
	function := fmt.Appendf(nil, "%q", strconv.Itoa(int(w.bound.Device.Address.Function)))
	return holds(
		that(at24.State == "Bound", "the request is %s, want Bound", at24.State),
		that(bytes.Equal(at24.Info["managed"], fmt.Append(nil, w.rule)), "at 2.4 managed is %s, want the JSON boolean %t", at24.Info["managed"], w.rule),
		that(bytes.Equal(at23.Info["function"], function), "at 2.3 the function is %s, want %s", at23.Info["function"], function),
		that(!known, "at 2.3 there is a key managed: %s", at23.Info["managed"]),
		that(len(events) == 1, "Nova was told %d events, want one", len(events)),
		that(events[0].Tag == w.request && events[0].ServerUUID == w.instance && events[0].Status == nova.StatusCompleted,
			"Nova was told %s", compact(events[0])),
	)
}

// createRequest makes a device profile and one request of it.
func (w *world) createRequest(ctx context.Context) error {
	groups := []map[string]string{{"resources:" + pci.ResourceClass: "1"}}
	_, err := w.api.want(ctx, http.StatusCreated, http.MethodPost, "/v2/device_profiles",
		[]any{map[string]any{"name": profileName, "groups": groups}})
	if err != nil {
		return err
	}
	made, err := w.api.want(ctx, http.StatusCreated, http.MethodPost, "/v2/accelerator_requests",
		map[string]any{"device_profile_name": profileName})
	if err != nil {
		return err
	}
	var body struct {
		ARQs []shownRequest `json:"arqs"`
	}
	if err := made.into(&body); err != nil {
		return err
	}
	if len(body.ARQs) != 1 {
		return fmt.Errorf("POST /v2/accelerator_requests made %d requests, want one: %s", len(body.ARQs), made.Body)
	}
	w.request = body.ARQs[0].UUID
	return nil
}

// patch binds ("add") or unbinds ("remove") the request.
func (w *world) patch(ctx context.Context, op string) error {
	provider := reconcile.ProviderUUID(w.deployable())
	var ops []map[string]any
	for _, field := range [][2]string{{"/hostname", hostName}, {"/device_rp_uuid", provider}, {"/instance_uuid", w.instance}} {
		ops = append(ops, map[string]any{"path": field[0], "op": op, "value": field[1]})
	}
	_, err := w.api.want(ctx, http.StatusAccepted, http.MethodPatch, "/v2/accelerator_requests", map[string]any{w.request: ops})
	return err
}

// show reads the request at a microversion.
func (w *world) show(ctx context.Context, version string) (answer, error) {
	return w.api.want(ctx, http.StatusOK, http.MethodGet, "/v2/accelerator_requests/"+w.request, nil,
		"OpenStack-API-Version", "accelerator "+version)
}

// state is the request's state now.
func (w *world) state(ctx context.Context) (string, error) {
	shown, err := w.show(ctx, "2.4")
	if err != nil {
		return "", err
	}
	var r shownRequest
	return r.State, errors.Join(shown.into(&r))
}

// events is everything that Nova was told so far.
func (w *world) events() []nova.Event {
	var all []nova.Event
	for _, b := range w.services.Notified() {
		all = append(all, b.Events...)
	}
	return all
}

// agentReads are the object operations with which an agent reads its host's inventory.
var agentReads = []string{
	"AttachHandleList.get_by_hostname", "AttachHandleList.get_referenced_by_hostname", "ControlpathIDList.get_by_hostname",
	"DeployableList.get_by_hostname", "DeviceList.get_by_hostname",
}

// reads are the object operations that the agent sent before it reported, sorted.
func (w *world) reads() []string {
	var calls []string
	for _, r := range w.wire.requests() {
		if r.Method == reportMethod {
			break
		}
		if r.Method == "object_class_action_versions" && r.Version == "1.1" {
			calls = append(calls, r.Call)
		}
	}
	slices.Sort(calls)
	return calls
}

// indirection plays the fourth step: what the agent's start sent, and one of its calls once more.
func (w *world) indirection(ctx context.Context, d detail) error {
	reads := w.reads()
	d["agent_reads"] = reads
	before := len(w.wire.requests())
	objects, client, err := w.services.Objects(w.wire, w.now.limits())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	devices, err := objects.DeviceList.GetByHostname(ctx, hostName)
	if err != nil {
		return err
	}
	sent := w.wire.requests()[before:]
	d["sent"], d["devices"] = len(sent), devices.Len()
	if len(sent) != 1 {
		return fmt.Errorf("the call sent %d requests, want one", len(sent))
	}
	d["method"], d["version"], d["envelope"] = sent[0].Method, sent[0].Version, sent[0].Envelope
	return holds(
		that(slices.Equal(reads, agentReads), "before its report the agent sent %v, want %v", reads, agentReads),
		that(sent[0].Method == "object_class_action_versions", "the request is %s", sent[0].Method),
		that(sent[0].Version == "1.1", "the request's version is %s, want 1.1", sent[0].Version),
		that(devices.Len() == len(w.selection.Selected()), "the list has %d devices, want %d", devices.Len(), len(w.selection.Selected())),
	)
}

// cap plays the fifth step: under cap 1.0 the call and the start that needs it are refused locally.
func (w *world) cap(ctx context.Context, d detail) error {
	capped, err := w.first.withManaged(w.rule)
	if err != nil {
		return err
	}
	capped.Cap = "1.0"
	wire := newTap(w.services.Transport())
	objects, client, err := w.services.Objects(wire, capped.limits())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	_, callErr := objects.DeviceList.GetByHostname(ctx, hostName)
	d["call_error"], d["sent"] = said(callErr), len(wire.requests())
	startErr := w.restart(ctx, capped)
	d["error"], d["sent"] = said(startErr), len(wire.requests())+len(w.wire.requests())
	var refused *rpc.VersionCapError
	return holds(
		that(errors.As(callErr, &refused), "the call was not refused by the cap: %v", callErr),
		that(d["sent"] == 0, "%d messages were sent, want none", d["sent"]),
		named(startErr, "managed", "1.1", "1.0", "[upgrade_levels] conductor"),
	)
}

// limits are the caps of the settings.
func (s settings) limits() cyborgrpc.Limits {
	limits, err := cyborgrpc.ParseLimits(s.Cap, "")
	if err != nil {
		return cyborgrpc.DefaultLimits()
	}
	return limits
}

// named claims that an error is there and names all of the words.
func named(err error, words ...string) claim {
	if err == nil {
		return that(false, "the start was accepted")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			return that(false, "the refusal does not name %q: %v", word, err)
		}
	}
	return that(true, "")
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
