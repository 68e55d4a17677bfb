// Package wire reads and writes the message bodies of oslo.messaging: the envelope 2.0, requests, replies and failures.
//
// A body is JSON in JSON: an object whose member "oslo.message" is a string holding the message as JSON; a failure is a
// third level, a string inside a reply. The package looks only at the outermost members of each level and keeps their
// values as the raw JSON they arrived in; what they mean is for the caller to decide. It writes what Python writes, byte by
// byte: pure ASCII, a blank after comma and colon, members in Python's order.
//
// Values are checked to be well-formed in the sense of [pyjson], which admits NaN and half surrogate pairs as Python does.
package wire
