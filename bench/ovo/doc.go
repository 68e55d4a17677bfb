// Command ovo measures decoding and encoding of a large inventory report: 512 DriverDevices of Cyborg 17.0.0 with one control path, one deployable, three
// attributes and one attach handle each, 1.1 MB of JSON.
//
// Competitors take turns in one run; what counts is the median of the rounds:
//
//   - ours: [ovo.DecodeList] into structs of cells and [ovo.AppendList] into a buffer that is used again
//   - encoding/json on plain structs that hold the data alone: no class names, versions or changes, a third of the bytes
//   - the Python library: json.loads and obj_from_primitive, obj_to_primitive and json.dumps
//
// Usage:
//
//	ovo [-peer CHROOT] [-rounds 7] [-seconds 1]
//
// -peer names a folder with oslo.versionedobjects (see .ci/peer-chroot); without it the Python column stays empty. The Python classes are
// checked by fingerprint against the Go ones before anything is measured. Output is a section of docs/benchmarks.md.
package main
