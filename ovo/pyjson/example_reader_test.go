package pyjson_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

func ExampleNewReader() {
	r := pyjson.NewReader([]byte(`{"load": NaN, "serial": 1180591620717411303424}`))
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		key, err := r.ReadKey()
		if err != nil {
			fmt.Println(err)
			return
		}
		text, integer, err := r.ReadNumber()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(key, string(text), integer)
	}
	fmt.Println(err, r.End())
	// Output:
	// load NaN false
	// serial 1180591620717411303424 true
	// <nil> <nil>
}

func ExampleAppendString() {
	text, err := pyjson.AppendString(nil, "naïve <tag>")
	fmt.Println(string(text), err)
	// Output: "na\u00efve <tag>" <nil>
}
