package pci_test

import (
	"context"
	"fmt"

	pcidriver "github.com/go-cyborg/cyborg/daemons/internal/drivers/pci"
	"github.com/go-cyborg/cyborg/pci"
)

// oneCard is a host with a single accelerator.
type oneCard struct{}

func (oneCard) Scan() ([]pci.Device, []pci.Warning, error) {
	return []pci.Device{{
		Address: pci.Address{Bus: 0x25, Function: 4}, VendorID: "10de", ProductID: "25b6", Class: pci.NewClass(0x030200),
	}}, nil, nil
}

func ExampleNew() {
	d, err := pcidriver.New(pcidriver.Config{
		DeviceSpec: []pci.OptionValue{{Text: `{"vendor_id": "10de", "managed": false}`}},
		Host:       "compute-1", Scanner: oneCard{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	devices, err := d.Discover(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	deployable := devices[0].DeployableList.Value()[0]
	fmt.Println(deployable.Name.Value())
	fmt.Println(deployable.AttachHandleList.Value()[0].AttachInfo.Value())
	// Output:
	// compute-1_0000:25:00.4
	// {"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}
}
