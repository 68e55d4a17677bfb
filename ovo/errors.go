package ovo

import (
	"errors"
	"fmt"
)

// Errors of this package that have a Python counterpart carry a method PythonClass, so that an RPC layer can map them
// to the class name on the wire without importing this package. Their texts are those of oslo.versionedobjects 3.12,
// because they reach Python peers and the logs of operators who know them; [FieldError] adds the place.

// FieldError says where in an object a value was refused.
type FieldError struct {
	// Path is the way to the value from the outermost object, for example "Volume.parts[3].name".
	Path string
	// Err is what was wrong with the value.
	Err error
}

// Error returns the path and the text of the inner error.
func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// PythonClass returns the class of the inner error, "Exception" if that has none.
func (e *FieldError) PythonClass() string { return pythonClass(e.Err) }

func pythonClass(err error) string {
	if c, ok := errors.AsType[interface {
		error
		PythonClass() string
	}](err); ok {
		return c.PythonClass()
	}
	return "Exception"
}

// ValueError is Python's ValueError: a value of a usable kind that its field refuses.
type ValueError struct{ Message string }

// Error returns the message.
func (e *ValueError) Error() string { return e.Message }

// PythonClass returns "ValueError".
func (*ValueError) PythonClass() string { return "ValueError" }

// TypeError is Python's TypeError: a value of a kind that its field cannot use.
type TypeError struct{ Message string }

// Error returns the message.
func (e *TypeError) Error() string { return e.Message }

// PythonClass returns "TypeError".
func (*TypeError) PythonClass() string { return "TypeError" }

// KeyTypeError refuses a key of a dict field that is not a string. It is a [TypeError] for errors.As.
type KeyTypeError struct {
	// Key is the repr() of the key and Type the Python name of its type.
	Key, Type string
}

// Error names the key and its type.
func (e *KeyTypeError) Error() string {
	return fmt.Sprintf("Key %s must be of type str not %s", e.Key, e.Type)
}

// PythonClass returns "KeyTypeError".
func (*KeyTypeError) PythonClass() string { return "KeyTypeError" }

// Unwrap makes it a TypeError.
func (e *KeyTypeError) Unwrap() error { return &TypeError{e.Error()} }

// KeyError is Python's KeyError: a missing key of a primitive, a missing argument, an unknown field name.
type KeyError struct{ Key string }

// Error returns the key quoted as Python does.
func (e *KeyError) Error() string { return pyReprString(e.Key) }

// PythonClass returns "KeyError".
func (*KeyError) PythonClass() string { return "KeyError" }

// AttributeError is Python's AttributeError: a name that an object does not have.
type AttributeError struct{ Message string }

// Error returns the message.
func (e *AttributeError) Error() string { return e.Message }

// PythonClass returns "AttributeError".
func (*AttributeError) PythonClass() string { return "AttributeError" }

// UndeclaredMethodError says that a [Dispatcher] was asked for a method that the class does not declare. It is an
// [AttributeError] for errors.As; unlike that, no body of a method gives it.
type UndeclaredMethodError struct {
	// Object is the class, Method the name asked for; Instance tells whether it was to be called on an object.
	Object, Method string
	Instance       bool
}

// Error returns Python's text.
func (e *UndeclaredMethodError) Error() string {
	what := "type object " + pyReprString(e.Object)
	if e.Instance {
		what = pyReprString(e.Object) + " object"
	}
	return what + " has no attribute " + pyReprString(e.Method)
}

// PythonClass returns "AttributeError".
func (*UndeclaredMethodError) PythonClass() string { return "AttributeError" }

// Unwrap makes it an AttributeError.
func (e *UndeclaredMethodError) Unwrap() error { return &AttributeError{e.Error()} }

// OverflowError is Python's OverflowError: infinity as an integer, an integer beyond the float range, or, here only,
// an integer that does not fit into the int64 of a Go field.
type OverflowError struct{ Message string }

// Error returns the message.
func (e *OverflowError) Error() string { return e.Message }

// PythonClass returns "OverflowError".
func (*OverflowError) PythonClass() string { return "OverflowError" }

// NotImplementedError is Python's NotImplementedError: reading an unset field of an object that cannot load it.
type NotImplementedError struct{ Message string }

// Error returns the message.
func (e *NotImplementedError) Error() string { return e.Message }

