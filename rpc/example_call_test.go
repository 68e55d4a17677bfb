package rpc_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

type greetArgs struct {
	Name string `json:"name"`
}

// UnknownPersonError is an error of the program.
type UnknownPersonError struct{ Name string }

func (e *UnknownPersonError) Error() string { return e.Name + " is unknown" }

// The interface of the greeter. 1.0: greet.
var Greet = rpc.NewMethod[greetArgs, string]("greet", "1.0").Idempotent()

// Exceptions is shared by clients and servers.
func exceptions() rpc.Exceptions {
	return rpc.Exceptions{rpc.MapException("greeter.exception", "UnknownPerson",
		func(e *UnknownPersonError) map[string]any { return map[string]any{"name": e.Name} },
		func(r *rpc.RemoteError) *UnknownPersonError {
			e := &UnknownPersonError{}
			r.Kwarg("name", &e.Name)
			return e
		})}
}

// A server and a client in one process. With rpc/amqp in place of rpc/memory they are two, and either may be in Python.
func Example() {
	bus := memory.New()

	endpoint := rpc.NewEndpoint("", "1.0")
	Greet.Handle(endpoint, func(_ context.Context, a greetArgs) (string, error) {
		if a.Name == "nobody" {
			return "", &UnknownPersonError{a.Name}
		}
		return "hello, " + a.Name, nil
	})
	ready := make(chan bool, 2)
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target:     rpc.Target{Topic: "greetings", Server: "host-1"},
		Endpoints:  []*rpc.Endpoint{endpoint},
		Exceptions: exceptions(),
		Ready:      func(up bool) { ready <- up },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	<-ready

	client := rpc.NewClient(bus, rpc.ClientConfig{Exceptions: exceptions()})
	greeter := rpc.Remote{Client: client, Target: rpc.Target{Topic: "greetings"}}
	fmt.Println(Greet.Call(ctx, greeter, greetArgs{"you"}))

	_, err = Greet.Call(ctx, greeter.On("host-1"), greetArgs{"nobody"})
	var unknown *UnknownPersonError
	fmt.Println(errors.As(err, &unknown), unknown)

	_, err = Greet.Call(ctx, greeter.On("host-2"), greetArgs{"you"})
	fmt.Println(errors.Is(err, rpc.ErrUndeliverable))

	fmt.Println(client.Close(ctx))
	stop()
	fmt.Println(<-ended)
	// Output:
	// hello, you <nil>
	// true nobody is unknown
	// true
	// <nil>
	// <nil>
}

func ExampleNewMethod() {
	type args struct {
		Host  string `json:"host"`
		Force bool   `json:"force,omitempty"` // has a default in Python
	}
	reboot := rpc.NewMethod[args, rpc.Null]("reboot", "1.2")
	fmt.Println(reboot.Name(), reboot.Version())
	// Output: reboot 1.2
}

func ExampleMethod_Allowed() {
	method := rpc.NewMethod[struct{}, rpc.Null]("reboot", "1.2")
	old := rpc.Remote{Target: rpc.Target{Topic: "t"}, Cap: rpc.Version{Major: 1, Minor: 1}}
	fmt.Println(method.Allowed(old))
	fmt.Println(old.CanSendVersion(rpc.Version{Major: 1}))
	// Output:
	// method reboot needs version 1.2, which the version cap 1.1 does not admit: it must have the same major and no higher minor
	// true
}

func ExampleParseVersion() {
	v, err := rpc.ParseVersion("1.10")
	fmt.Println(v, err, v.Supports(rpc.Version{Major: 1, Minor: 9}))
	_, err = rpc.ParseVersion("auto")
	fmt.Println(err)
	// Output:
	// 1.10 <nil> true
	// rpc version "auto": want major.minor
}

func ExampleMapException() {
	row := rpc.MapException("greeter.exception", "UnknownPerson",
		func(e *UnknownPersonError) map[string]any { return map[string]any{"name": e.Name, "code": 404} },
		func(r *rpc.RemoteError) *UnknownPersonError {
			e := &UnknownPersonError{}
			r.Kwarg("name", &e.Name)
			return e
		})
	table := rpc.Exceptions{row} // goes into ClientConfig and ServerConfig
	fmt.Println(len(table))
	// Output: 1
}

func ExampleWithRequest() {
	ctx := rpc.WithRequest(context.Background(), &rpc.RequestContext{User: "u1", ProjectID: "p1", RequestID: "req-1", Roles: []string{"member"}})
	rc := rpc.RequestOf(ctx)
	fmt.Println(rc.RequestID, rc.User, rc.Roles)
	// Output: req-1 u1 [member]
}

func ExampleAdminContext() {
	rc := rpc.AdminContext()
	fmt.Println(rc.IsAdmin, rc.User == "", len(rc.RequestID))
	// Output: true true 40
}

func ExampleNewEndpoint() {
	control := rpc.NewEndpoint("control", "2.1") // a namespace with a version of its own
	rpc.NewMethod[struct{}, string]("status", "2.0").Handle(control, func(context.Context, struct{}) (string, error) { return "fine", nil })
	_, err := rpc.NewServer(memory.New(), rpc.ServerConfig{Target: rpc.Target{Topic: "t"}, Endpoints: []*rpc.Endpoint{control}})
	fmt.Println(err)
	// Output: rpc server: the target needs a topic and a server name
}

func ExampleNewClient() {
	client := rpc.NewClient(memory.New(), rpc.ClientConfig{}) // starts nothing
	conductor := rpc.Remote{Client: client, Target: rpc.Target{Topic: "cyborg-conductor"}}
	agent := rpc.Remote{Client: client, Target: rpc.Target{Topic: "cyborg-agent"}} // same client, same reply queue
	fmt.Println(conductor.Target.Topic, agent.On("compute-1").Target)
	// Output: cyborg-conductor { cyborg-agent compute-1 }
}

func ExampleNewServer() {
	bus := memory.New() // amqp.Open in production
	hello := rpc.NewMethod[struct{}, string]("hello", "1.0")
	greeter := rpc.NewEndpoint("", "1.0")
	hello.Handle(greeter, func(context.Context, struct{}) (string, error) { return "hello", nil })
	up := make(chan bool, 2)
	server, err := rpc.NewServer(bus, rpc.ServerConfig{
		Target: rpc.Target{Topic: "greeter", Server: "host-a"}, Endpoints: []*rpc.Endpoint{greeter}, Ready: func(u bool) { up <- u },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	fmt.Println("consuming:", <-up)
	stop() // finishes what it began
	fmt.Println(<-ended)
	// Output:
	// consuming: true
	// <nil>
}
