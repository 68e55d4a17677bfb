package ovo_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
)

// A type described as data, as an inspection tool would find it in a class definition.
func ExampleNewType() {
	typ, err := ovo.NewType(ovo.TypeSpec{Name: "List", Element: &ovo.TypeSpec{Name: "UUID"}})
	fmt.Println(typ.Name(), err)

	_, err = ovo.NewType(ovo.TypeSpec{Name: "Enum"})
	fmt.Println(err)
	// Output:
	// List <nil>
	// Enum fields require a list of valid_values
}

// The three ways of listing an enum's values differ in the fingerprint, so a port has to use the one Python uses.
func ExampleOneOf() {
	fmt.Println(ovo.OneOf("PCI", "MDEV"))
	fmt.Println(ovo.ListedOneOf("PCI", "MDEV"))
	fmt.Println(ovo.SubstringOf("PCI"))
	// Output:
	// ('PCI', 'MDEV')
	// ['PCI', 'MDEV']
	// PCI
}
