package specschema_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

func ExampleCheck() {
	_, err := pci.ParseDeviceSpec([]pci.OptionValue{{Text: `{"vendor_id": "10de", "manged": false}`}}, specschema.Check)
	fmt.Println(err)
	// Output:
	// [pci] device_spec, value 1: unknown key "manged"; allowed are address, devname, managed, physical_network, product_id, vendor_id (entry: {"vendor_id": "10de", "manged": false})
}
