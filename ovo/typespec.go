package ovo

// TypeSpec describes a wire type as data.
type TypeSpec struct {
	// Name is the name that fingerprints print: String, UUID, List, ... With Values set, any name is an enum. "any" is
	// only for the elements of containers: values of any kind, null included, that are left as they are.
	Name string
	// Base is, of a type with a name of its own, the name of the type whose rules it follows: a Python subclass that
	// changes nothing on the wire.
	Base string
	// Element is the type of the elements of a List, Dict or Set.
	Element *TypeSpec
	// ElementNullable lets elements be null. ElementDefault, if not nil, replaces null elements otherwise.
	ElementNullable bool
	ElementDefault  any
	// Values are the valid values of an enum.
	Values Values
	// Transitions makes an enum a state machine: for each state the states that may follow it.
	Transitions map[string][]string
	// Object is the class name that an Object accepts, Subclasses whether it accepts derived classes too.
	Object     string
	Subclasses bool
	// Naive makes a DateTime drop the zone of what is assigned; otherwise a time without a zone becomes UTC.
	Naive bool
}

// NewType returns the wire type that spec describes. An unknown name is a *ValueError, a container without element type a
// *TypeError, a bad value list an *EnumError.
func NewType(spec TypeSpec) (Type, error) {
	if spec.Base != "" {
		name := spec.Name
		spec.Name, spec.Base = spec.Base, ""
		t, err := NewType(spec)
		return renamedType{t, name}, err
	}
	switch spec.Name {
	case "List", "Dict", "Set":
		return newContainer(spec)
	case "Object":
		return &objectType{class: spec.Object, subclasses: spec.Subclasses}, nil
	case "DateTime":
		return dateTimeType{naive: spec.Naive}, nil
	}
	if t, ok := simpleType(spec.Name); ok {
		return t, nil
	}
	if spec.Values.list == nil && spec.Name != "Enum" {
		return nil, &ValueError{"unknown wire type " + pyReprString(spec.Name)}
	}
	if err := spec.Values.check(); err != nil {
		return nil, err
	}
	enum := enumType{name: spec.Name, values: spec.Values}
	if spec.Transitions != nil {
		return stateMachineType{enumType: enum, next: spec.Transitions}, nil
	}
	return enum, nil
}

func newContainer(spec TypeSpec) (Type, error) {
	if spec.Element == nil {
		return nil, &TypeError{spec.Name + " needs the type of its elements"}
	}
	t, err := NewType(*spec.Element)
	if err != nil {
		return nil, err
	}
	element := fieldRule{typ: t, nullable: spec.ElementNullable || spec.Element.Name == "any", hasDefault: spec.ElementDefault != nil, def: spec.ElementDefault}
	switch spec.Name {
	case "List":
		return &listType{element}, nil
	case "Dict":
		return &dictType{element}, nil
	}
	return &setType{element}, nil
}

// simpleType returns a type that needs nothing but its name.
func simpleType(name string) (Type, bool) {
	switch name {
	case "any":
		return rawType{}, true
	case "String":
		return stringType{}, true
	case "SensitiveString":
		return sensitiveStringType{}, true
	case "VersionPredicate":
		return versionPredicateType{}, true
	case "UUID":
		return uuidType{}, true
	case "MACAddress":
		return macAddressType{}, true
	case "PCIAddress":
		return pciAddressType{}, true
	case "Integer":
		return integerType{}, true
	case "NonNegativeInteger":
		return nonNegativeIntegerType{}, true
	case "Float":
		return floatType{}, true
	case "NonNegativeFloat":
		return nonNegativeFloatType{}, true
	case "Boolean":
		return booleanType{}, true
	case "FlexibleBoolean":
		return flexibleBooleanType{}, true
	case "IPAddress", "IPV4AndV6Address":
		return ipAddressType{name: name}, true
	case "IPV4Address":
		return ipAddressType{name: name, version: 4}, true
	case "IPV6Address":
		return ipAddressType{name: name, version: 6}, true
	case "IPNetwork":
		return ipNetworkType{name: name}, true
	case "IPV4Network":
		return ipNetworkType{name: name, version: 4}, true
	case "IPV6Network":
		return ipNetworkType{name: name, version: 6}, true
	}
	return nil, false
}

// renamedType is a type under another name.
type renamedType struct {
	Type
	name string
}

func (t renamedType) Name() string { return t.name }
