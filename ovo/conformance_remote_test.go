package ovo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// remoteCall is a call as the cases of remotable.json and conductor_loop.json describe it.
type remoteCall struct {
	s            *vectorSpace
	c            any
	self         Object
	context      bool
	args, kwargs json.RawMessage
}

// newCall reads a call. The context is the object's, or the first argument, or a keyword; in conductor_loop.json it goes without saying.
func (s *vectorSpace) newCall(c any, implied bool) (*remoteCall, error) {
	call := &remoteCall{s: s, c: c, context: implied}
	args, err := s.value(plainContexts(at(c, "args")))
	if err != nil {
		return nil, err
	}
	list := items(args)
	kwargs := at2dict(plainContexts(at(c, "kwargs")))
	if object := at(c, "object"); object != nil {
		self, err := s.value(object)
		if err != nil {
			return nil, err
		}
		call.self = self.(Object)
		call.context = implied || s.contexts[call.self] != ""
	} else if !implied {
		if len(list) > 0 {
			call.context, list = list[0] != nil, list[1:]
		} else if _, ok := kwargs.Get("context"); ok {
			call.context = true
			kwargs.Delete("context")
		}
	}
	named, err := s.value(kwargs)
	if err != nil {
		return nil, err
	}
	a, k := encoder{reg: s.Registry}, encoder{reg: s.Registry}
	err = errors.Join(a.value(list), k.value(named))
	call.args, call.kwargs = a.b, k.b
	return call, err
}

func (call *remoteCall) ctx() context.Context {
	if !call.context {
		return nil
	}
	return context.Background()
}

// plainContexts puts the names of contexts in their place.
func plainContexts(v any) any {
	switch v := v.(type) {
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return plainContexts(e), nil })
		return list
	case *Dict:
		if ctx, ok := v.Get("$ctx"); ok {
			return ctx
		}
		d := &Dict{}
		for k, e := range v.All() {
			_ = d.Set(k, plainContexts(e))
		}
		return d
	}
	return v
}

// method finds the method on the caller's side.
func (call *remoteCall) method() (*Class, *method) {
	name := text(call.c, "class")
	if call.self != nil {
		name = call.s.classNames(call.self)[0]
	}
	c := call.s.Highest(name)
	if c.remote == nil {
		return c, nil
	}
	return c, c.remote.byName[text(call.c, "method")]
}

// send makes the call through an indirection: exactly what a bound function does after it has encoded its arguments.
func (call *remoteCall) send(via Indirection) (any, error) {
	c, m := call.method()
	if m == nil {
		_, err := (&Dispatcher{reg: call.s.Registry}).method(c, text(call.c, "method"), call.self != nil)
		return nil, err
	}
	manifest, err := call.s.Manifest(c.name)
	if err != nil {
		return nil, err
	}
	out := []reflect.Value{reflect.New(m.result.goType).Elem()}
	bound := &boundMethod{method: m, reg: call.s.Registry, via: via, manifest: manifest}
	err = bound.exchange(call.ctx(), call.self, call.args, call.kwargs, out)
	return out[0].Interface(), err
}

// local runs the method's body here.
func (call *remoteCall) local(d *Dispatcher) (any, error) {
	_, m := call.method()
	out, err := d.call(call.ctx(), m, call.self, call.args, call.kwargs)
	if err != nil || !out.IsValid() {
		return nil, err
	}
	return out.Interface(), nil
}

// remotableCase runs a case of remotable.json.
func (s *vectorSpace) remotableCase(c any, d *Dispatcher) string {
	call, err := s.newCall(c, false)
	if err != nil {
		return err.Error()
	}
	via := &recorder{s: s}
	var got any
	api := at(c, "api")
	_, m := call.method()
	switch {
	case m == nil && has(c, "result"):
		_, err = call.send(via)
		return deviationUndeclared(err)
	case api == nil:
		got, err = call.local(d)
	default:
		if via.answer, err = s.value(at(api, "returns")); err != nil {
			return err.Error()
		}
		if flag(api, "versions_not_implemented") {
			via.err = &NotImplementedError{"no"}
		}
		got, err = call.send(via)
	}
	if problem, deviates := remotableDeviation(call, err); deviates {
		return problem
	}
	if problem := via.differentCalls(items(at(c, "calls")), "args"); problem != "" {
		return problem
	}
	return s.compareOutcome(call, got, err)
}

