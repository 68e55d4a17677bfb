package cyborg_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// The conductor runs the bodies against its store.
func ExampleLocal() {
	objects := cyborg.Local(&host{})
	devices, err := objects.DeviceList.GetByHostname(context.Background(), "compute-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range devices.All() {
		fmt.Println(d.Vendor.Value(), d.Type.Value(), d.DeviceState.Value())
	}
	// Output: 10de GPU available
}

// An agent calls the same methods through an indirection.
func ExampleRemote() {
	r, err := cyborg.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	conductor, err := cyborg.Local(&host{}).Dispatcher(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	objects, err := cyborg.Remote(r, loopback{conductor})
	if err != nil {
		fmt.Println(err)
		return
	}
	handles, err := objects.AttachHandleList.GetReferencedByHostname(context.Background(), "compute-1")
	fmt.Println(handles.Len(), err)
	// Output: 1 <nil>
}
