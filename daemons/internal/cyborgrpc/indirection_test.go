package cyborgrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

// emptyStore has no rows; updates are stale.
type emptyStore struct{}

func (emptyStore) DevicesByHostname(context.Context, string) ([]cyborg.DeviceRow, error) {
	return nil, nil
}

func (emptyStore) ControlpathIDsByHostname(context.Context, string) ([]cyborg.ControlpathIDRow, error) {
	return nil, nil
}

func (emptyStore) DeployablesByHostname(context.Context, string) ([]cyborg.DeployableRow, error) {
	return nil, nil
}

func (emptyStore) AttachHandlesByHostname(context.Context, string) ([]cyborg.AttachHandleRow, error) {
	return nil, nil
}

func (emptyStore) ReferencedAttachHandlesByHostname(context.Context, string) ([]cyborg.AttachHandleRow, error) {
	return nil, nil
}

func (emptyStore) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandleRow, error) {
	return nil, &cyborg.StaleHandleError{UUID: u.UUID, Field: "in_use"}
}

// serveObjects adds the object operations to an endpoint.
func serveObjects(t *testing.T, ep *rpc.Endpoint, objects cyborg.Objects) {
	t.Helper()
	d, err := objects.Dispatcher(registry(t))
	if err != nil {
		t.Fatal(err)
	}
	methods, err := cyborgrpc.ObjectMethods()
	if err != nil {
		t.Fatal(err)
	}
	methods.Serve(ep, d)
}

// remote are the methods of a caller whose requests are recorded.
func remote(t *testing.T, ep *rpc.Endpoint) (cyborg.Objects, *recorder) {
	t.Helper()
	client, bus, wire := service(t, cyborgrpc.ConductorTopic, ep)
	conductor, err := cyborgrpc.NewConductorAPI(client, wire, cyborgrpc.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := cyborg.Remote(registry(t), conductor.Indirection())
	if err != nil {
		t.Fatal(err)
	}
	return objects, bus
}

// TestOldConductor: a conductor without the operation, or without the class, is told as too old, once and without
// a second attempt.
func TestOldConductor(t *testing.T) {
	t.Parallel()
	for name, ep := range map[string]func(t *testing.T) *rpc.Endpoint{
		"interface 1.0":  func(*testing.T) *rpc.Endpoint { return rpc.NewEndpoint("", "1.0") },
		"no such method": func(*testing.T) *rpc.Endpoint { return rpc.NewEndpoint("", "1.1") },
		"no such class":  classless,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, bus := remote(t, ep(t))
			_, err := objects.DeviceList.GetByHostname(t.Context(), "h")
			if _, ok := errors.AsType[*cyborgrpc.TooOldError](err); !ok {
				t.Fatalf("GetByHostname() = %v, want *TooOldError", err)
			}
			if !strings.Contains(err.Error(), "upgrade conductors first") || !strings.Contains(err.Error(), "DeviceList.get_by_hostname") {
				t.Errorf("the error does not help: %v", err)
			}
			if n := len(bus.requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// classless is a conductor of 17.0.0's classes.
func classless(t *testing.T) *rpc.Endpoint {
	t.Helper()
	r, err := cyborg.NewRelease17()
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Dispatcher()
	if err != nil {
		t.Fatal(err)
	}
	return serving(t, d)
}

func serving(t *testing.T, d *ovo.Dispatcher) *rpc.Endpoint {
	t.Helper()
	methods, err := cyborgrpc.ObjectMethods()
	if err != nil {
		t.Fatal(err)
	}
	ep := rpc.NewEndpoint("", "1.1")
	methods.Serve(ep, d)
	return ep
}

// TestUpdateIsTyped: what a body says arrives as the same error.
func TestUpdateIsTyped(t *testing.T) {
	t.Parallel()
	ep := rpc.NewEndpoint("", "1.1")
	serveObjects(t, ep, cyborg.Local(emptyStore{}))
	objects, _ := remote(t, ep)
	_, err := objects.AttachHandle.UpdateAttachInfo(t.Context(), "u", cyborg.HandleExpectation{}.Dict(), "{}", true)
	var stale *cyborg.StaleHandleError
	if !errors.As(err, &stale) || stale.UUID != "u" || stale.Field != "in_use" {
		t.Errorf("UpdateAttachInfo() = %v, want a stale handle", err)
	}
	_, err = objects.AttachHandle.UpdateAttachInfo(t.Context(), "u", map[string]any{"in_use": "no"}, "{}", true)
	var remote *rpc.RemoteError
	if !errors.As(err, &remote) || remote.Class.Name != "InvalidParameterValue" || remote.Code() != 400 {
		t.Errorf("an expected dict of another shape gave %v", err)
	}
}