func remotableDeviation(call *remoteCall, err error) (string, bool) {
	switch {
	case flag(call.c, "api", "versions_not_implemented"):
		return deviationNoLegacy(err), true
	case call.self == nil && !call.context:
		return deviationNoContext(err), true
	}
	return "", false
}

// compareOutcome compares result or error, and the object afterwards.
func (s *vectorSpace) compareOutcome(call *remoteCall, got any, err error) string {
	if want := at(call.c, "error"); want != nil {
		if problem := wrongError(err, want); problem != "" {
			return problem
		}
	} else {
		if err != nil {
			return err.Error()
		}
		want, err := s.value(at(call.c, "result"))
		if err != nil {
			return err.Error()
		}
		if !same(asJSON(got), asJSON(want), s.describe) {
			return fmt.Sprintf("result: got %s, want %s", s.show(got), s.show(want))
		}
	}
	if call.self == nil {
		return ""
	}
	return s.difference("final", call.self, knownChanges(call.self, at(call.c, "final")))
}

// knownChanges takes marks of names that are no fields out of a recorded state: only a Python object can keep them.
func knownChanges(o Object, want any) any {
	content, ok := at(want, "$obj").(*Dict)
	if !ok {
		return want
	}
	c := o.base().class
	content = copyValue(content).(*Dict)
	changed := slices.DeleteFunc(slices.Clone(items(at(content, "changed"))), func(n any) bool {
		_, known := c.byName[n.(string)]
		return !known
	})
	_ = content.Set("changed", changed)
	d, _ := dictOf("$obj", content)
	return d
}

// loopCase runs a case of conductor_loop.json: the client's registry against a dispatcher with the server's.
func (s *vectorSpace) loopCase(c any, server *vectorSpace, d *Dispatcher) string {
	if text(c, "kind") == "direct" {
		return server.directCase(c, d)
	}
	call, err := s.newCall(c, true)
	if err != nil {
		return err.Error()
	}
	via := &recorder{s: s, conduct: d}
	got, err := call.send(via)
	wire := items(at(c, "wire"))
	if len(wire) > 0 && flag(wire[0], "expected_exception") && at(c, "error") == nil {
		return deviationNoLegacy(err)
	}
	if problem := s.compareOutcome(call, got, err); problem != "" {
		return problem
	}
	if text(c, "kind") == "class" && len(wire) > 1 {
		return deviationManifest(via)
	}
	if problem := via.differentCalls(wire, "request_args"); problem != "" {
		return problem
	}
	for i, w := range wire {
		if has(w, "response") && len(via.answered[i]) > 0 {
			if problem := s.differentJSON(fmt.Sprintf("response %d", i), via.answered[i], at(w, "response")); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// directCase calls the conductor's side alone.
func (s *vectorSpace) directCase(c any, d *Dispatcher) string {
	args := at(c, "args")
	a, k, o := encoder{reg: s.Registry}, encoder{reg: s.Registry}, encoder{reg: s.Registry}
	err := errors.Join(a.value(at(args, "args")), k.value(at(args, "kwargs")))
	orphan := false
	if v := at(args, "objinst"); v != nil {
		object, objErr := s.value(v)
		err = errors.Join(err, objErr, o.value(object))
		if objErr == nil {
			orphan = s.contexts[object.(Object)] == ""
		}
	}
	if err != nil {
		return err.Error()
	}
	ctx := context.Background()
	if orphan {
		ctx = nil
	}
	var got json.RawMessage
	m := manifestOf(at(args, "object_versions"))
	switch text(c, "method") {
	case "object_class_action_versions":
		got, err = d.ClassAction(ctx, text(args, "objname"), text(args, "objmethod"), m, a.b, k.b)
	case "object_action":
		got, err = d.Action(ctx, o.b, text(args, "objmethod"), a.b, k.b)
	default:
		got, err = d.Backport(o.b, m)
	}
	if want := at(c, "error"); want != nil {
		return wrongError(err, want)
	}
	if strings.HasPrefix(text(args, "objmethod"), "plain") {
		return deviationUndeclared(err)
	}
	if err != nil {
		return err.Error()
	}
	if list, ok := at(c, "result").([]any); ok && len(list) > 0 {
		return s.deviationListResult(got, m)
	}
	return s.differentJSON("result", got, at(c, "result"))
}
