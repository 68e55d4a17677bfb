// Package cyborg is the catalogue of OpenStack Cyborg's versioned objects: fields, versions, backlevel rules
// and remotable methods.
//
// # Two catalogues
//
// [NewRegistry] holds the current classes (2027.1): those of Cyborg 17.0.0, ARQ 1.2 and ExtARQ 1.3 whose
// attach_handle_info keeps JSON types, and the list objects through which agents read persisted inventory.
// [NewRelease17] holds every object of Cyborg 17.0.0 exactly as released; it stays for ever and is what an old
// peer knows. [Release17Versions] is the table of versions that may travel on RPC 1.0.
//
// # Remotable methods
//
// [Objects] is the set of all remotable methods. [Local] fills it with bodies that work on a store, as the
// conductor does; [Remote] fills it with calls through an [ovo.Indirection], as an agent does. The caller
// cannot tell which:
//
//	objs, err := cyborg.Remote(registry, conductor)
//	devices, err := objs.DeviceList.GetByHostname(ctx, "compute-1")
//	for _, d := range devices.All() { … }
//
// The bodies need small interfaces ([DeviceReader], [AttachInfoUpdater], …) over plain row structs; nothing
// here knows a database.
//
// Names and versions of the list classes and of the methods are provisional until Cyborg releases them; the
// ones on the wire stand in names.go.
package cyborg