// PythonClass returns "NotImplementedError".
func (*NotImplementedError) PythonClass() string { return "NotImplementedError" }

// ReadOnlyError refuses a second value for a read-only field.
type ReadOnlyError struct{ Field string }

// Error names the field.
func (e *ReadOnlyError) Error() string { return "Cannot modify readonly field " + e.Field }

// PythonClass returns "ReadOnlyFieldError".
func (*ReadOnlyError) PythonClass() string { return "ReadOnlyFieldError" }

// UnsupportedObjectError says that a class is not registered, or that a primitive is of another project.
type UnsupportedObjectError struct {
	// Object is the class name, with "<namespace>." in front when the namespace was the reason.
	Object string
}

// Error names the class.
func (e *UnsupportedObjectError) Error() string { return "Unsupported object type " + e.Object }

// PythonClass returns "UnsupportedObjectError".
func (*UnsupportedObjectError) PythonClass() string { return "UnsupportedObjectError" }

// IncompatibleVersionError says that no registered version of a class can read the one asked for.
type IncompatibleVersionError struct {
	// Object is the class name, Got the version asked for, Supported the highest registered one.
	Object, Got, Supported string
}

// Error names the class and both versions.
func (e *IncompatibleVersionError) Error() string {
	return fmt.Sprintf("Version %s of %s is not supported, supported version is %s", e.Got, e.Object, e.Supported)
}

// PythonClass returns "IncompatibleObjectVersion".
func (*IncompatibleVersionError) PythonClass() string { return "IncompatibleObjectVersion" }

// InvalidTargetError refuses to convert an object to a version above its own.
type InvalidTargetError struct{ Version string }

// Error names the target.
func (e *InvalidTargetError) Error() string { return "Invalid target version " + e.Version }

// PythonClass returns "InvalidTargetVersion".
func (*InvalidTargetError) PythonClass() string { return "InvalidTargetVersion" }

// InvalidVersionError says that a text is no version. It is a [ValueError] for errors.As.
type InvalidVersionError struct{ Version string }

// Error quotes the text.
func (e *InvalidVersionError) Error() string { return "Invalid version: " + pyReprString(e.Version) }

// PythonClass returns "InvalidVersion".
func (*InvalidVersionError) PythonClass() string { return "InvalidVersion" }

// Unwrap makes it a ValueError.
func (e *InvalidVersionError) Unwrap() error { return &ValueError{e.Error()} }

// ActionError says that an operation on an object was refused, for example that a value cannot be expressed in an
// older version.
type ActionError struct{ Action, Reason string }

// Error names action and reason.
func (e *ActionError) Error() string {
	return fmt.Sprintf("Object action %s failed because: %s", e.Action, e.Reason)
}

// PythonClass returns "ObjectActionError".
func (*ActionError) PythonClass() string { return "ObjectActionError" }

// OrphanedObjectError refuses to call a remotable method without a context.
type OrphanedObjectError struct{ Object, Method string }

// Error names the method and the class.
func (e *OrphanedObjectError) Error() string {
	return fmt.Sprintf("Cannot call %s on orphaned %s object", e.Method, e.Object)
}

// PythonClass returns "OrphanedObjectError".
func (*OrphanedObjectError) PythonClass() string { return "OrphanedObjectError" }

// UnregisteredChildError says that a class refers to one that is not registered.
type UnregisteredChildError struct{ Child, Parent string }

// Error names both classes.
func (e *UnregisteredChildError) Error() string {
	return fmt.Sprintf("%s is referenced by %s but is not registered", e.Child, e.Parent)
}

// PythonClass returns "UnregisteredSubobject".
func (*UnregisteredChildError) PythonClass() string { return "UnregisteredSubobject" }

// EnumError refuses the value list of an enum when a class is defined.
type EnumError struct {
	// Value is the repr() of the first value that is no text, number or time; empty when there are no values at all.
	Value string
}

// Error says which of the two it was.
func (e *EnumError) Error() string {
	if e.Value == "" {
		return "Enum fields require a list of valid_values"
	}
	return "Enum valid values are not valid: " + e.Value
}

// PythonClass returns "EnumRequiresValidValuesError" or "EnumValidValuesInvalidError".
func (e *EnumError) PythonClass() string {
	if e.Value == "" {
		return "EnumRequiresValidValuesError"
	}
	return "EnumValidValuesInvalidError"
}
