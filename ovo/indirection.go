package ovo

import (
	"context"
	"encoding/json"
)

// Manifest says which version of each class a peer can read: class name to version.
type Manifest map[string]string

// Namespace is what a project puts into its primitives: the prefix of the envelope's keys ("cyborg_object" in
// "cyborg_object.name") and the value of the namespace key.
type Namespace struct {
	Prefix  string // serial namespace
	Project string // project namespace
}

// DefaultNamespace is the namespace of a Python project that sets none.
func DefaultNamespace() Namespace {
	return Namespace{Prefix: "versioned_object", Project: "versionedobjects"}
}

// Indirection carries remotable calls to the service that runs them. Arguments and results are JSON that this package encodes and decodes; the
// implementer owns only the wire. Methods return the peer's error as it is. An error that says "not supported" leads nowhere else: there are no
// legacy calls to fall back to.
type Indirection interface {
	// ObjectClassActionVersions calls a class method and returns its result, an object in it at the versions of the manifest.
	ObjectClassActionVersions(ctx context.Context, object, method string, versions Manifest, args, kwargs json.RawMessage) (json.RawMessage, error)
	// ObjectAction calls an instance method and returns [updates, result].
	ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error)
	// ObjectBackportVersions returns object, which was too new for the caller, at the versions of the manifest.
	ObjectBackportVersions(ctx context.Context, object json.RawMessage, versions Manifest) (json.RawMessage, error)
}
