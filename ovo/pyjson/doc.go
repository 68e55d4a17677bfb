// Package pyjson reads and writes JSON the way Python's json module does, which is not quite the JSON of RFC 8259.
//
// OpenStack services write whatever Python's json.dumps writes: the bare words NaN, Infinity and -Infinity, integers of any size,
// strings holding half a surrogate pair, and objects in which a key occurs twice. encoding/json refuses the first, rounds the
// second when decoding into any, replaces the third without a word and hides the fourth. Package pyjson keeps all of them apart, so that the
// caller can decide.
//
// # Reading
//
// A [Reader] walks over a document in memory; it builds no tree and allocates only for strings that are asked for:
//
//	r := pyjson.NewReader(data)
//	more, err := r.BeginObject()
//	for ; more && err == nil; more, err = r.NextMember() {
//		key, kerr := r.ReadKey()
//		…
//		raw, rerr := r.ReadRaw() // or ReadString, ReadNumber, BeginArray, …
//	}
//	if err == nil {
//		err = r.End()
//	}
//
// Every Begin, Next and Read method skips leading white space. Duplicate keys are reported by nobody but the caller, who sees each key; [DuplicateKeyError] is
// the error to report them with. Nesting beyond [MaxDepth] levels is [ErrDepth]. Other malformed text is a [*SyntaxError]; text that is
// well-formed but cannot be a Go string (half a surrogate pair, bytes that are not UTF-8) is a [*TextError] when the string is read, and passes when it is
// skipped or read raw.
//
// # Writing
//
// The Append functions add to a byte slice and write exactly what json.dumps with its defaults writes: [AppendString] escapes everything outside printable
// ASCII, [AppendFloat] writes Python's repr. [ItemSeparator] and [KeySeparator] are the separators it puts between items and after keys.
//
// # Concurrency
//
// A Reader belongs to one goroutine. The package keeps no state.
package pyjson
