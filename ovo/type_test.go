package ovo

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// pythonFields are the field classes of oslo.versionedobjects 3.12 and the wire type each one makes.
var pythonFields = map[string]TypeSpec{
	"StringField":                      {Name: "String"},
	"SensitiveStringField":             {Name: "SensitiveString"},
	"VersionPredicateField":            {Name: "VersionPredicate"},
	"EnumField":                        {Name: "Enum", Values: OneOf("a")},
	"BaseEnumField":                    {Name: "Color", Values: OneOf("a")},
	"StateMachine":                     {Name: "Enum", Values: OneOf("a"), Transitions: map[string][]string{}},
	"UUIDField":                        {Name: "UUID"},
	"MACAddressField":                  {Name: "MACAddress"},
	"PCIAddressField":                  {Name: "PCIAddress"},
	"IntegerField":                     {Name: "Integer"},
	"NonNegativeIntegerField":          {Name: "NonNegativeInteger"},
	"FloatField":                       {Name: "Float"},
	"NonNegativeFloatField":            {Name: "NonNegativeFloat"},
	"BooleanField":                     {Name: "Boolean"},
	"FlexibleBooleanField":             {Name: "FlexibleBoolean"},
	"DateTimeField":                    {Name: "DateTime"},
	"DictOfStringsField":               {Name: "Dict", Element: &TypeSpec{Name: "String"}},
	"DictOfNullableStringsField":       {Name: "Dict", Element: &TypeSpec{Name: "String"}, ElementNullable: true},
	"DictOfIntegersField":              {Name: "Dict", Element: &TypeSpec{Name: "Integer"}},
	"DictOfListOfStringsField":         {Name: "Dict", Element: listOf("String")},
	"DictOfSetOfIntegersField":         {Name: "Dict", Element: setOf("Integer")},
	"ListOfStringsField":               *listOf("String"),
	"ListOfIntegersField":              *listOf("Integer"),
	"ListOfUUIDField":                  *listOf("UUID"),
	"ListOfEnumField":                  {Name: "List", Element: &TypeSpec{Name: "Enum", Values: OneOf("a")}},
	"ListOfListsOfStringsField":        {Name: "List", Element: listOf("String")},
	"ListOfSetsOfIntegersField":        {Name: "List", Element: setOf("Integer")},
	"ListOfDictOfNullableStringsField": {Name: "List", Element: &TypeSpec{Name: "Dict", Element: &TypeSpec{Name: "String"}, ElementNullable: true}},
	"SetOfStringsField":                *setOf("String"),
	"SetOfIntegersField":               *setOf("Integer"),
	"ObjectField":                      {Name: "Object", Object: "X"},
	"ListOfObjectsField":               {Name: "List", Element: &TypeSpec{Name: "Object", Object: "X"}},
	"IPAddressField":                   {Name: "IPAddress"},
	"IPV4AddressField":                 {Name: "IPV4Address"},
	"IPV6AddressField":                 {Name: "IPV6Address"},
	"IPV4AndV6AddressField":            {Name: "IPV4AndV6Address"},
	"IPNetworkField":                   {Name: "IPNetwork"},
	"IPV4NetworkField":                 {Name: "IPV4Network"},
	"IPV6NetworkField":                 {Name: "IPV6Network"},
}

func listOf(name string) *TypeSpec { return &TypeSpec{Name: "List", Element: &TypeSpec{Name: name}} }

func setOf(name string) *TypeSpec { return &TypeSpec{Name: "Set", Element: &TypeSpec{Name: name}} }

// TestTypeComments checks that the comment of each field type names the Python type and the field classes it stands for.
func TestTypeComments(t *testing.T) {
	t.Parallel()
	comments := typeComments(t)
	for field, spec := range pythonFields {
		typ, err := NewType(spec)
		if err != nil {
			t.Errorf("%s: %v", field, err)
			continue
		}
		r := reflect.TypeOf(typ)
		if r.Kind() == reflect.Pointer {
			r = r.Elem()
		}
		comment := strings.FieldsFunc(comments[r.Name()], func(c rune) bool { return strings.ContainsRune(" \n,.:", c) })
		for _, word := range []string{field, strings.TrimPrefix(typ.Name(), "Color")} {
			if word != "" && !slices.Contains(comment, word) {
				t.Errorf("comment of %s does not name %s", r.Name(), word)
			}
		}
		if typ.Name() != spec.Name {
			t.Errorf("%s: name %s, want %s", field, typ.Name(), spec.Name)
		}
	}
}

