// Package ovorpc carries remotable object methods over an rpc transport: a client that is an [ovo.Indirection]
// and an endpoint that serves an [ovo.Dispatcher].
//
// # The three operations
//
// They are those of oslo.versionedobjects' VersionedObjectIndirectionAPI, with its argument names on the wire:
// a class method (object_class_action_versions), an instance method (object_action) and the conversion of an
// object that its reader is too old for (object_backport_versions). What they are called on an RPC interface,
// and from which version of it on, is a parameter ([Names]); the topic is that of the [rpc.Remote].
//
//	methods, err := ovorpc.NewMethods(ovorpc.DefaultNames())
//	// server
//	methods.Serve(endpoint, dispatcher)
//	// client
//	via := &ovorpc.Client{Methods: methods, Remote: conductor}
//	objs, err := cyborg.Remote(registry, via)
//
// # Versions and caps
//
// A remote whose cap is below [Names.Version] refuses every operation with *[rpc.VersionCapError] before
// anything is sent; there are no legacy operations to fall back to. [Client.Allowed] asks beforehand.
//
// # Serializers
//
// Objects cross as bytes that ovo made ([json.RawMessage]), so the serializer of the rpc client and server
// must pass those through unchanged; [ovo.Serializer] and [rpc.JSON] do.
package ovorpc
