// Package ovo is OpenStack's versioned objects for Go: objects that services of different releases exchange over RPC, each at the version
// that the other side can read. It speaks the wire of oslo.versionedobjects 3.12, so that a Python peer cannot tell the difference.
//
// # Declaring objects
//
// An object is a struct of cells. A cell, [Field] or [Null], holds a value and knows whether it is unset, null or changed; its tag gives the wire
// name, its Go type the wire type and whether the field can be null:
//
//	type Volume struct {
//		ovo.Base
//		UUID     ovo.Field[string]      `ovo:"uuid,UUID"`
//		Hostname ovo.Null[string]       `ovo:"hostname"`
//		Status   ovo.Field[Status]      `ovo:"status,default=enabled"`
//		Parts    ovo.Field[[]*Part]     `ovo:"parts,default=[]"`
//	}
//
// A class is a name, such a struct and its [History], the change log as data. The class's version and everything that must happen when an object is
// written for an older peer follow from it:
//
//	var class = ovo.NewClass[Volume]("Volume", ovo.History{
//		ovo.V("1.0"),
//		ovo.V("1.1", ovo.Adds("status")),            // left out for a 1.0 peer
//		ovo.V("1.2", ovo.AddsValue("status", Lost)), // refused for a 1.1 peer
//	})
//
// The tag is `name[,WireType][,plain][,naive][,of=CLASS][,default=TEXT]`. WireType is the name that fingerprints print, when it is not the Go type's
// usual one; plain keeps an enum's values out of the fingerprint; naive makes a datetime drop its zone; of names the class that an [Object] cell
// takes, derived classes included; the default is Python's str() of it and comes last.
//
//	Go type                        wire type (the usual one first)
//	string                         String, UUID, SensitiveString, VersionPredicate, MACAddress, PCIAddress
//	named string with Values()     Enum
//	int64, *big.Int                Integer, NonNegativeInteger
//	float64                        Float, NonNegativeFloat
//	bool                           Boolean, FlexibleBoolean
//	time.Time                      DateTime
//	netip.Addr                     IPAddress, IPV4Address, IPV6Address, IPV4AndV6Address
//	netip.Prefix                   IPNetwork, IPV4Network, IPV6Network
//	*X, an object                  Object
//	[]T, map[string]T              List, Dict; *T makes elements nullable
//	map[T]struct{}                 Set
//	any, as an element             raw values, kept as they are
//
// Embedded structs are base classes: their cells come last on the wire. Embedding [List] makes a list object.
//
// # Using objects
//
// A [Registry] ties classes together and reads and writes their objects; [Registry.Append], [Registry.AppendAt] and [Decode] are all that most
// programs need of it. Cells are used directly: d.Hostname.Set("h"), d.Hostname.Get(). An assignment marks the field changed, also when the value is the same; an edit
// inside a slice or map is not noticed. Unset, null and the zero value are three things: Get tells them apart and Value does not.
//
// # Remotable methods
//
// The methods of a class that peers may call are a struct of functions, each with its Python signature as tag. [Registry.Bind] fills it with calls through
// an [Indirection], a service fills it with bodies, and the caller cannot tell which. [Dispatcher] is the serving side, [Serializer] the codec of arguments
// and results, and what rpc needs.
//
// # Old peers
//
// An object remembers the version that it was received with, and is written back at that version. [Registry.AppendAt] converts to an older version, with a
// [Manifest] also the objects inside. An object that is too new when it arrives is sent, once, to the peer that can convert it. [Class.Fingerprint] condenses the contract of a
// class; package ovotest checks it, and that every version can be reached, in the author's own tests.
//
// # Errors and limits
//
// Errors with a Python counterpart have a method PythonClass. A [FieldError] says where in an object the cause was, as
// "Volume.parts[3].name". What Python lets pass silently and Go does not: a key that occurs twice ([DuplicateKeyError]), nesting beyond 200 levels ([ErrDepth]), text
// that no Go string can hold ([TextError]). A class has at most 64 fields.
//
// # Classes as data
//
// A [Definition] describes a class at run time; its objects are [*Record] values, reached through [Registry.View]. It is the same engine.
//
// # Concurrency
//
// Classes, registries, dispatchers and serializers are immutable and safe for concurrent use. An object is a plain value: any number of readers, or one
// writer. The package keeps no state and logs nothing.
//
// # What it does not do
//
// It stores no context in objects (methods take one), has no registry of its own, and makes no calls except through an Indirection.
package ovo
