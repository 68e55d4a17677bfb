package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// Endpoint is a set of methods under one namespace and version. Register all methods before the server runs.
type Endpoint struct {
	namespace string
	version   Version
	methods   map[string]handler
}

// handler decodes the arguments and calls the function.
type handler func(ctx context.Context, s Serializer, args json.RawMessage) (any, error)

// NewEndpoint makes an endpoint without methods. namespace is usually ""; version is what the endpoint implements,
// "major.minor", "" for 1.0. It panics on a malformed version.
func NewEndpoint(namespace, version string) *Endpoint {
	e := &Endpoint{namespace: namespace, version: Version{Major: 1}, methods: map[string]handler{}}
	if version != "" {
		v, err := ParseVersion(version)
		if err != nil {
			panic("rpc: endpoint: " + err.Error())
		}
		e.version = v
	}
	return e
}

func (e *Endpoint) add(d *description, h handler) {
	if !d.version.IsZero() && !e.version.Supports(d.version) {
		panic(fmt.Sprintf("rpc: method %s needs version %s, the endpoint is %s", d.name, d.version, e.version))
	}
	if _, taken := e.methods[d.name]; taken {
		panic(fmt.Sprintf("rpc: method %s is registered twice", d.name))
	}
	e.methods[d.name] = h
}

// Serves reports whether a request for a method at a version would be run by e. An [Interceptor] of a server sees what
// callers ask for, whether that exists or not; metrics should not have a series for each thing that does not.
func (e *Endpoint) Serves(namespace, method string, v Version) bool {
	return namespace == e.namespace && e.version.Supports(v) && e.methods[method] != nil
}

// dispatch is what a request asks for, in the form the search needs.
type dispatch struct {
	request   *wire.Request
	method    string
	hasMethod bool
	namespace string
	noSpace   bool // the request has no namespace; an empty one is another thing and matches no endpoint
	version   Version
	text      string // of the version, as Python prints it
	malformed bool   // text does not parse
}

var (
	emptyObject    = json.RawMessage("{}")
	initialVersion = Version{Major: 1}
)

func newDispatch(r *wire.Request) dispatch {
	d := dispatch{request: r, noSpace: true, version: initialVersion, text: "1.0"}
	if len(r.Namespace) > 0 && r.Namespace[0] != 'n' {
		d.namespace, _ = wire.Text(r.Namespace)
		d.noSpace = false
	}
	if d.method, d.hasMethod = wire.Text(r.Method); !d.hasMethod {
		d.method = "None"
	}
	switch {
	case r.Version == nil:
	case r.Version[0] == 'n':
		d.version, d.text = Version{}, "None"
	default:
		d.text, _ = wire.Text(r.Version)
		v, err := ParseVersion(d.text)
		d.version, d.malformed = v, err != nil
	}
	return d
}

// find picks the handler and its arguments as oslo.messaging's dispatcher does, defaults and complaints included.
func (d *dispatch) find(endpoints []*Endpoint) (handler, json.RawMessage, error) {
	compatible := false
	for _, e := range endpoints {
		if d.noSpace != (e.namespace == "") || d.namespace != e.namespace {
			continue
		}
		ok, err := d.supportedBy(e.version)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		if !d.hasMethod {
			return nil, nil, builtin("TypeError", "attribute name must be string, not '%s'", pythonType(d.request.Method))
		}
		if h := e.methods[d.method]; h != nil {
			args, err := d.args()
			return h, args, err
		}
		compatible = true
	}
	if compatible {
		return nil, nil, &RemoteError{Class: ErrNoSuchMethod, Message: "Endpoint does not support RPC method " + d.method}
	}
	return nil, nil, &RemoteError{
		Class:   ErrUnsupportedVersion,
		Message: fmt.Sprintf("Endpoint does not support RPC version %s. Attempted method: %s", d.text, d.method),
	}
}

func (d *dispatch) supportedBy(v Version) (bool, error) {
	if !d.malformed {
		return v.Supports(d.version), nil
	}
	if d.request.Version[0] != '"' {
		return false, builtin("AttributeError", "'%s' object has no attribute 'split'", pythonType(d.request.Version))
	}
	ok, err := wire.Compatible(v.String(), d.text)
	if p, ok := errors.AsType[*wire.PythonError](err); ok {
		return false, builtin(p.Class, "%s", p.Text)
	}
	return ok, err
}

func (d *dispatch) args() (json.RawMessage, error) {
	switch args := d.request.Args; {
	case args == nil:
		return emptyObject, nil
	case args[0] != '{':
		return nil, builtin("AttributeError", "'%s' object has no attribute 'items'", pythonType(args))
	default:
		return args, nil
	}
}

func builtin(class, format string, values ...any) error {
	return &RemoteError{Class: Class{"builtins", class}, Message: fmt.Sprintf(format, values...)}
}

// pythonType names the class that Python's JSON reader makes of a raw value; nil is a missing one.
func pythonType(raw []byte) string {
	if len(raw) == 0 {
		return "NoneType"
	}
	switch raw[0] {
	case 'n':
		return "NoneType"
	case 't', 'f':
		return "bool"
	case '"':
		return "str"
	case '[':
		return "list"
	case '{':
		return "dict"
	}
	if bytes.ContainsAny(raw, ".eEIN") {
		return "float"
	}
	return "int"
}
