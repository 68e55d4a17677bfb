package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Exceptions says which Go error is which Python exception, in both directions; the first row that matches wins.
//
// A server sends an error that has a row as that class, with the text of the error the row matched. What is mapped is
// expected and logged at Debug. An error without a row goes out under its own class if it is a [*RemoteError], and
// otherwise as a RuntimeError that tells only the request id: texts of databases and Go types do not belong on the bus.
//
// A client makes the program's error from a class that has a row; every other class stays a [*RemoteError].
type Exceptions []Exception

// Exception is one row of [Exceptions]; [MapException] makes it.
type Exception struct {
	class  Class
	toWire func(error) (*RemoteError, error)
	toGo   func(*RemoteError) error
}

// MapException makes the row for the error type E and one Python class. toWire gives the keyword arguments that the class
// is constructed with, nil for none; they must be encodable by encoding/json. toGo makes the error back; what it returns is
// what the RemoteError unwraps to. Either may be nil if the class travels in one direction only.
func MapException[E error](module, class string, toWire func(E) map[string]any, toGo func(*RemoteError) E) Exception {
	x := Exception{class: Class{module, class}}
	if toWire != nil {
		x.toWire = func(err error) (*RemoteError, error) {
			var e E
			if !errors.As(err, &e) {
				return nil, nil
			}
			r := &RemoteError{Class: x.class, Message: e.Error(), Kwargs: map[string]json.RawMessage{}}
			for k, v := range toWire(e) {
				raw, err := json.Marshal(v)
				if err != nil {
					return nil, fmt.Errorf("keyword %s of %s: %w", k, x.class.Error(), err)
				}
				r.Kwargs[k] = raw
			}
			return r, nil
		}
	}
	if toGo != nil {
		x.toGo = func(r *RemoteError) error { return toGo(r) }
	}
	return x
}

// Classes are the classes of the table, in its order; one may occur several times.
func (t Exceptions) Classes() []Class {
	classes := make([]Class, len(t))
	for i, x := range t {
		classes[i] = x.class
	}
	return classes
}

// ClassOf is the class as which a server sends err, and which err had if it came from one.
func (t Exceptions) ClassOf(err error) Class {
	if r, _, _ := t.wire(err); r != nil {
		return r.Class
	}
	if _, unfit := errors.AsType[*argumentError](err); unfit {
		return Class{"builtins", "ValueError"}
	}
	return Class{"builtins", "RuntimeError"}
}

// wire gives the failure to send for err, and whether it is an expected one.
func (t Exceptions) wire(err error) (failure *RemoteError, expected bool, _ error) {
	for _, x := range t {
		if x.toWire == nil {
			continue
		}
		r, encodeErr := x.toWire(err)
		if encodeErr != nil {
			return nil, false, encodeErr
		}
		if r != nil {
			return r, true, nil
		}
	}
	if r, ok := errors.AsType[*RemoteError](err); ok {
		return r, true, nil
	}
	return nil, false, nil
}

// resolve sets what r unwraps to.
func (t Exceptions) resolve(r *RemoteError) {
	for _, x := range t {
		if x.class == r.Class && x.toGo != nil {
			r.mapped = x.toGo(r)
			return
		}
	}
}
