package ovo

import "github.com/go-cyborg/cyborg/ovo/pyjson"

// Errors of the JSON text itself. They are those of [pyjson], named here because [Registry.Decode] and the serializer return them.
type (
	// SyntaxError says where a text stops being JSON.
	SyntaxError = pyjson.SyntaxError
	// DuplicateKeyError refuses a key that occurs twice in an envelope, in the data of an object or in a dict; Python keeps the last value silently.
	DuplicateKeyError = pyjson.DuplicateKeyError
	// TextError refuses text that no Go string can hold: half a surrogate pair, or bytes that are not UTF-8.
	TextError = pyjson.TextError
)

// ErrDepth refuses nesting beyond 200 levels.
var ErrDepth = pyjson.ErrDepth