// typeComments returns the comments of the package's types.
func typeComments(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	files := token.NewFileSet()
	names, err := fs.Glob(source(), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					comments[s.(*ast.TypeSpec).Name.Name] = g.Doc.Text()
				}
			}
		}
	}
	return comments
}

func TestNewTypeErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec  TypeSpec
		class string
	}{
		"unknown name":         {TypeSpec{Name: "Text"}, "ValueError"},
		"container of nothing": {TypeSpec{Name: "List"}, "TypeError"},
		"unknown element":      {*listOf("Text"), "ValueError"},
		"empty enum":           {TypeSpec{Name: "Enum"}, "EnumRequiresValidValuesError"},
		"enum of no values":    {TypeSpec{Name: "Enum", Values: OneOf[string]()}, "EnumRequiresValidValuesError"},
		"enum with null":       {TypeSpec{Name: "Enum", Values: Values{[]any{nil}}}, "EnumValidValuesInvalidError"},
		"enum with a list":     {TypeSpec{Name: "Enum", Values: Values{Tuple{[]any{}}}}, "EnumValidValuesInvalidError"},
	} {
		if _, err := NewType(tt.spec); pythonClass(err) != tt.class {
			t.Errorf("%s: got %v, want %s", name, err, tt.class)
		}
	}
}

// TestZones pins what is written for zones that Python would write by name, unreadably.
func TestZones(t *testing.T) {
	t.Parallel()
	clock := func(zone *time.Location) time.Time { return time.Date(2020, 1, 2, 3, 4, 5, 999_999_999, zone) }
	for name, tt := range map[string]struct {
		t    time.Time
		want string
	}{
		"utc":               {clock(time.UTC), "2020-01-02T03:04:05Z"},
		"naive":             {Naive(clock(time.FixedZone("CET", 3600))), "2020-01-02T03:04:05Z"},
		"zone with a name":  {clock(time.FixedZone("CET", 3600)), "2020-01-02T03:04:05+01:00"},
		"named after UTC":   {clock(time.FixedZone("UTC-3", -3*3600)), "2020-01-02T03:04:05-03:00"},
		"zero offset":       {clock(time.FixedZone("+00:00", 0)), "2020-01-02T03:04:05+00:00"},
		"zero, other name":  {clock(time.FixedZone("GMT", 0)), "2020-01-02T03:04:05+00:00"},
		"nameless offset":   {clock(time.FixedZone("", 5400)), "2020-01-02T03:04:05+01:30"},
		"offset of seconds": {clock(time.FixedZone("LMT", 61)), "2020-01-02T03:03:04Z"},
	} {
		if got, err := formatTime(tt.t); err != nil || got != tt.want {
			t.Errorf("%s: got %s %v, want %s", name, got, err, tt.want)
		}
	}
	for _, year := range []int{0, 10000} {
		var bad *ValueError
		if _, err := formatTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.As(err, &bad) {
			t.Errorf("year %d: got %v, want a ValueError", year, err)
		}
	}
}

func TestDigitLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", maxDigits+1)
	huge, _ := new(big.Int).SetString(long, 10)
	var bad *ValueError
	if _, err := (integerType{}).coerce(place{}, long); !errors.As(err, &bad) {
		t.Errorf("text of %d digits: got %v", len(long), err)
	}
	if _, err := (stringType{}).coerce(place{}, huge); !errors.As(err, &bad) {
		t.Errorf("integer of %d digits as text: got %v", len(long), err)
	}
	if v, err := (integerType{}).coerce(place{}, long[1:]); err != nil || v.(*big.Int).String() != long[1:] {
		t.Errorf("text of %d digits: got %v", maxDigits, err)
	}
}

// TestElementPlaces pins the names of elements in messages.
func TestElementPlaces(t *testing.T) {
	t.Parallel()
	typ, err := NewType(TypeSpec{Name: "Dict", Element: listOf("Integer")})
	if err != nil {
		t.Fatal(err)
	}
	d := &Dict{}
	if err := d.Set("key", []any{int64(1), nil}); err != nil {
		t.Fatal(err)
	}
	_, err = typ.coerce(place{field: "fld"}, d)
	if err == nil || err.Error() != "Field `fld[key][1]' cannot be None" {
		t.Errorf("got %v", err)
	}
}
