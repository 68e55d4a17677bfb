package ovo

import (
	"errors"
	"fmt"
)

// Deviations from the Python library, by rule. Cases that fall under a rule count as passed when we give the value that the rule states. docs/ovo.md explains them.
//
//	 1  times with a zone made natively in Python     fieldRun.readable, vectorSpace.readBack
//	 2  a gap between member versions                 deviationGap
//	 3  the manifest of an unknown class              deviationUnknownName
//	 4  no legacy calls                               deviationNoLegacy
//	 5  only declared methods can be called           deviationUndeclared
//	 6  a call without a context                      deviationNoContext
//	 7  results at the versions of the manifest       deviationManifest, deviationListResult
//	 8  what only Python objects carry                changesRun.deviation, changesRun.withoutExtra, knownChanges
//	 9  a list object never loses its members         changesRun.deviation
//	10  exceptions for mistakes that Go does not have unknownException, definitionErrorCase

// deviationGap: a target between two entries of a list object's member versions takes the earlier entry, where Python fails with a TypeError of its own making.
func (s *vectorSpace) deviationGap(c any, o Object, got []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	v, _ := s.View(o)
	want, target := "", tupleOf(text(c, "target_version"))
	for _, p := range v.c.children {
		if p.tuple.compare(target) > 0 {
			break
		}
		want = p.child
	}
	parsed, err := newDecoder(s.Registry, got).value()
	if err != nil {
		return err.Error()
	}
	for _, member := range items(at(parsed, v.c.keys.data, objectsField)) {
		if got := text(member, v.c.keys.version); got != want {
			return fmt.Sprintf("member version %s, want %s", got, want)
		}
	}
	return ""
}

// deviationUnknownName: the manifest of an unknown class is an UnsupportedObjectError and leaves the registry as it was; Python raises IndexError then and at every later
// look-up of the name.
func deviationUnknownName(err error) string {
	if _, ok := errors.AsType[*UnsupportedObjectError](err); !ok {
		return fmt.Sprintf("want an UnsupportedObjectError, got %v", err)
	}
	return ""
}

// deviationNoLegacy: a NotImplementedError of the peer comes back as it is. Python tries calls of 2014 then, whose default implementation returns None.
func deviationNoLegacy(err error) string {
	if got := pythonClass(err); got != "NotImplementedError" {
		return fmt.Sprintf("want the peer's NotImplementedError, got %v", err)
	}
	return ""
}

// deviationUndeclared: only declared methods can be called from afar; Python can call every attribute.
func deviationUndeclared(err error) string {
	if _, ok := errors.AsType[*AttributeError](err); !ok {
		return fmt.Sprintf("want an AttributeError, got %v", err)
	}
	return ""
}

// deviationNoContext: a call without a context is refused as orphaned, for class methods too; Python sends None, or fails on its own argument list.
func deviationNoContext(err error) string {
	if _, ok := errors.AsType[*OrphanedObjectError](err); !ok {
		return fmt.Sprintf("want an OrphanedObjectError, got %v", err)
	}
	return ""
}

// deviationManifest: objects in the result of a class method are always written at the versions of the caller's manifest, so the caller asks for no backport. Nova converts
// only when the version of the called class differs.
func deviationManifest(via *recorder) string {
	if len(via.calls) != 1 {
		return fmt.Sprintf("%d calls, want one: the answer should be readable", len(via.calls))
	}
	return ""
}

// deviationListResult: the same for objects in a plain list.
func (s *vectorSpace) deviationListResult(got []byte, m Manifest) string {
	parsed, err := newDecoder(s.Registry, got).value()
	if err != nil {
		return err.Error()
	}
	for _, member := range items(parsed) {
		if name := text(member, s.keys.name); text(member, s.keys.version) != m[name] {
			return fmt.Sprintf("%s %s in the list, want %s", name, text(member, s.keys.version), m[name])
		}
	}
	return ""
}
