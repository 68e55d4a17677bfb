package ovo

import (
	"math"
	"math/big"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// asIs is embedded by types that are written and read without conversion; what was read is checked when assigned.
type asIs struct{}

func (asIs) toPrimitive(_ place, v any) (any, error)   { return v, nil }
func (asIs) fromPrimitive(_ place, v any) (any, error) { return v, nil }

// plainText is embedded by types whose text form is Python's str().
type plainText struct{}

func (plainText) stringify(_ place, v any) (string, error) { return pyStr(v), nil }

// quotedText is embedded by types whose text form is the value in quotes, with nothing escaped.
type quotedText struct{}

func (quotedText) stringify(_ place, v any) (string, error) { return "'" + pyStr(v) + "'", nil }

// rawType takes any value and leaves it as it is; Python has no field class for it.
type rawType struct {
	asIs
	plainText
}

func (rawType) Name() string { return "FieldType" }

func (rawType) coerce(_ place, v any) (any, error) { return v, nil }

// stringType is String, the type of StringField. It takes text, numbers and times, as Python's str() of them; anything
// else is a *ValueError.
type stringType struct {
	asIs
	quotedText
}

func (stringType) Name() string { return "String" }

func (stringType) coerce(at place, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int64, float64, time.Time:
		return pyStr(v), nil
	case *big.Int:
		return digits(v)
	}
	return nil, &ValueError{"A string is required in field " + at.String() + ", not a " + at.typeName(v)}
}

// maxDigits is Python's limit for conversions between text and int.
const maxDigits = 4300

// digits is str() of a big integer.
func digits(i *big.Int) (string, error) {
	s := i.String()
	if len(strings.TrimPrefix(s, "-")) > maxDigits {
		return "", &ValueError{"Exceeds the limit (4300 digits) for integer string conversion"}
	}
	return s, nil
}

// uuidType is UUID, the type of UUIDField. It takes anything, as Python's str() of it, and neither checks nor
// normalises: "identifiers" that are no UUIDs travel through Python peers too.
type uuidType struct {
	asIs
	plainText
}

func (uuidType) Name() string { return "UUID" }

func (uuidType) coerce(at place, v any) (any, error) {
	switch v := v.(type) {
	case *big.Int:
		return digits(v)
	case Object:
		return at.text(v), nil
	}
	return pyStr(v), nil
}

// macAddressType is MACAddress, the type of MACAddressField: six groups of two hexadecimal digits, in lower case and
// with colons; hyphens become colons.
type macAddressType struct {
	asIs
	plainText
}

func (macAddressType) Name() string { return "MACAddress" }

// Python's $ lets one line break at the end pass, in both address types.
var (
	macAddress = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}\n?$`)
	pciAddress = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f].[0-7]\n?$`)
)

func (macAddressType) coerce(at place, v any) (any, error) {
	if s, ok := v.(string); ok {
		if s = strings.ReplaceAll(strings.ToLower(s), "-", ":"); macAddress.MatchString(s) {
			return s, nil
		}
	}
	return nil, &ValueError{"Malformed MAC " + at.text(v)}
}

// pciAddressType is PCIAddress, the type of PCIAddressField: domain:bus:device.function in lower case, the domain with
// four digits. As in Python any character may stand before the function.
type pciAddressType struct {
	asIs
	plainText
}

func (pciAddressType) Name() string { return "PCIAddress" }

func (pciAddressType) coerce(at place, v any) (any, error) {
	if s, ok := v.(string); ok {
		if s = strings.ToLower(s); pciAddress.MatchString(s) {
			return s, nil
		}
	}
	return nil, &ValueError{"Malformed PCI address " + at.text(v)}
}

// integerType is Integer, the type of IntegerField: Python's int() of numbers and text. Floats lose their fraction;
// there is no limit of size.
type integerType struct {
	asIs
	plainText
}

func (integerType) Name() string { return "Integer" }

func (integerType) coerce(_ place, v any) (any, error) {
	switch v := v.(type) {
	case int64, *big.Int:
		return v, nil
	case bool:
		return intOf(v), nil
	case float64:
		return truncate(v)
	case string:
		return parseInt(v)
	case netip.Addr:
		return addrInt(v), nil
	}
	return nil, &TypeError{"int() argument must be a string, a bytes-like object or a real number, not '" + pyQualifiedName(v) + "'"}
}

func intOf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func truncate(f float64) (any, error) {
	switch {
	case math.IsNaN(f):
		return nil, &ValueError{"cannot convert float NaN to integer"}
	case math.IsInf(f, 0):
		return nil, &OverflowError{"cannot convert float infinity to integer"}
	}
	i, _ := big.NewFloat(f).Int(nil)
	return normInt(i), nil
}

// nonNegativeIntegerType is NonNegativeInteger, the type of NonNegativeIntegerField: Integer, not below zero.
type nonNegativeIntegerType struct{ integerType }

func (nonNegativeIntegerType) Name() string { return "NonNegativeInteger" }

func (t nonNegativeIntegerType) coerce(at place, v any) (any, error) {
	i, err := t.integerType.coerce(at, v)
	if err != nil {
		return nil, err
	}
	n, small := i.(int64)
	if b, ok := i.(*big.Int); small && n < 0 || ok && b.Sign() < 0 {
		return nil, negative(at)
	}
	return i, nil
}

func negative(at place) error {
	return &ValueError{"Value must be >= 0 for field " + at.String()}
}

// floatType is Float, the type of FloatField: Python's float() of numbers and text, NaN and infinities included.
type floatType struct {
	asIs
	plainText
}

func (floatType) Name() string { return "Float" }

func (floatType) coerce(_ place, v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case *big.Int:
		return bigFloat(v)
	case bool:
		return float64(intOf(v)), nil
	case string:
		return parseFloat(v)
	case netip.Addr:
		if i, ok := addrInt(v).(*big.Int); ok {
			return bigFloat(i)
		}
		return float64(addrInt(v).(int64)), nil
	}
	return nil, &TypeError{"float() argument must be a string or a real number, not '" + pyQualifiedName(v) + "'"}
}

func bigFloat(i *big.Int) (any, error) {
	f, _ := new(big.Float).SetInt(i).Float64()
	if math.IsInf(f, 0) {
		return nil, &OverflowError{"int too large to convert to float"}
	}
	return f, nil
}

// nonNegativeFloatType is NonNegativeFloat, the type of NonNegativeFloatField: Float, not below zero; -0.0 and NaN pass.
type nonNegativeFloatType struct{ floatType }

func (nonNegativeFloatType) Name() string { return "NonNegativeFloat" }

func (t nonNegativeFloatType) coerce(at place, v any) (any, error) {
	f, err := t.floatType.coerce(at, v)
	if err == nil && f.(float64) < 0 {
		return nil, negative(at)
	}
	return f, err
}

// booleanType is Boolean, the type of BooleanField: Python's truth of any value, so that "false" is true.
type booleanType struct {
	asIs
	plainText
}

func (booleanType) Name() string { return "Boolean" }

func (booleanType) coerce(at place, v any) (any, error) { return at.truth(v), nil }

// flexibleBooleanType is FlexibleBoolean, the type of FlexibleBooleanField: 1, t, true, on, y and yes in any case are
// true, everything else is false.
type flexibleBooleanType struct{ booleanType }

func (flexibleBooleanType) Name() string { return "FlexibleBoolean" }

func (flexibleBooleanType) coerce(at place, v any) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	switch strings.ToLower(trimSpace(at.text(v))) {
	case "1", "t", "true", "on", "y", "yes":
		return true, nil
	}
	return false, nil
}
