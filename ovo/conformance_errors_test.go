package ovo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errorCase runs a case of errors.json: the text of an exception, or a mistake in a definition.
func (s *vectorSpace) errorCase(c any) string {
	switch {
	case has(c, "class_definition_error"):
		return definitionErrorCase(c)
	case has(c, "field_error"):
		return fieldErrorCase(c)
	case has(c, "integer_digit_limit"):
		for _, limit := range items(at(c, "integer_digit_limit")) {
			_, err := integerType{}.coerce(place{field: "f"}, strings.Repeat("9", int(items(limit)[0].(int64))))
			if ok := items(limit)[1] == "ok"; ok != (err == nil) {
				return fmt.Sprintf("%s digits: %v", pyRepr(items(limit)[0]), err)
			}
		}
		return ""
	case has(c, "integer_to_text_limit"):
		big := parseNumber(strings.Repeat("9", maxDigits+1))
		_, err := stringType{}.coerce(place{field: "f"}, big)
		return wrongError(err, at(c, "integer_to_text_limit"))
	}
	sample := at(c, "sample_kwargs")
	err := sampleErrors(sample)[text(c, "class")]
	if err == nil {
		return unknownException(text(c, "class"))
	}
	if err.Error() != text(c, "message") {
		return fmt.Sprintf("got %q, want %q", err.Error(), text(c, "message"))
	}
	return ""
}

func sampleErrors(sample any) map[string]error {
	return map[string]error{
		"ObjectActionError":            &ActionError{text(sample, "action"), text(sample, "reason")},
		"OrphanedObjectError":          &OrphanedObjectError{Object: text(sample, "objtype"), Method: text(sample, "method")},
		"IncompatibleObjectVersion":    &IncompatibleVersionError{text(sample, "objname"), text(sample, "objver"), text(sample, "supported")},
		"ReadOnlyFieldError":           &ReadOnlyError{text(sample, "field")},
		"UnsupportedObjectError":       &UnsupportedObjectError{text(sample, "objtype")},
		"EnumRequiresValidValuesError": &EnumError{},
		"InvalidTargetVersion":         &InvalidTargetError{text(sample, "version")},
		"UnregisteredSubobject":        &UnregisteredChildError{text(sample, "child_objname"), text(sample, "parent_objname")},
	}
}

// unknownException accepts the exceptions of mistakes that a Go program cannot make: there is no error type for them.
func unknownException(class string) string {
	if slices.Contains([]string{"VersionedObjectsException", "ObjectFieldInvalid", "EnumFieldInvalid", "EnumFieldUnset", "EnumValidValuesInvalidError", "TargetBeforeSubobjectExistedException"}, class) {
		return ""
	}
	return "no error type for " + class
}

// definitionErrorCase makes the nearest mistake that a Go definition can hold.
func definitionErrorCase(c any) string {
	element := TypeSpec{Name: "String"}
	specs := map[string]TypeSpec{
		"EnumRequiresValidValuesError": {Name: "Enum", Values: OneOf[string]()},
		"EnumValidValuesInvalidError":  {Name: "Enum", Values: Values{Tuple{nil}}},
		"AttributeError":               {Name: "Enum"},
		"EnumFieldUnset":               {Name: "Enum"},
		"EnumFieldInvalid":             {Name: "BadType"},
		"TypeError":                    {Name: "List"},
		"ObjectFieldInvalid":           {Name: "", Element: &element},
	}
	class := text(c, "error", "class")
	var err error
	if spec, ok := specs[class]; ok {
		_, err = NewRegistry(cyborgSpace(), Definition{Name: "Bad", Version: "1.0", Fields: []FieldDefinition{{Name: "x", Type: spec}}}.Class())
	} else {
		_, err = NewRegistry(cyborgSpace(), Definition{Name: "Bad", Version: "x"}.Class())
	}
	if err == nil {
		return "the definition was accepted"
	}
	return ""
}

func fieldErrorCase(c any) string {
	d, err := dictOf(int64(5), "x")
	if err != nil {
		return err.Error()
	}
	typ := &dictType{fieldRule{typ: stringType{}}}
	_, err = typ.coerce(place{field: "f"}, d)
	if text(c, "field_error") == "KeyTypeError" {
		return wrongError(err, at(c, "error"))
	}
	// ElementTypeError is never raised by the library's own fields.
	if _, ok := errors.AsType[*TypeError](err); !ok {
		return fmt.Sprintf("want a TypeError, got %v", err)
	}
	return ""
}
