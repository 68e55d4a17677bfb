package cyborg_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

func ExampleNewRegistry() {
	r, err := cyborg.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := &cyborg.AttachHandle{AttachType: ovo.Of(cyborg.AttachPCI), InUse: ovo.Of(false)}
	raw, err := r.Append(nil, handle)
	fmt.Println(string(raw), err)
	// Output: {"cyborg_object.name": "AttachHandle", "cyborg_object.namespace": "cyborg", "cyborg_object.version": "1.1", "cyborg_object.data": {"attach_type": "PCI", "in_use": false}, "cyborg_object.changes": ["attach_type", "in_use"]} <nil>
}

func ExampleNewRelease17() {
	r, err := cyborg.NewRelease17()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(r.Names()), r.Highest("ARQ").Version())
	// Output: 14 1.1
}
