package ovo

import (
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"time"
)

// Wire types that a Go type can stand for; the first is the usual one.
var (
	stringTypes  = []string{"String", "UUID", "SensitiveString", "VersionPredicate", "MACAddress", "PCIAddress"}
	integerTypes = []string{"Integer", "NonNegativeInteger"}
	floatTypes   = []string{"Float", "NonNegativeFloat"}
	boolTypes    = []string{"Boolean", "FlexibleBoolean"}
	timeTypes    = []string{"DateTime"}
	addrTypes    = []string{"IPAddress", "IPV4Address", "IPV6Address", "IPV4AndV6Address"}
	prefixTypes  = []string{"IPNetwork", "IPV4Network", "IPV6Network"}
)

// anyType is the name of the wire type of raw values, which only elements of containers can have.
const anyType = "any"

// goSpec derives the wire type of a cell from the Go type of its value and its tag. In a container, wire type and enum values are those of the innermost element. The
// class name of an object is filled in by the registry.
func goSpec(t reflect.Type, tag *tag) (TypeSpec, error) {
	switch {
	case t == reflect.TypeFor[Object]():
		if tag.of == "" {
			return TypeSpec{}, fmt.Errorf("an Object cell needs of=CLASS in its tag")
		}
		return TypeSpec{Name: "Object", Object: tag.of, Subclasses: true}, nil
	case isObjectType(t):
		return TypeSpec{Name: "Object"}, nil
	case t == reflect.TypeFor[any]():
		return TypeSpec{Name: anyType}, nil
	case t.Kind() == reflect.Slice:
		return containerSpec("List", t.Elem(), tag)
	case t.Kind() == reflect.Map && t.Elem() == reflect.TypeFor[struct{}]():
		return containerSpec("Set", t.Key(), tag)
	case t.Kind() == reflect.Map && t.Key() == reflect.TypeFor[string]():
		return containerSpec("Dict", t.Elem(), tag)
	}
	if values, ok := enumValues(t); ok {
		return enumSpec(t, values, tag), nil
	}
	return scalarSpec(t, tag)
}

func containerSpec(name string, elem reflect.Type, tag *tag) (TypeSpec, error) {
	spec := TypeSpec{Name: name}
	if elem == reflect.TypeFor[Object]() {
		return spec, fmt.Errorf("a container of objects names their class: use pointers to its struct, not ovo.Object")
	}
	if elem.Kind() == reflect.Pointer && !isObjectType(elem) && elem != reflect.TypeFor[*big.Int]() {
		elem, spec.ElementNullable = elem.Elem(), true
	}
	e, err := goSpec(elem, tag)
	spec.Element = &e
	return spec, err
}

// enumValues returns the values of an enum type: a named string type with a method Values.
func enumValues(t reflect.Type) (Values, bool) {
	if t.Kind() != reflect.String {
		return Values{}, false
	}
	e, ok := reflect.TypeAssert[interface{ Values() Values }](reflect.Zero(t))
	if !ok {
		return Values{}, false
	}
	return e.Values(), true
}

// enumSpec names an enum as its fingerprint does: Enum unless the tag says otherwise, and the Go type's name for one that does not print its values.
func enumSpec(t reflect.Type, values Values, tag *tag) TypeSpec {
	spec := TypeSpec{Name: "Enum", Values: values}
	switch {
	case tag.wire != "":
		spec.Name = tag.wire
	case tag.plain:
		spec.Name = t.Name()
	}
	return spec
}

func scalarSpec(t reflect.Type, tag *tag) (TypeSpec, error) {
	names := scalarTypes(t)
	if names == nil {
		return TypeSpec{}, fmt.Errorf("no wire type for Go type %s", t)
	}
	spec := TypeSpec{Name: names[0], Naive: tag.naive}
	if tag.wire != "" {
		if !slices.Contains(names, tag.wire) {
			return TypeSpec{}, fmt.Errorf("wire type %s does not go with Go type %s", tag.wire, t)
		}
		spec.Name = tag.wire
	}
	return spec, nil
}

// scalarTypes lists the wire types of a Go type that is neither enum, object nor container; nil if there are none.
func scalarTypes(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[*big.Int]():
		return integerTypes
	case reflect.TypeFor[time.Time]():
		return timeTypes
	case reflect.TypeFor[netip.Addr]():
		return addrTypes
	case reflect.TypeFor[netip.Prefix]():
		return prefixTypes
	}
	switch t.Kind() {
	case reflect.String:
		return stringTypes
	case reflect.Int64:
		return integerTypes
	case reflect.Float64:
		return floatTypes
	case reflect.Bool:
		return boolTypes
	}
	return nil
}
