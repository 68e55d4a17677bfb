package cyborgrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

func extARQ(info map[string]any) *cyborg.ExtARQ {
	return &cyborg.ExtARQ{ARQ: ovo.Of(&cyborg.ARQ{
		UUID: ovo.Of("5f3e7b9e-0000-4000-8000-000000000001"), AttachHandleInfo: ovo.NullOf(info),
	})}
}

// versions are name and version of every object in a primitive.
func versions(t *testing.T, raw json.RawMessage) map[string]string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if name, ok := v["cyborg_object.name"].(string); ok {
				out[name], _ = v["cyborg_object.version"].(string)
			}
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
	}
	walk(v)
	return out
}

// TestRequestsTravelAtRelease17: every object of RPC 1.0 is written at the version of 17.0.0.
func TestRequestsTravelAtRelease17(t *testing.T) {
	t.Parallel()
	wire := cyborgrpc.NewWire(registry(t))
	report := []cyborgrpc.ReportedDevice{{Device: &cyborg.DriverDevice{
		Vendor: ovo.Of("10de"), ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI")}),
	}}}
	for name, tt := range map[string]struct {
		value any
		want  map[string]string
	}{
		"arq_create":            {extARQ(map[string]any{"managed": true}), map[string]string{"ExtARQ": "1.2", "ARQ": "1.1"}},
		"device_profile_create": {&cyborg.DeviceProfile{Name: ovo.Of("p")}, map[string]string{"DeviceProfile": "1.1"}},
		"report_data":           {report, map[string]string{"DriverDevice": "1.4", "DriverControlPathID": "1.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := wire.Serialize(t.Context(), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, versions(t, raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUnexpressibleContent: what 17.0.0 cannot hold fails before it is sent.
func TestUnexpressibleContent(t *testing.T) {
	t.Parallel()
	_, err := cyborgrpc.NewWire(registry(t)).Serialize(t.Context(), extARQ(map[string]any{"spare": nil}))
	if _, ok := errors.AsType[*ovo.ActionError](err); !ok {
		t.Errorf("Serialize() = %v, want *ovo.ActionError", err)
	}
}

// TestReplyTakesTheVersionReceived: the object's and its children's.
func TestReplyTakesTheVersionReceived(t *testing.T) {
	t.Parallel()
	r := registry(t)
	wire := cyborgrpc.NewWire(r)
	for name, tt := range map[string]struct {
		received *cyborg.ExtARQ
		want     map[string]string
	}{
		"current": {extARQ(nil), map[string]string{"ExtARQ": "1.3", "ARQ": "1.2"}},
		"17.0.0":  {received(t, r, "1.2", ovo.Manifest{"ExtARQ": "1.2", "ARQ": "1.1"}), map[string]string{"ExtARQ": "1.2", "ARQ": "1.1"}},
		"older":   {received(t, r, "1.1", ovo.Manifest{"ExtARQ": "1.1", "ARQ": "1.0"}), map[string]string{"ExtARQ": "1.1", "ARQ": "1.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := wire.Reply(tt.received, extARQ(map[string]any{"managed": false}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, versions(t, raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// received is an object as it came from an older peer.
func received(t *testing.T, r *ovo.Registry, version string, m ovo.Manifest) *cyborg.ExtARQ {
	t.Helper()
	raw, err := r.AppendAt(nil, extARQ(map[string]any{}), version, m)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ovo.Decode[cyborg.ExtARQ](r, raw)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMalformedDeviceLeavesTheOthers: one device that cannot be read does not refuse the report.
func TestMalformedDeviceLeavesTheOthers(t *testing.T) {
	t.Parallel()
	wire := cyborgrpc.NewWire(registry(t))
	good, err := wire.Serialize(t.Context(), &cyborg.DriverDevice{Vendor: ovo.Of("10de")})
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"not an object": `17`, "another class": strings.ReplaceAll(string(good), "DriverDevice", "Device"),
		"NaN": `NaN`, "too new": strings.ReplaceAll(string(good), `"1.4"`, `"2.0"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var devices []cyborgrpc.ReportedDevice
			raw := json.RawMessage("[" + string(good) + ", " + bad + "]")
			if err := wire.Deserialize(t.Context(), raw, &devices); err != nil {
				t.Fatal(err)
			}
			if len(devices) != 2 || devices[0].Err != nil || devices[0].Device.Vendor.Value() != "10de" || devices[1].Err == nil {
				t.Errorf("read %+v", devices)
			}
		})
	}
	var devices []cyborgrpc.ReportedDevice
	for _, raw := range []string{`{}`, `[`, `[] []`, `null`} {
		if err := wire.Deserialize(t.Context(), json.RawMessage(raw), &devices); err == nil {
			t.Errorf("%s was taken for a report", raw)
		}
	}
}

// TestNoneIsNoObject: where a request or an answer must hold an object, null is refused, not handed on as nil.
func TestNoneIsNoObject(t *testing.T) {
	t.Parallel()
	wire := cyborgrpc.NewWire(registry(t))
	var arq *cyborg.ExtARQ
	var profile *cyborg.DeviceProfile
	for _, into := range []any{&arq, &profile} {
		var bad *ovo.TypeError
		if err := wire.Deserialize(t.Context(), json.RawMessage(" null"), into); !errors.As(err, &bad) {
			t.Errorf("%T: %v, want *ovo.TypeError", into, err)
		}
	}
}

// TestGroupsKeepTheirOrder: on the bus and back.
func TestGroupsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	groups := []arq.Group{{
		{Key: "resources:FPGA", Value: "1"},
		{Key: "accel:bitstream_id", Null: true},
		{Key: "resources:CUSTOM_A", Value: "2"},
		{Key: "trait:CUSTOM_B", Value: "required"},
	}, {}}
	dicts, err := cyborgrpc.GroupDicts(groups)
	if err != nil {
		t.Fatal(err)
	}
	wire := cyborgrpc.NewWire(registry(t))
	raw, err := wire.Serialize(t.Context(), &cyborg.DeviceProfile{Name: ovo.Of("p"), Groups: ovo.Of(dicts)})
	if err != nil {
		t.Fatal(err)
	}
	var back *cyborg.DeviceProfile
	if err := wire.Deserialize(t.Context(), raw, &back); err != nil {
		t.Fatal(err)
	}
	got, err := cyborgrpc.GroupsOf(back.Groups.Value())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(groups, got); diff != "" {
		t.Error(diff)
	}
	var bad *arq.GroupError
	if _, err := cyborgrpc.GroupsOf([]any{int64(1)}); !errors.As(err, &bad) {
		t.Errorf("a number was taken for a group: %v", err)
	}
}

// TestExceptionsCrossTheBus: each error arrives as what the table says.
func TestExceptionsCrossTheBus(t *testing.T) {
	t.Parallel()
	as := func(target any) func(error) bool { return func(err error) bool { return errors.As(err, target) } }
	is := func(module, name string) func(error) bool {
		return func(err error) bool { return errors.Is(err, rpc.Class{Module: module, Name: name}) }
	}
	for name, tt := range map[string]struct {
		raised error
		ok     func(error) bool
	}{
		"ResourceNotFound":                 {&arq.NotFoundError{Resource: "ExtArq", Msg: "with uuid=u"}, as(new(*arq.NotFoundError))},
		"attach handle":                    {&cyborg.HandleNotFoundError{UUID: "u"}, as(new(*arq.NotFoundError))},
		"stale":                            {&cyborg.StaleHandleError{UUID: "u"}, as(new(*cyborg.StaleHandleError))},
		"ARQBadState":                      {&arq.BadStateError{UUID: "u", Have: arq.Bound, Want: []arq.State{arq.Initial}}, as(new(*arq.BadStateError))},
		"UnsupportedObjectError":           {&ovo.UnsupportedObjectError{Object: "X"}, as(new(*ovo.UnsupportedObjectError))},
		"IncompatibleObjectVersion":        {&ovo.IncompatibleVersionError{Object: "X", Got: "2.0", Supported: "1.0"}, as(new(*ovo.IncompatibleVersionError))},
		"InvalidTargetVersion":             {&ovo.InvalidTargetError{Version: "9.9"}, as(new(*ovo.InvalidTargetError))},
		"ObjectActionError of the library": {&ovo.ActionError{Action: "a", Reason: "r"}, as(new(*ovo.ActionError))},
		"unsupported method":               {cyborgrpc.Unsupported("X.y", &ovo.UndeclaredMethodError{Object: "X", Method: "y"}), as(new(*cyborgrpc.UnsupportedMethodError))},
		"never not-implemented":            {cyborgrpc.Unsupported("X.y", &ovo.NotImplementedError{Message: "no"}), is(cyborgrpc.Module, "ObjectActionError")},
		"a body's attribute error":         {cyborgrpc.Unsupported("X.y", &ovo.AttributeError{Message: "no y"}), is("builtins", "RuntimeError")},
		"inside a body's error":            {cyborgrpc.Unsupported("X.y", fmt.Errorf("load: %w", &ovo.NotImplementedError{Message: "no"})), is("builtins", "RuntimeError")},
		"group":                            {&arq.GroupError{Reason: "bad"}, is(cyborgrpc.Module, "InvalidParameterValue")},
		"ValueError":                       {&ovo.FieldError{Path: "X.f", Err: &ovo.ValueError{Message: "bad"}}, is("builtins", "ValueError")},
		"unmapped":                         {errors.New("SELECT secret"), is("builtins", "RuntimeError")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ep := rpc.NewEndpoint("", "1.0")
			cyborgrpc.ARQDeleteByInstanceUUID.Handle(ep, func(context.Context, cyborgrpc.ARQDeleteByInstanceArgs) (rpc.Null, error) {
				return rpc.Null{}, tt.raised
			})
			client, _, wire := service(t, cyborgrpc.ConductorTopic, ep)
			conductor, err := cyborgrpc.NewConductorAPI(client, wire, cyborgrpc.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			err = conductor.ARQDeleteByInstance(t.Context(), "i")
			if err == nil || !tt.ok(err) {
				t.Errorf("arrived as %T: %v", err, err)
			}
			if strings.Contains(err.Error(), "SELECT") {
				t.Errorf("the text of an unmapped error left the process: %v", err)
			}
		})
	}
}
