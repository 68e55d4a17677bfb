package cyborgrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/ovo/pyjson"
	"github.com/go-cyborg/cyborg/rpc"
)

// Wire is the serializer of every client and server of Cyborg's services. Objects that RPC 1.0 carries are
// written at the versions of 17.0.0 and read at any version the registry knows; everything else is plain JSON,
// and a [json.RawMessage] passes through. It is safe for concurrent use.
type Wire struct {
	registry *ovo.Registry
	versions ovo.Manifest
}

var _ rpc.Serializer = Wire{}

// NewWire makes the serializer over the current classes.
func NewWire(registry *ovo.Registry) Wire {
	return Wire{registry: registry, versions: cyborg.Release17Versions()}
}

// Serialize implements [rpc.Serializer]. An object whose content the versions of 17.0.0 cannot express fails
// with *[ovo.ActionError].
func (w Wire) Serialize(ctx context.Context, v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return v, nil
	case ovo.Object:
		return w.appendObject(nil, v)
	case []ReportedDevice:
		return w.report(v)
	}
	return rpc.JSON{}.Serialize(ctx, v)
}

func (w Wire) report(devices []ReportedDevice) (json.RawMessage, error) {
	out := json.RawMessage{'['}
	for i, d := range devices {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = w.appendObject(out, d.Device); err != nil {
			return nil, fmt.Errorf("device %d of the report: %w", i, err)
		}
	}
	return append(out, ']'), nil
}

func (w Wire) appendObject(dst []byte, o ovo.Object) ([]byte, error) {
	view, err := w.registry.View(o)
	if err != nil {
		return nil, err
	}
	out, err := w.registry.AppendAt(dst, o, w.versions[view.Class().Name()], w.versions)
	if _, ok := errors.AsType[*ovo.InvalidTargetError](err); ok { // it was received at an older version than 17.0.0's: it goes on as it came
		return w.registry.Append(dst, o)
	}
	return out, err
}

// Reply writes result as the answer to received: at the version that received came with, its children too.
func (w Wire) Reply(received, result ovo.Object) (json.RawMessage, error) {
	versions := ovo.Manifest{}
	name, err := w.collectVersions(received, versions)
	if err != nil {
		return nil, err
	}
	return w.registry.AppendAt(nil, result, versions[name], versions)
}

func (w Wire) collectVersions(o ovo.Object, into ovo.Manifest) (name string, err error) {
	view, err := w.registry.View(o)
	if err != nil {
		return "", err
	}
	name = view.Class().Name()
	into[name] = view.Version()
	for field, state := range view.Fields() {
		if !state.Set {
			continue
		}
		value, err := view.Get(field)
		if err != nil {
			return "", err
		}
		if child, ok := value.(ovo.Object); ok {
			if _, err := w.collectVersions(child, into); err != nil {
				return "", err
			}
		}
	}
	return name, nil
}

// Deserialize implements [rpc.Serializer].
func (w Wire) Deserialize(ctx context.Context, raw json.RawMessage, v any) error {
	switch v := v.(type) {
	case *json.RawMessage:
		*v = append(json.RawMessage(nil), raw...)
		return nil
	case *[]ReportedDevice:
		return w.readReport(raw, v)
	case **cyborg.ExtARQ, **cyborg.DeviceProfile:
		if string(bytes.TrimSpace(raw)) == "null" { // no method takes or returns None in their place
			return &ovo.TypeError{Message: "an object is required, not None"}
		}
		return ovo.Serializer{Registry: w.registry}.Deserialize(ctx, raw, v)
	}
	return rpc.JSON{}.Deserialize(ctx, raw, v)
}

// pathOf is the control path of a device that cannot be read as a whole, nil without a readable one.
func (w Wire) pathOf(device json.RawMessage) *cyborg.DriverControlPathID {
	var primitive struct {
		Data struct {
			Path json.RawMessage `json:"controlpath_id"`
		} `json:"cyborg_object.data"`
	}
	if json.Unmarshal(device, &primitive) != nil {
		return nil
	}
	path, err := ovo.Decode[cyborg.DriverControlPathID](w.registry, primitive.Data.Path)
	if err != nil {
		return nil
	}
	return path
}

// readReport reads every device of a report by itself: one that is malformed gets an Err and leaves the others
// alone. Only a value that is no list at all is an error of the argument.
func (w Wire) readReport(raw json.RawMessage, into *[]ReportedDevice) error {
	r := pyjson.NewReader(raw)
	devices := []ReportedDevice{}
	more, err := r.BeginArray()
	for ; more && err == nil; more, err = r.NextElement() {
		element, rerr := r.ReadRaw()
		if rerr != nil {
			return rerr
		}
		device, derr := ovo.Decode[cyborg.DriverDevice](w.registry, element)
		d := ReportedDevice{Device: device, Err: derr}
		if derr != nil {
			d.Path = w.pathOf(element)
		}
		devices = append(devices, d)
	}
	if err != nil {
		return err
	}
	*into = devices
	return r.End()
}
