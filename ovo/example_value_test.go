package ovo_test

import (
	"fmt"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

// A set compares its elements as Python does: 1, 1.0 and True are one element.
func ExampleNewSet() {
	s, err := ovo.NewSet("a", int64(1), 1.0, true)
	fmt.Println(s.Len(), s.Has(1.0), err)

	_, err = ovo.NewSet([]any{"a"})
	fmt.Println(err)
	// Output:
	// 2 true <nil>
	// unhashable type: 'list'
}

func ExampleDict() {
	var d ovo.Dict
	for _, key := range []string{"product_id", "class"} {
		if err := d.Set(key, "0953"); err != nil {
			fmt.Println(err)
		}
	}
	for k, v := range d.All() {
		fmt.Println(k, v)
	}
	// Output:
	// product_id 0953
	// class 0953
}

// Databases that store UTC without saying so hand out naive times.
func ExampleNaive() {
	t := time.Date(2026, 4, 1, 12, 0, 0, 0, time.FixedZone("CEST", 2*3600))
	fmt.Println(ovo.Naive(t).Format("15:04"), t.UTC().Format("15:04"))
	// Output: 12:00 10:00
}
