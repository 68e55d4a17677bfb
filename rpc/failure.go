package rpc

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

const remoteSuffix = "_Remote"

// fromWire makes the client's error from the raw member "failure" of a reply.
func (t Exceptions) fromWire(raw []byte) error {
	var f wire.Failure
	if err := f.Decode(raw); err != nil {
		return &RemoteError{Message: "failure that cannot be read: " + string(raw)}
	}
	e := &RemoteError{
		Class:     originalClass(Class{f.Module, f.Class}),
		Message:   f.Message,
		Traceback: f.Traceback,
		Kwargs:    make(map[string]json.RawMessage, len(f.Kwargs)),
	}
	for _, arg := range f.Args {
		e.Args = append(e.Args, arg)
	}
	for _, m := range f.Kwargs {
		e.Kwargs[m.Key] = m.Value
	}
	t.resolve(e)
	return e
}

// originalClass undoes what peers do to the names of classes: a relayed error carries a suffix, and Python 2 called the
// module of built-ins "exceptions".
func originalClass(c Class) Class {
	c.Name = strings.TrimSuffix(c.Name, remoteSuffix)
	c.Module = strings.TrimSuffix(c.Module, remoteSuffix)
	if c.Module == "exceptions" {
		c.Module = "builtins"
	}
	return c
}

// encodeFailure gives the raw member "failure" for e.
func encodeFailure(e *RemoteError) ([]byte, error) {
	class := originalClass(e.Class)
	f := wire.Failure{Class: class.Name, Module: class.Module, Message: e.Message}
	for _, arg := range e.Args {
		f.Args = append(f.Args, arg)
	}
	if e.Args == nil {
		text, err := json.Marshal(e.Message)
		if err != nil {
			return nil, err
		}
		f.Args = [][]byte{text}
	}
	keys := make([]string, 0, len(e.Kwargs))
	for key := range e.Kwargs {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		f.Kwargs = append(f.Kwargs, wire.Member{Key: key, Value: e.Kwargs[key]})
	}
	return f.Encode()
}
