package rpc

// Endpoint is a set of methods under one namespace and version. Register all methods before the server runs.
type Endpoint struct {
	namespace string
	version   Version
}

// NewEndpoint makes an endpoint without methods. namespace is usually ""; version is what the endpoint implements,
// "major.minor", "" for 1.0. It panics on a malformed version.
func NewEndpoint(namespace, version string) *Endpoint { panic("not yet") }
