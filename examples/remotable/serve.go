package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovorpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// topic is what the service listens to.
const topic = "inventory"

// methods are all remotable methods of the program.
type methods struct {
	Device     Devices
	DeviceList DeviceLists
}

// localMethods fills the methods with their bodies.
func localMethods(db Store) methods {
	return methods{Device: localDevices(db), DeviceList: localDeviceLists(db)}
}

// exceptions are the errors of the methods that cross the wire. Service and callers use the same table, so that errors.As gives a caller what it gives the service.
func exceptions() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("example.exception", "UnknownDevice",
		func(e *UnknownDeviceError) map[string]any { return map[string]any{"uuid": e.UUID} },
		func(r *rpc.RemoteError) *UnknownDeviceError {
			e := &UnknownDeviceError{}
			_ = json.Unmarshal(r.Kwargs["uuid"], &e.UUID) // a peer that sends none leaves it empty
			return e
		})}
}

// newRegistry ties the classes together. Service and callers may be at different versions of it.
func newRegistry() (*ovo.Registry, error) {
	return ovo.NewRegistry(ovo.Namespace{Prefix: "example_object", Project: "example"}, deviceClass(), deviceListClass())
}

// newServer makes the service: the bodies behind an rpc server. ready is called when it can be reached.
func newServer(t rpc.Transport, r *ovo.Registry, db Store, ready func()) (*rpc.Server, error) {
	objects, err := ovorpc.NewMethods(ovorpc.DefaultNames())
	if err != nil {
		return nil, err
	}
	local := localMethods(db)
	dispatcher, err := r.Dispatcher(local.Device, local.DeviceList)
	if err != nil {
		return nil, err
	}
	endpoint := rpc.NewEndpoint("", "1.1")
	objects.Serve(endpoint, dispatcher)
	return rpc.NewServer(t, rpc.ServerConfig{
		Target: rpc.Target{Topic: topic, Server: "one"}, Endpoints: []*rpc.Endpoint{endpoint}, Exceptions: exceptions(),
		Ready: func(up bool) {
			if up {
				ready()
			}
		},
	})
}

// remoteMethods fills the methods with calls to the service.
func remoteMethods(client *rpc.Client, r *ovo.Registry) (methods, error) {
	objects, err := ovorpc.NewMethods(ovorpc.DefaultNames())
	if err != nil {
		return methods{}, err
	}
	via := &ovorpc.Client{Methods: objects, Remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: topic}}}
	var m methods
	err = r.Bind(via, &m.Device, &m.DeviceList)
	return m, err
}

// connected runs use with the methods of a service on a transport, and ends the service afterwards.
func connected(ctx context.Context, t rpc.Transport, db Store, use func(methods) error) (err error) {
	r, err := newRegistry()
	if err != nil {
		return err
	}
	up := make(chan struct{})
	server, err := newServer(t, r, db, func() { close(up) })
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(serving) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	select {
	case <-up:
	case err := <-ended:
		ended <- nil
		return err
	}
	client := rpc.NewClient(t, rpc.ClientConfig{Exceptions: exceptions()})
	defer func() { _ = client.Close(ctx) }()
	m, err := remoteMethods(client, r)
	if err != nil {
		return err
	}
	return use(m)
}
