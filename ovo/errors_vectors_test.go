package ovo

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// runErrors runs the cases of errors.json: classes and texts of errors, and what definitions raise. Classes that the
// compiler or NewRegistry make impossible have no Go error; their cases are skipped.
func runErrors(t *testing.T) tally {
	t.Helper()
	var count tally
	for i, c := range vecItems(vecAt(loadVectors(t, "errors.json"), "cases")) {
		name := fmt.Sprintf("errors.json case %d", i)
		want, err := recordedError(c)
		switch {
		case want == nil:
			count.skipped++
		case vecText(c, "class") != "" && !strings.HasPrefix(err.Error(), vecText(want, "message")):
			count.record(t, name, fmt.Sprintf("want %q, got %q", vecText(want, "message"), err))
		default:
			count.record(t, name, wrongError(err, want))
		}
	}
	return count
}

// recordedError returns the error we have for a case and what was recorded for it; nil if we have none.
func recordedError(c any) (want any, err error) {
	if class := vecText(c, "class"); class != "" {
		if err = sampleError(class, vecAt(c, "sample_kwargs")); err == nil {
			return nil, nil
		}
		return c, err
	}
	switch vecText(c, "class_definition_error") {
	case "empty enum":
		_, err = NewType(TypeSpec{Name: "Enum", Values: OneOf[string]()})
	case "enum with a None value":
		_, err = NewType(TypeSpec{Name: "Enum", Values: Values{Tuple{nil}}})
	case "enum with a list value":
		_, err = NewType(TypeSpec{Name: "Enum", Values: Values{Tuple{[]any{}}}})
	case "container given a class instead of an instance":
		_, err = NewType(TypeSpec{Name: "List"})
	case "registering a version that is not numeric":
		_, err = NewRegistry(Namespace{}, Definition{Name: "X", Version: "1.x"}.Class())
	}
	if vecText(c, "field_error") == "KeyTypeError" {
		d := &Dict{}
		if err = d.Set(int64(5), ""); err == nil {
			_, err = (&dictType{fieldRule{typ: stringType{}}}).coerce(place{}, d)
		}
	}
	if limit := vecAt(c, "integer_digit_limit"); limit != nil {
		refused := vecItems(vecItems(limit)[1])
		_, err = integerType{}.coerce(place{}, strings.Repeat("9", int(refused[0].(int64))))
		return refused[1], err
	}
	if limit := vecAt(c, "integer_to_text_limit"); limit != nil {
		i := new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil)
		_, err = stringType{}.coerce(place{}, i)
		return limit, err
	}
	if err == nil {
		return nil, nil
	}
	return vecAt(c, "error"), err
}

// sampleError builds the error of a class from the arguments that its Python constructor was given.
func sampleError(class string, kw any) error {
	arg := func(name string) string { return vecText(kw, name) }
	switch class {
	case "IncompatibleObjectVersion":
		return &IncompatibleVersionError{Object: arg("objname"), Got: arg("objver"), Supported: arg("supported")}
	case "InvalidTargetVersion":
		return &InvalidTargetError{Version: arg("version")}
	case "ObjectActionError":
		return &ActionError{Action: arg("action"), Reason: arg("reason")}
	case "OrphanedObjectError":
		return &OrphanedObjectError{Object: arg("objtype"), Method: arg("method")}
	case "ReadOnlyFieldError":
		return &ReadOnlyError{Field: arg("field")}
	case "UnregisteredSubobject":
		return &UnregisteredChildError{Child: arg("child_objname"), Parent: arg("parent_objname")}
	case "UnsupportedObjectError":
		return &UnsupportedObjectError{Object: arg("objtype")}
	case "EnumRequiresValidValuesError":
		return &EnumError{}
	case "EnumValidValuesInvalidError":
		return &EnumError{Value: "None"} // our text goes on to name the value
	}
	return nil
}

func TestErrorVectors(t *testing.T) {
	t.Parallel()
	count := runErrors(t)
	t.Logf("%+v", count)
}
