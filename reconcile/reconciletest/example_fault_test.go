package reconciletest_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// The process dies at the third write of a first report.
func ExampleFault() {
	ctx := context.Background()
	db, service := &reconciletest.Store{}, &reconciletest.Placement{}
	_, _ = service.CreateProvider("", "compute-1", "")
	card := reconcile.Device{
		Type: "GPU", ControlPath: reconcile.ControlPath{Type: "PCI", Info: `{"bus": "25"}`},
		Deployables: []reconcile.Deployable{{
			Name: "compute-1_card", NumAccelerators: 1, Attributes: []reconcile.Attribute{{Key: "rc", Value: "FPGA"}},
		}},
	}
	fault := &reconciletest.Fault{At: 2, Crash: true}
	db.Fault, service.Fault = fault.Next, fault.Next
	_, _ = (&reconcile.Runner{Store: db, Placement: service}).Run(ctx, "compute-1", []reconcile.Device{card})
	fmt.Println(fault.Ops())

	db.Fault, service.Fault = nil, nil
	_, _ = (&reconcile.Runner{Store: db, Placement: service}).Run(ctx, "compute-1", []reconcile.Device{card})
	inv, _ := db.Inventory(ctx, "compute-1")
	fmt.Println(inv.Devices[0].Deployables[0].Offer == reconcile.ProviderUUID("compute-1_card"))
	// Output:
	// [Insert CreateProvider PutInventories]
	// true
}
