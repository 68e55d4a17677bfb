package ovo

import (
	"context"
	"encoding/json"
	"fmt"
)

// recorder is an Indirection that notes the calls it gets and answers as a case says, or through a dispatcher.
type recorder struct {
	s        *vectorSpace
	calls    []*Dict
	answer   any   // nil with a dispatcher
	err      error // instead of an answer
	conduct  *Dispatcher
	answered []json.RawMessage
}

func (r *recorder) note(method string, pairs ...any) {
	args := &Dict{}
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1]
		switch x := v.(type) {
		case json.RawMessage:
			v, _ = newDecoder(r.s.Registry, x).value()
		case Manifest:
			d := &Dict{}
			for k, version := range x {
				_ = d.Set(k, version)
			}
			v = d
		}
		_ = args.Set(pairs[i], v)
	}
	call, _ := dictOf("method", method, "args", args)
	r.calls = append(r.calls, call)
}

func (r *recorder) reply(run func(d *Dispatcher) (json.RawMessage, error)) (json.RawMessage, error) {
	if r.conduct != nil {
		raw, err := run(r.conduct)
		r.answered = append(r.answered, raw)
		return raw, err
	}
	if r.err != nil {
		return nil, r.err
	}
	e := encoder{reg: r.s.Registry}
	err := e.value(plainDicts(r.s, r.answer))
	return e.b, err
}

func (r *recorder) ObjectClassActionVersions(ctx context.Context, object, method string, versions Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	r.note("object_class_action_versions", "objname", object, "objmethod", method, "object_versions", versions, "args", args, "kwargs", kwargs)
	return r.reply(func(d *Dispatcher) (json.RawMessage, error) {
		return d.ClassAction(ctx, object, method, versions, args, kwargs)
	})
}

func (r *recorder) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	r.note("object_action", "objinst", object, "objmethod", method, "args", args, "kwargs", kwargs)
	return r.reply(func(d *Dispatcher) (json.RawMessage, error) { return d.Action(ctx, object, method, args, kwargs) })
}

func (r *recorder) ObjectBackportVersions(_ context.Context, object json.RawMessage, versions Manifest) (json.RawMessage, error) {
	r.note("object_backport_versions", "objinst", object, "object_versions", versions)
	return r.reply(func(d *Dispatcher) (json.RawMessage, error) { return d.Backport(object, versions) })
}

// differentCalls compares the calls that were made with recorded ones. The context is our first Go argument, not one of the call's.
func (r *recorder) differentCalls(want []any, argsKey string) string {
	if len(r.calls) != len(want) {
		return fmt.Sprintf("%d calls, want %d: %s", len(r.calls), len(want), pyRepr(anyOf(r.calls)))
	}
	for i, w := range want {
		if got := text(r.calls[i], "method"); got != text(w, "method") {
			return fmt.Sprintf("call %d is %s, want %s", i, got, text(w, "method"))
		}
		recorded := plainContexts(at(w, argsKey)).(*Dict)
		recorded.Delete("context")
		for _, args := range []*Dict{recorded, at2dict(at(r.calls[i], "args"))} {
			if m, ok := args.Get("object_versions"); ok {
				_ = args.Set("object_versions", fmt.Sprint(manifestOf(m)))
			}
		}
		e := encoder{reg: r.s.Registry}
		if err := e.value(at(r.calls[i], "args")); err != nil {
			return err.Error()
		}
		if problem := r.s.differentJSON(fmt.Sprintf("call %d", i), e.b, recorded); problem != "" {
			return problem
		}
	}
	return ""
}

func anyOf(calls []*Dict) []any {
	list := make([]any, len(calls))
	for i, c := range calls {
		list[i] = c
	}
	return list
}

// pythonError is an error of a recorded class.
type pythonError struct{ class, message string }

func (e *pythonError) Error() string       { return e.message }
func (e *pythonError) PythonClass() string { return e.class }

// serializerCase runs a case of serializer.json.
func (s *vectorSpace) serializerCase(c any) string {
	if text(c, "op") == "serialize_entity" {
		v, err := s.value(at(c, "in"))
		if err != nil {
			return err.Error()
		}
		got, err := Serializer{Registry: s.Registry}.Append(nil, v)
		if want := at(c, "error"); want != nil {
			return wrongError(err, want)
		}
		if err != nil {
			return err.Error()
		}
		return s.differentJSON("out", got, at(c, "out"))
	}
	via := &recorder{s: s}
	serial := Serializer{Registry: s.Registry}
	if ind := at(c, "indirection"); ind != nil {
		serial.Indirection = via
		answer, err := s.value(at(ind, "returns"))
		if err != nil {
			return err.Error()
		}
		via.answer = answer
		if text(ind, "backport") != "versions" {
			via.err = &NotImplementedError{"no"}
		}
	}
	in, err := s.value(at(c, "in"))
	if err != nil {
		return err.Error()
	}
	e := encoder{reg: s.Registry}
	if err := e.value(in); err != nil {
		return err.Error()
	}
	got, err := serial.Decode(context.Background(), e.b)
	return s.compareRead(c, via, got, err)
}

func (s *vectorSpace) compareRead(c any, via *recorder, got any, err error) string {
	calls := items(at(c, "calls"))
	if len(calls) == 2 && text(calls[1], "method") == "object_backport" {
		if problem := via.differentCalls(calls[:1], "args"); problem != "" {
			return problem
		}
		return deviationNoLegacy(err)
	}
	if problem := via.differentCalls(calls, "args"); problem != "" {
		return problem
	}
	if want := at(c, "error"); want != nil {
		return wrongError(err, want)
	}
	if err != nil {
		return err.Error()
	}
	want, err := s.value(at(c, "out"))
	if err != nil {
		return err.Error()
	}
	if same(asJSON(got), asJSON(want), s.describe) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", s.show(got), s.show(want))
}

// asJSON gives a value the form in which JSON can carry it: tuples are lists and keys are text.
func asJSON(v any) any {
	switch v := v.(type) {
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return asJSON(e), nil })
		return list
	case Tuple:
		return asJSON([]any(v))
	case *Set:
		return asJSON(v.items)
	case *Dict:
		d := &Dict{}
		for k, e := range v.All() {
			key, _ := jsonKey(k)
			_ = d.Set(key, asJSON(e))
		}
		return d
	}
	return v
}
